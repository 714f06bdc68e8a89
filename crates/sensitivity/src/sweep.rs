// SPDX-License-Identifier: GPL-2.0-or-later
//! A whole sweep: counts without delays, runs under delays, lines through them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use experiment::{
    ALL_HOOKS, Caches, Cell, CellKey, Configuration, DelayModule, Experiment, Profile,
    SensitivityDocument, Slope, Stack, Status, Warning, WarningKind, nearest,
};
use instructions::hooks::bpf_attach_ids;
use instructions::profile::CellProfile;
use lab::catalogue::catalogue;
use lab::kernel::{Kernel, Store};
use lab::plan::Manner;
use lab::prepare::{Hooks, symbols};
use lab::qemu::Qemu;
use lab::sweep::{Delayed, Sweep, SweptHook};
use lab::{LabError, Outcome, Progress, Setup};

use crate::advice::repeated;
use crate::delays::Delays;
use crate::error::SweepError;
use crate::points::{CellPoints, HookCalls, Operation, points};
use crate::predict;
use crate::rules::rules;
use crate::slopes::{Line, line};

/// Slope and count differ if they are further apart, of a few decisions.
const DIFFERENCE: f64 = 0.05;
/// Of many decisions, this part of them.
const DIFFERENCE_SHARE: f64 = 0.005;
/// Rounds of a cell's points. A point needs one operation that meets no tick.
const REPETITIONS: u32 = 3;
/// Times as many for operations that make processes: they take many paths, whose lengths
/// differ by some hundred instructions.
const PROCESS_ROUNDS: usize = 4;

/// What to sweep.
#[derive(Debug)]
pub struct Request<'a> {
    /// Kernels, and which benchmarks: the metric is instructions. Its configurations are
    /// not looked at.
    pub experiment: &'a Experiment,
    /// The stack, to whose end the module that delays is added if it is not in it.
    pub stack: &'a Stack,
    /// What delays; None for the Tunable Security Module where a kernel has it, else BPF.
    pub module: Option<DelayModule>,
    /// How long.
    pub delays: &'a Delays,
    /// At which hooks; empty for all.
    pub hooks: &'a [String],
    /// With the kernel's caches how.
    pub caches: &'a [Caches],
    /// Where kernels are kept.
    pub store: &'a Store,
    /// The experiment's kernels, in its order.
    pub kernels: &'a [Kernel],
    /// QEMU.
    pub qemu: &'a Qemu,
    /// What is to be predicted.
    pub predict: &'a Predict,
    /// A directory of its own.
    pub scratch: &'a Path,
}

/// What is to be predicted from slopes.
#[derive(Debug, Clone, PartialEq)]
pub enum Predict {
    /// Nothing.
    Nothing,
    /// Decisions of so many instructions.
    Decision(f64),
    /// What these modules add to the stack; they are measured too.
    Modules(Vec<String>),
}

/// What is being done.
#[derive(Debug)]
pub enum Step<'a> {
    /// Hooks are counted without delays.
    Counting {
        /// On this kernel.
        kernel: &'a str,
        /// With its caches so.
        caches: Caches,
    },
    /// Delays are swept.
    Sweeping {
        /// On this kernel.
        kernel: &'a str,
        /// With its caches so.
        caches: Caches,
    },
    /// Modules are profiled, for predictions.
    Profiling {
        /// On this kernel.
        kernel: &'a str,
    },
    /// How that goes on.
    Lab(&'a Progress<'a>),
}

/// Sweeps. None if it was cancelled. `follow` is called from this thread only.
///
/// # Errors
/// [`SweepError`] if it cannot run at all. What befalls one operation is in its slope.
pub fn sweep(
    request: &Request<'_>,
    cancel: &AtomicBool,
    follow: &mut dyn FnMut(Step<'_>),
) -> Result<Option<SensitivityDocument>, SweepError> {
    let mut document: Option<SensitivityDocument> = None;
    for kernel in request.kernels {
        let points_of = DelayPoints::of(request, kernel)?;
        let name = kernel_name(request, kernel);
        let stack = with_module(request.stack, points_of.module);
        let experiment = Experiment {
            kernels: vec![name.clone()],
            configurations: vec![Configuration::of_stack(stack)],
            baseline: 0,
            baseline_kernel: None,
            ..request.experiment.clone()
        };
        for &caches in request.caches {
            let run = Run {
                request,
                experiment: &experiment,
                kernel,
                caches,
            };
            follow(Step::Counting {
                kernel: &name,
                caches,
            });
            let counted = run.count(cancel, follow)?;
            if counted.cancelled {
                return Ok(None);
            }
            let (sweep, swept) = points_of.plan(&run, &counted);
            follow(Step::Sweeping {
                kernel: &name,
                caches,
            });
            let outcome = run.delay(&sweep, cancel, follow)?;
            if outcome.cancelled {
                return Ok(None);
            }
            let document = document.get_or_insert_with(|| blank(&outcome));
            let from = document.slopes.len();
            for cell in &outcome.run.cells {
                let key = cell.key();
                let profile = counted.profiles.get(&key);
                let found = Found {
                    module: points_of.module,
                    planned: swept.get(&key),
                    figures: outcome.operations.get(&key).map_or(&[], Vec::as_slice),
                    profile,
                    undelayed: outcome.undelayed.get(&name),
                };
                document.slopes.extend(slopes_of(&run, cell, &found));
                if let (Caches::Warm, Some(lines)) = (caches, outcome.questions.get(&key)) {
                    let path = profile.map(CellProfile::modal);
                    document.repeated.extend(repeated(cell, lines, path));
                }
            }
            let warnings = doubts(&document.slopes, from);
            document.warnings.extend(warnings);
        }
        if let (Predict::Modules(modules), Some(document)) = (request.predict, &mut document) {
            follow(Step::Profiling { kernel: &name });
            let run = Run {
                request,
                experiment: &experiment,
                kernel,
                caches: Caches::Warm,
            };
            for lsm in modules {
                let Some(profiles) = run.profile(lsm, cancel, follow)? else {
                    return Ok(None);
                };
                let predictions = predict::of_module(lsm, &profiles, &document.slopes);
                document.predictions.extend(predictions);
            }
        }
    }
    Ok(document.map(|mut document| {
        document.rules = rules(&document.slopes);
        if let Predict::Decision(decision) = request.predict {
            document.predictions = predict::of_time(*decision, &document.slopes);
        }
        document
    }))
}

fn kernel_name(request: &Request<'_>, kernel: &Kernel) -> String {
    let at = request
        .kernels
        .iter()
        .position(|other| std::ptr::eq(other, kernel))
        .unwrap_or(0);
    request.experiment.kernels[at].clone()
}

/// The stack with the module at its end: each decision waits after all others are made.
fn with_module(stack: &Stack, module: DelayModule) -> Stack {
    with_name(stack, module.as_str())
}

fn with_name(stack: &Stack, name: &str) -> Stack {
    let mut names = stack.names();
    if !names.iter().any(|other| other == name) {
        names.push(name.to_owned());
    }
    // It was a stack, and has one name more.
    names.join(",").parse().unwrap_or_else(|_| stack.clone())
}

fn blank(outcome: &Outcome) -> SensitivityDocument {
    SensitivityDocument {
        schema_version: experiment::SCHEMA_VERSION,
        tool: outcome.run.tool.clone(),
        environment: outcome.run.environment.clone(),
        slopes: Vec::new(),
        rules: Vec::new(),
        predictions: Vec::new(),
        repeated: Vec::new(),
        warnings: Vec::new(),
    }
}

/// The hooks of a kernel that can be delayed.
struct DelayPoints {
    /// With their type ids for BPF, else 0.
    hooks: BTreeMap<String, u32>,
    /// The only ones wanted; empty for all.
    wanted: BTreeSet<String>,
    module: DelayModule,
}

impl DelayPoints {
    fn of(request: &Request<'_>, kernel: &Kernel) -> Result<DelayPoints, SweepError> {
        let symbols = symbols(request.store, kernel)?.map_err(|error| LabError::Environment {
            what: format!(
                "{} does not name its functions ({error}), so hooks cannot be counted",
                kernel.name
            ),
            hint: error.hint().to_owned(),
        })?;
        let module =
            request
                .module
                .unwrap_or_else(|| match symbols.function("tunable_inode_permission") {
                    Some(_) => DelayModule::Tunable,
                    None => DelayModule::Bpf,
                });
        let none = |why: String| SweepError::NoModule {
            kernel: kernel.name.clone(),
            module,
            why,
        };
        let hooks: BTreeMap<String, u32> = match module {
            DelayModule::Tunable => symbols
                .with_prefix("tunable_")
                .filter(|symbol| symbol.is_code())
                .filter_map(|symbol| Some((symbol.name.strip_prefix("tunable_")?.to_owned(), 0)))
                .collect(),
            DelayModule::Bpf => {
                let elf = kernel.vmlinux.as_ref().unwrap_or(&kernel.image);
                let bytes = fs::read(elf).map_err(|source| LabError::Io {
                    action: "read",
                    path: elf.clone(),
                    source,
                })?;
                let ids =
                    bpf_attach_ids(&bytes, &symbols).map_err(|error| none(error.to_string()))?;
                ids.into_iter()
                    .filter(|(hook, _)| symbols.function(&format!("bpf_lsm_{hook}")).is_some())
                    .collect()
            }
        };
        if !hooks.contains_key("inode_permission") {
            return Err(none("its functions are not there".to_owned()));
        }
        for hook in request.hooks {
            if !hooks.contains_key(hook) {
                return Err(SweepError::UnknownHook {
                    kernel: kernel.name.clone(),
                    hook: hook.clone(),
                    nearest: nearest(hook, hooks.keys().map(String::as_str)).map(str::to_owned),
                });
            }
        }
        Ok(DelayPoints {
            hooks,
            wanted: request.hooks.iter().cloned().collect(),
            module,
        })
    }

    fn delays(&self, hook: &str) -> bool {
        self.hooks.contains_key(hook) && (self.wanted.is_empty() || self.wanted.contains(hook))
    }

    /// Which points each cell gets, or why none.
    fn plan(&self, run: &Run<'_>, counted: &Outcome) -> (Sweep, BTreeMap<CellKey, Planned>) {
        let mut swept = BTreeMap::new();
        let mut used: BTreeSet<String> = BTreeSet::new();
        for cell in &counted.run.cells {
            let key = cell.key();
            let calls: HookCalls = counted
                .profiles
                .get(&key)
                .map(|profile| self.calls(profile))
                .unwrap_or_default();
            let benchmark = catalogue()
                .iter()
                .find(|b| (&b.name, &b.variant) == (&key.benchmark, &key.variant));
            let operation = Operation {
                calls: &calls,
                composite: benchmark.is_some_and(|b| b.composite),
                repetitions: REPETITIONS,
            };
            let mut planned = points(run.request.delays, &operation);
            if let Ok(planned) = &mut planned {
                used.extend(calls.keys().cloned());
                if benchmark.is_some_and(|b| b.counts_children) {
                    let round = &planned.points;
                    planned.points = (0..PROCESS_ROUNDS).flat_map(|_| round.clone()).collect();
                }
            }
            swept.insert(key, planned.map_err(|error| error.to_string()));
        }
        used.extend(self.wanted.iter().cloned());
        let sweep = Sweep {
            module: self.module,
            // Programs are attached to listed hooks only.
            everything: self.wanted.is_empty() && self.module == DelayModule::Tunable,
            hooks: used
                .into_iter()
                .map(|name| SweptHook {
                    btf_id: self.hooks.get(&name).copied().unwrap_or(0),
                    name,
                })
                .collect(),
            points: swept
                .iter()
                .filter_map(|(key, planned)| {
                    let planned = planned.as_ref().ok()?;
                    Some((key.clone(), planned.points.clone()))
                })
                .collect(),
            repetitions: REPETITIONS,
        };
        (sweep, swept)
    }

    /// The hooks that an operation calls on its usual path and can be delayed; those of its
    /// other paths with no call.
    fn calls(&self, profile: &CellProfile) -> HookCalls {
        let mut calls = HookCalls::new();
        for (at, path) in profile.paths.iter().enumerate() {
            for hook in path.hooks.iter().filter(|hook| self.delays(&hook.hook)) {
                let n = if at == 0 { hook.calls } else { 0 };
                *calls.entry(hook.hook.clone()).or_default() += n;
            }
        }
        calls
    }
}

/// What is to be swept of a cell.
type Planned = Result<CellPoints, String>;

/// One kernel, with its caches in one state.
struct Run<'a> {
    request: &'a Request<'a>,
    experiment: &'a Experiment,
    kernel: &'a Kernel,
    caches: Caches,
}

impl Run<'_> {
    fn lab(
        &self,
        sweep: Option<&Sweep>,
        hooks: Option<Hooks<'_>>,
        cancel: &AtomicBool,
        follow: &mut dyn FnMut(Step<'_>),
    ) -> Result<Outcome, LabError> {
        let jobs = self.experiment.jobs.map(|jobs| jobs as usize);
        let kernels = std::slice::from_ref(self.kernel);
        let setup = Setup {
            store: self.request.store,
            kernels,
            qemu: Some(self.request.qemu),
            agent: lab::catalogue::agent(),
            journal: &self.request.scratch.join("journal"),
            resume: false,
            keep_samples: false,
            hooks,
            manner: Manner {
                sweep,
                cold: self.caches == Caches::Cold,
                ask: sweep.is_some_and(|sweep| sweep.module == DelayModule::Tunable),
            },
            parts: jobs.unwrap_or_else(lab::environment::cores),
        };
        let outcome = lab::run(self.experiment, &setup, cancel, &mut |progress| {
            follow(Step::Lab(&progress));
        });
        let _ = fs::remove_file(setup.journal);
        outcome
    }

    fn count(
        &self,
        cancel: &AtomicBool,
        follow: &mut dyn FnMut(Step<'_>),
    ) -> Result<Outcome, LabError> {
        let hooks = Hooks {
            // Who asked, for what is asked twice.
            keep_trees: true,
            definitions: None,
        };
        self.lab(None, Some(hooks), cancel, follow)
    }

    /// The stack with `lsm` at its end, compared with the stack. None if cancelled.
    fn profile(
        &self,
        lsm: &str,
        cancel: &AtomicBool,
        follow: &mut dyn FnMut(Step<'_>),
    ) -> Result<Option<Vec<Profile>>, LabError> {
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
        let outcome = run.count(cancel, follow)?;
        let document = lab::profiles::document(&outcome, Some(base));
        Ok((!outcome.cancelled).then_some(document.profiles))
    }

    fn delay(
        &self,
        sweep: &Sweep,
        cancel: &AtomicBool,
        follow: &mut dyn FnMut(Step<'_>),
    ) -> Result<Outcome, LabError> {
        self.lab(Some(sweep), None, cancel, follow)
    }
}

/// What became known of a cell.
struct Found<'a> {
    module: DelayModule,
    planned: Option<&'a Planned>,
    figures: &'a [Option<f64>],
    profile: Option<&'a CellProfile>,
    undelayed: Option<&'a BTreeSet<String>>,
}

/// The slopes of a cell: all hooks together, then each hook.
fn slopes_of(run: &Run<'_>, cell: &Cell, found: &Found<'_>) -> Vec<Slope> {
    let Found {
        module,
        planned,
        figures,
        profile,
        undelayed,
    } = *found;
    let blank = |hooks: Vec<String>, part| Slope {
        kernel: cell.kernel.clone(),
        release: cell.release.clone(),
        module,
        stack: cell.stack.clone(),
        hooks,
        part,
        filesystem: cell.filesystem.clone(),
        caches: run.caches,
        benchmark: cell.benchmark.clone(),
        variant: cell.variant.clone(),
        syscalls: cell.syscalls.clone(),
        status: cell.status,
        reason: cell.reason.clone(),
        slope: 0.0,
        ci95: [0.0, 0.0],
        intercept: 0.0,
        unit: cell.metric.unit(),
        r2: None,
        bend: None,
        residual: 0.0,
        n: 0,
        dirty: 0,
        points: Vec::new(),
        counted: None,
        explanation: None,
    };
    let together = match run.request.hooks {
        [] => vec![ALL_HOOKS.to_owned()],
        hooks => hooks.to_vec(),
    };
    let one_only = together.len() == 1 && together[0] != ALL_HOOKS;
    let mut whole = blank(together, false);
    let planned = match (planned, cell.status) {
        (Some(Ok(planned)), Status::Ok) => planned,
        (Some(Err(reason)), Status::Ok) => {
            whole.status = Status::Unsupported;
            whole.reason = Some(reason.clone());
            return vec![whole];
        }
        _ => return vec![whole],
    };
    let mut parts = Vec::new();
    let mut calls_of_all = profile.map(|_| 0.0);
    let mut seen = BTreeSet::new();
    for point in &planned.points {
        let Delayed::Hook(hook) = &point.delayed else {
            continue;
        };
        if !seen.insert(hook) {
            continue;
        }
        let mut part = blank(vec![hook.clone()], true);
        if undelayed.is_some_and(|undelayed| undelayed.contains(hook)) {
            part.status = Status::Unsupported;
            part.reason = Some(format!("the kernel lets no {module} program delay it"));
            parts.push(part);
            continue;
        }
        fill(&mut part, line(&planned.points, figures, &point.delayed));
        let calls = profile.map(|profile| {
            let hooks = profile.modal().hooks.iter();
            hooks
                .filter(|cost| cost.hook == *hook)
                .map(|cost| cost.calls as f64)
                .sum::<f64>()
        });
        part.counted = calls;
        calls_of_all = calls_of_all.zip(calls).map(|(sum, calls)| sum + calls);
        part.explanation = explain(&part, &[], profile);
        parts.push(part);
    }
    fill(&mut whole, line(&planned.points, figures, &Delayed::All));
    whole.counted = calls_of_all;
    whole.explanation = explain(&whole, &parts, profile);
    if one_only {
        parts.clear();
    }
    [vec![whole], parts].concat()
}

fn fill(slope: &mut Slope, line: Result<Line, crate::slopes::LineError>) {
    match line {
        Ok(line) => {
            slope.slope = line.slope;
            slope.ci95 = line.ci95;
            slope.intercept = line.intercept;
            slope.r2 = line.r2;
            slope.bend = line.bend;
            slope.residual = line.residual;
            slope.n = line.n;
            slope.dirty = line.dirty;
            slope.points = line.points;
        }
        Err(error) => {
            slope.status = Status::Failed;
            slope.reason = Some(error.to_string());
        }
    }
}

fn differs(slope: &Slope) -> bool {
    let tolerance = |counted: f64| DIFFERENCE.max(counted * DIFFERENCE_SHARE);
    let counted = slope.counted.unwrap_or(0.0);
    slope
        .difference()
        .is_some_and(|difference| difference.abs() > tolerance(counted))
}

/// Why a slope is not the count.
fn explain(slope: &Slope, parts: &[Slope], profile: Option<&CellProfile>) -> Option<String> {
    if !differs(slope) {
        return None;
    }
    let paths = profile.map_or(1, |profile| profile.paths.len());
    let apart: Vec<String> = parts
        .iter()
        .filter(|part| differs(part))
        .map(|part| {
            format!(
                "{} {:+.2}",
                part.hooks[0],
                part.difference().unwrap_or_default()
            )
        })
        .collect();
    let curved = slope.bend.is_some_and(|bend| bend.abs() > 0.01);
    Some(if !apart.is_empty() {
        format!("its hooks differ: {}", apart.join(", "))
    } else if paths > 1 {
        format!(
            "the operation takes {paths} paths, which do not call the same hooks; the count is \
             the usual one's"
        )
    } else if curved {
        "cost does not follow the delay in a straight line: what it does depends on how long it \
         takes"
            .to_owned()
    } else if slope.difference().unwrap_or_default() < 0.0 {
        "the framework's function is called, but not each time asks the modules: the object is \
         private to the kernel, or an earlier module has answered"
            .to_owned()
    } else if !parts.is_empty() {
        "hooks are asked that no function of the framework stands for".to_owned()
    } else {
        "under delays the kernel asks again: a walk was tried anew, or a lock was waited for"
            .to_owned()
    })
}

fn doubts(slopes: &[Slope], from: usize) -> Option<Warning> {
    let apart: Vec<(usize, &Slope)> = slopes
        .iter()
        .enumerate()
        .skip(from)
        .filter(|(_, slope)| slope.is_whole() && differs(slope))
        .collect();
    let (_, first) = apart.first()?;
    let mut warning = Warning::new(
        WarningKind::SlopeDiffers,
        format!(
            "{} of {} slopes are not what was counted; for instance {} on {}: {:.2}, counted {}: {}",
            apart.len(),
            slopes[from..].iter().filter(|s| s.is_whole()).count(),
            first.title(),
            first.kernel,
            first.slope,
            first.counted.unwrap_or_default(),
            first.explanation.as_deref().unwrap_or_default()
        ),
    );
    warning.cells = apart.iter().map(|(at, _)| *at as u32).collect();
    Some(warning)
}
