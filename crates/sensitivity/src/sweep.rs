// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use counts::profile::CellProfile;
use kernels::{Kernel, Store};
use lab::cache::Reuse;
use lab::plan::Treatment;
use lab::prepare::Hooks;
use lab::qemu::Qemu;
use lab::sweep::Sweep;
use lab::{LabError, Outcome, Setup};
use model::{
    Caches, Configuration, DelayModule, Document, Event, Experiment, Kind, Stack, SweepFindings,
    Unit, Warning, WarningKind,
};

use crate::advice::repeated;
use crate::cell::{Found, doubts, slopes_of};
use crate::delays::Delays;
use crate::hooks::DelayPoints;
use crate::predict;
use crate::rules::rules;

#[derive(Debug)]
pub struct Request<'a> {
    /// Kernels and benchmarks, with the metric instructions. Its configurations are ignored.
    pub experiment: &'a Experiment,
    /// The delaying module is added to the end unless it is in the stack.
    pub stack: &'a Stack,
    /// None means the Tunable Security Module if the kernel has it, and otherwise BPF.
    pub module: Option<DelayModule>,
    pub delays: &'a Delays,
    /// If empty, all hooks.
    pub hooks: &'a [String],
    pub caches: &'a [Caches],
    pub store: &'a Store,
    /// In the experiment's order.
    pub kernels: &'a [Kernel],
    pub qemu: &'a Qemu,
    pub predict: &'a Predict,
    pub reuse: Reuse,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Predict {
    Nothing,
    Decision(f64),
    /// Modules that are also measured, added to the stack.
    Modules(Vec<String>),
}

/// None if it was cancelled before the first kernel was finished; afterwards the partial result
/// with a warning. `follow` is called in this thread only.
pub fn sweep(
    request: &Request<'_>,
    cancel: &AtomicBool,
    follow: &mut dyn FnMut(Event<'_>),
) -> Result<Option<Document>, LabError> {
    // Check this before the first boot, which can take minutes.
    let kernels = request.kernels.iter().zip(&request.experiment.kernels);
    let kernels = kernels
        .map(|(kernel, name)| Ok((kernel, name, DelayPoints::find(request, kernel)?)))
        .collect::<Result<Vec<_>, LabError>>()?;
    let mut document: Option<Document> = None;
    let mut findings = SweepFindings::default();
    let mut all = true;
    for (kernel, name, points_of) in &kernels {
        // The module is at the end, so that the delay follows all other decisions.
        let stack = with_name(request.stack, points_of.module.as_str());
        let experiment = Experiment {
            kernels: vec![(*name).clone()],
            configurations: vec![Configuration::of_stack(stack)],
            baseline: 0,
            baseline_kernel: None,
            ..request.experiment.clone()
        };
        let run = Run {
            request,
            experiment: &experiment,
            kernel,
            caches: Caches::Warm,
            cancel,
        };
        all = sweep_kernel(&run, points_of, &mut document, &mut findings, follow)?;
        if !all {
            break;
        }
    }
    Ok(document.map(|mut document| {
        findings.rules = rules(&document);
        if let Predict::Decision(decision) = request.predict {
            findings.predictions = predict::of_time(*decision, &document);
        }
        document.sweep = Some(findings);
        if !all {
            let message = "some kernels, cache states or predictions are missing";
            let warning = Warning::new(WarningKind::Interrupted, message);
            document.warnings.push(warning);
        }
        document
    }))
}

/// False if it was cancelled.
fn sweep_kernel(
    run: &Run<'_>,
    points_of: &DelayPoints,
    document: &mut Option<Document>,
    findings: &mut SweepFindings,
    follow: &mut dyn FnMut(Event<'_>),
) -> Result<bool, LabError> {
    let request = run.request;
    let kernel = run.experiment.kernels[0].as_str();
    for &caches in request.caches {
        let run = Run { caches, ..*run };
        follow(Event::Stage {
            kernel,
            what: "counting hooks",
        });
        let counted = run.count(Some(points_of.module), follow)?;
        if counted.cancelled {
            return Ok(false);
        }
        let (sweep, swept) = points_of.plan(request.delays, &counted);
        follow(Event::Stage {
            kernel,
            what: "sweeping delays",
        });
        let outcome = run.lab(Some(&sweep), None, follow)?;
        if outcome.cancelled {
            return Ok(false);
        }
        let document = document.get_or_insert_with(|| blank(&counted.run));
        extend(document, &outcome.run);
        if caches == request.caches[0] {
            document.setups.extend(outcome.run.setups.iter().cloned());
        }
        let from = document.cells.len();
        let undelayed = outcome.undelayed(kernel);
        for cell in &outcome.run.cells {
            let key = &cell.key;
            let profile = counted.profile(key);
            let found = Found {
                module: points_of.module,
                planned: swept.get(key),
                figures: outcome.operations(key),
                profile,
                undelayed: &undelayed,
                wanted: request.hooks,
                caches,
                unit: Unit::Instructions,
            };
            document.cells.extend(slopes_of(cell, &found));
            let trace = outcome.traces.get(key);
            let questions = trace.map_or(&[][..], |trace| &trace.questions);
            if caches == Caches::Warm && !questions.is_empty() {
                let path = profile.map(CellProfile::dominant);
                findings.repeated.extend(repeated(key, questions, path));
            }
        }
        let warnings = doubts(&document.cells, from);
        document.warnings.extend(warnings);
    }
    if let (Predict::Modules(modules), Some(document)) = (request.predict, document) {
        follow(Event::Stage {
            kernel,
            what: "profiling modules",
        });
        for lsm in modules {
            let Some(profiles) = run.profile(lsm, follow)? else {
                return Ok(false);
            };
            let predictions = predict::of_module(lsm, &profiles, document);
            findings.predictions.extend(predictions);
        }
    }
    Ok(true)
}

fn with_name(stack: &Stack, name: &str) -> Stack {
    let mut names = stack.names();
    if !names.iter().any(|other| other == name) {
        names.push(name.to_owned());
    }
    names.join(",").parse().unwrap_or_else(|_| stack.clone())
}

/// `run` is the first; there are no slopes yet.
pub(crate) fn blank(run: &Document) -> Document {
    Document {
        tool: run.tool.clone(),
        started: run.started.clone(),
        finished: run.finished.clone(),
        experiment: run.experiment.clone(),
        kernel_digests: run.kernel_digests.clone(),
        ..Document::new(Kind::Sensitivity, run.environment.clone())
    }
}

/// The run of another kernel, possibly with another module.
fn extend(document: &mut Document, run: &Document) {
    document.finished.clone_from(&run.finished);
    let digests = run.kernel_digests.clone();
    document.kernel_digests.extend(digests);
    let (Some(all), Some(more)) = (&mut document.experiment, &run.experiment) else {
        return;
    };
    for kernel in &more.kernels {
        if !all.kernels.contains(kernel) {
            all.kernels.push(kernel.clone());
        }
    }
    for configuration in &more.configurations {
        if !all.configurations.contains(configuration) {
            all.configurations.push(configuration.clone());
        }
    }
}

#[derive(Clone, Copy)]
struct Run<'a> {
    request: &'a Request<'a>,
    experiment: &'a Experiment,
    kernel: &'a Kernel,
    caches: Caches,
    cancel: &'a AtomicBool,
}

impl Run<'_> {
    fn lab(
        &self,
        sweep: Option<&Sweep>,
        hooks: Option<Hooks<'_>>,
        follow: &mut dyn FnMut(Event<'_>),
    ) -> Result<Outcome, LabError> {
        let setup = Setup {
            kernels: std::slice::from_ref(self.kernel),
            qemu: Some(self.request.qemu),
            hooks,
            treatment: Treatment {
                sweep,
                cold: self.caches == Caches::Cold,
                ask: sweep
                    .is_some_and(|s| s.module == DelayModule::Tunable && !s.points.is_empty()),
            },
            reuse: self.request.reuse,
            ..Setup::new(self.request.store)
        };
        lab::run(self.experiment, &setup, self.cancel, follow)
    }

    /// Counts without delays, but with the same labels of processes and files as with delays.
    fn count(
        &self,
        module: Option<DelayModule>,
        follow: &mut dyn FnMut(Event<'_>),
    ) -> Result<Outcome, LabError> {
        let hooks = Hooks {
            // The trees show the callers of repeated checks.
            keep_trees: true,
            ..Hooks::default()
        };
        let labelled = Sweep {
            module: DelayModule::Tunable,
            everything: true,
            hooks: Vec::new(),
            points: BTreeMap::new(),
            repetitions: 0,
            counted: true,
        };
        let labelled = (module == Some(DelayModule::Tunable)).then_some(&labelled);
        self.lab(labelled, Some(hooks), follow)
    }

    /// Compares the stack that has `lsm` at its end with the stack alone. None if cancelled.
    fn profile(
        &self,
        lsm: &str,
        follow: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<Document>, LabError> {
        let base = self.request.stack;
        let stacks = [base.clone(), with_name(base, lsm)];
        let experiment = Experiment {
            configurations: stacks.map(Configuration::of_stack).to_vec(),
            ..self.experiment.clone()
        };
        let run = Run {
            experiment: &experiment,
            ..*self
        };
        let outcome = run.count(None, follow)?;
        let document = lab::profiles::document(&outcome, Some(base));
        Ok((!outcome.cancelled).then_some(document))
    }
}
