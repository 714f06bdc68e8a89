// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts one kernel after another in the same way: for `bisect`.

use std::sync::atomic::Ordering;

use anyhow::Result;
use compare::bisect::{Measured, Outside, outside_key};
use lab::prepare::Hooks;
use lab::{LabError, Outcome, Setup};
use model::{Experiment, Metric, Place, Spec};

use crate::cli::{CellArgs, LabArgs};
use crate::commands::measure::{Machines, Signals, check_selection, flags, read_spec};
use crate::commands::{given, kernel};
use crate::config::Config;
use crate::failure::usage;
use crate::progress::Line;

/// Whether an indirect branch uses a thunk depends on its position in a cache line, which any
/// earlier patched code changes.
const STEADY: &str = "indirect_target_selection=off";

pub struct Counter<'a> {
    lab: &'a LabArgs,
    config: &'a Config,
    signals: &'a Signals,
    experiment: Experiment,
    /// True until hook names are missing from a kernel.
    hooks: bool,
}

pub fn experiment(spec: &str, cells: &CellArgs, lab: &LabArgs, name: &str) -> Result<Experiment> {
    refuse_kernels(cells)?;
    let (_, spec) = read_spec(spec)?;
    let mut spec = spec.merge(Spec {
        place: Some(Place::Lab),
        metrics: Some(vec![Metric::Instructions]),
        ..flags(cells, lab)?
    });
    spec = spec.merge(given::flags(cells)?);
    spec.arch = None;
    spec.kernels = Some(vec![name.to_owned()]);
    if spec.cmdline.is_none() {
        spec.cmdline = Some(STEADY.to_owned());
    }
    let mut experiment = kernel::expand(spec)?.resolve()?;
    lab::policy::take_in(&mut experiment)?;
    check_selection(&experiment)?;
    Ok(experiment)
}

fn refuse_kernels(cells: &CellArgs) -> Result<()> {
    match cells.selection.kernels.first() {
        None => Ok(()),
        Some(kernel) => Err(usage(
            format!("--kernel {kernel} cannot be used: the kernel is built from the tree"),
            "leave out --kernel",
        )),
    }
}

impl<'a> Counter<'a> {
    pub fn new(
        experiment: Experiment,
        lab: &'a LabArgs,
        config: &'a Config,
        signals: &'a Signals,
    ) -> Counter<'a> {
        Counter {
            lab,
            config,
            signals,
            experiment,
            hooks: true,
        }
    }

    pub fn count(&mut self, line: &mut Line) -> Result<Option<Measured>> {
        let machines = Machines::find(self.lab, self.config, &self.experiment, line)?;
        if self.cancelled() {
            return Ok(None);
        }
        let outcome = match self.run(&machines, line) {
            Err(LabError::NoHooks(why)) if self.hooks => {
                line.keep(&format!("warning: counts are not split by hook: {why}"));
                self.hooks = false;
                self.run(&machines, line)
            }
            outcome => outcome,
        };
        let outcome = outcome?;
        Ok((!outcome.cancelled).then(|| Measured {
            outside: outside(&outcome),
            document: outcome.run,
        }))
    }

    fn run(&self, machines: &Machines, line: &mut Line) -> Result<Outcome, LabError> {
        let setup = Setup {
            kernels: &machines.kernels,
            qemu: Some(&machines.qemu),
            others: &machines.others,
            hooks: self.hooks.then(Hooks::default),
            ..Setup::new(&machines.store)
        };
        lab::run(
            &self.experiment,
            &setup,
            &self.signals.cancel,
            &mut |event| {
                line.follow(event);
            },
        )
    }

    pub fn cancelled(&self) -> bool {
        is_cancelled(self.signals)
    }
}

pub fn is_cancelled(signals: &Signals) -> bool {
    signals.cancel.load(Ordering::Relaxed)
}

fn outside(outcome: &Outcome) -> Outside {
    let cells = outcome.run.cells.iter();
    let outside = cells.filter_map(|cell| {
        let path = outcome.profile(&cell.key)?.dominant();
        let key = outside_key(&cell.configuration_title(), &cell.title());
        Some((key, path.outside.clone()))
    });
    outside.collect()
}
