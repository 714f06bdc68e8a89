// SPDX-License-Identifier: GPL-2.0-or-later
//! Sweeps the running kernel, in nanoseconds. BPF programs delay only the agent's processes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kernels::Store;
use kernels::hooks::{HookList, bpf_attach_ids};
use lab::plan::{Plan, Treatment};
use lab::session::{Break, Patience};
use lab::sweep::{Delayed, Point, Sweep, SweptHook};
use lab::{LabError, Outcome, Setup, host};
use model::{
    Caches, DelayModule, Document, Event, Experiment, Failure, Key, SweepFindings, Unit, Warning,
    WarningKind,
};

use crate::cell::{Found, slopes_of};
use crate::delays::Delays;
use crate::error::no_module;
use crate::hooks::check_known;
use crate::points::CellPoints;
use crate::rules::rules;
use crate::sweep::blank;

const BTF: &str = "/sys/kernel/btf/vmlinux";
/// Kernels need far less: the BTF of 6.12 has 6 MiB.
const BTF_LIMIT_BYTES: u64 = 64 << 20;
const HERE: &str = "host";
/// Hooks with their own lines in addition to the one for all.
const PARTS_LIMIT: usize = 8;
/// The agent's `SAMPLES_MAX`.
const SAMPLES_LIMIT: usize = 16_384;
const PATIENCE: Patience = Patience {
    boot: Duration::from_secs(30),
    cell: Duration::from_secs(30),
};

#[derive(Debug)]
pub struct LiveRequest<'a> {
    /// An experiment for the host, with the metric time.
    pub experiment: &'a Experiment,
    pub delays: &'a Delays,
    /// If empty, all hooks that a program can delay.
    pub hooks: &'a [String],
    pub turns: u32,
    pub store: &'a Store,
}

fn none(why: impl ToString) -> LabError {
    no_module(HERE, DelayModule::Bpf, &why.to_string())
}

/// Hook → BTF id of its function.
pub fn delayable() -> Result<BTreeMap<String, u32>, LabError> {
    let mut btf = Vec::new();
    let read =
        fs::File::open(BTF).and_then(|file| file.take(BTF_LIMIT_BYTES).read_to_end(&mut btf));
    read.map_err(|error| none(format!("{BTF}: {error}; is CONFIG_DEBUG_INFO_BTF=y set?")))?;
    let known = HookList::from_btf(&btf).map_err(none)?;
    let mut ids = bpf_attach_ids(&btf).map_err(none)?;
    ids.retain(|hook, _| known.contains(hook));
    if ids.is_empty() {
        return Err(none("it was built without CONFIG_BPF_LSM"));
    }
    Ok(ids)
}

/// Attaches a program to one hook for a moment, limited to the agent.
pub fn try_here(dir: &Path) -> Result<(), LabError> {
    let hooks = delayable()?;
    let Some((hook, &id)) = hooks.get_key_value("inode_permission") else {
        return Err(none("its BTF has no bpf_lsm_inode_permission()"));
    };
    let directives = format!(
        "delays bpf listed time\nhook {hook} {id}\ndir {}\n\
         cell 0 getppid null time warmup=1 samples=1\n",
        dir.display()
    );
    let never = AtomicBool::new(false);
    let agent = lab::catalogue::agent();
    match host::measure(agent, &directives, &[0], PATIENCE, &never, &mut |_| Ok(())) {
        Ok(_) | Err(Break::Cancelled) => Ok(()),
        Err(Break::Killed(why) | Break::Failed(why) | Break::Unequal(why)) => {
            let why = reason(&why);
            Err(Failure::environment(
                format!("hooks cannot be delayed on this machine: {why}"),
                "sweep a kernel in the lab, without --on host; `lsmeter doctor` checks this machine",
            )
            .into())
        }
    }
}

/// The agent's message without added context.
fn reason(why: &str) -> String {
    let line = why.lines().next().unwrap_or(why);
    let message = line.split_once("delays by BPF programs: ");
    message.map_or(line, |(_, message)| message).to_owned()
}

/// None if it was cancelled.
pub fn sweep_here(
    request: &LiveRequest<'_>,
    cancel: &AtomicBool,
    follow: &mut dyn FnMut(Event<'_>),
) -> Result<Option<Document>, LabError> {
    let hooks = delayed_hooks(request)?;
    let mut planned = points(request, &hooks);
    let turns = request.turns as usize;
    if planned.points.len().saturating_mul(turns) > SAMPLES_LIMIT {
        let points = planned.points.len();
        let what = format!(
            "{points} delays, {turns} times each, exceed the limit of {SAMPLES_LIMIT} samples"
        );
        return Err(Failure::usage(what, "lower --samples").into());
    }
    // The order is random, because on a machine that warms up, later delays would look longer.
    planned.shuffle();
    // Fail early instead of minutes later in every measurement.
    if let Some(dir) = request.experiment.dir.as_deref().map(Path::new) {
        host::check_directory(dir)?;
        try_here(dir)?;
    }
    let plan = Plan::new(request.experiment).map_err(LabError::from)?;
    let keys = plan.cells.iter().map(|cell| cell.key.clone());
    let sweep = Sweep {
        module: DelayModule::Bpf,
        everything: false,
        hooks,
        points: keys
            .map(|key| (key, planned.points.clone()))
            .collect::<BTreeMap<Key, Vec<Point>>>(),
        counted: false,
        repetitions: request.turns,
    };
    follow(Event::Stage {
        kernel: HERE,
        what: "sweeping delays",
    });
    let setup = Setup {
        treatment: Treatment {
            sweep: Some(&sweep),
            ..Treatment::default()
        },
        ..Setup::new(request.store)
    };
    let outcome = lab::run(request.experiment, &setup, cancel, follow)?;
    if outcome.cancelled {
        return Ok(None);
    }
    Ok(Some(slopes(request, planned, outcome)))
}

/// Checks that the running kernel can delay each hook.
fn delayed_hooks(request: &LiveRequest<'_>) -> Result<Vec<SweptHook>, LabError> {
    let ids = delayable()?;
    check_known(request.hooks, HERE, &ids)?;
    Ok(ids
        .into_iter()
        .filter(|(hook, _)| request.hooks.is_empty() || request.hooks.contains(hook))
        .map(|(name, btf_id)| SweptHook { name, btf_id })
        .collect())
}

fn slopes(request: &LiveRequest<'_>, planned: CellPoints, outcome: Outcome) -> Document {
    let mut document = blank(&outcome.run);
    let undelayed = outcome.undelayed(HERE);
    let planned = Ok(planned);
    // Index of each cell's slope over all hooks.
    let mut wholes = Vec::new();
    for cell in &outcome.run.cells {
        wholes.push(document.cells.len() as u32);
        let found = Found {
            module: DelayModule::Bpf,
            planned: Some(&planned),
            figures: outcome.operations(&cell.key),
            profile: None,
            undelayed: &undelayed,
            wanted: request.hooks,
            caches: Caches::Warm,
            unit: Unit::Ns,
        };
        document.cells.extend(slopes_of(cell, &found));
    }
    document.sweep = Some(SweepFindings {
        rules: rules(&document),
        ..SweepFindings::default()
    });
    document.warnings = outcome.run.warnings;
    for cell in document.warnings.iter_mut().flat_map(|w| &mut w.cells) {
        *cell = wholes.get(*cell as usize).copied().unwrap_or_default();
    }
    if !undelayed.is_empty() {
        let (count, names) = (undelayed.len(), Vec::from_iter(undelayed).join(", "));
        let message = format!("{count} hooks accept no BPF program on this machine: {names}");
        let warning = Warning::new(WarningKind::UndelayedHooks, message);
        document.warnings.push(warning);
    }
    document
}

fn points(request: &LiveRequest<'_>, hooks: &[SweptHook]) -> CellPoints {
    let together = request.delays.ns().iter().map(|&delay_ns| Point {
        delayed: Delayed::All,
        delay_ns,
    });
    let apart = (2..=PARTS_LIMIT).contains(&request.hooks.len());
    let parts = hooks.iter().filter(|_| apart).flat_map(|hook| {
        let delays = request.delays.ns().iter().filter(|&&ns| ns > 0);
        delays.map(|&delay_ns| Point {
            delayed: Delayed::Hook(hook.name.clone()),
            delay_ns,
        })
    });
    CellPoints {
        points: together.chain(parts).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_refuses_is_reported_in_the_agents_words() {
        let why = "the agent gave up: delays by BPF programs: the kernel refuses a map: EPERM \
                   (1): it wants CAP_BPF\nagent: bpf: the verifier: no";
        assert_eq!(
            reason(why),
            "the kernel refuses a map: EPERM (1): it wants CAP_BPF"
        );
        assert_eq!(reason("the agent ended"), "the agent ended");
    }
}
