// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that can be delayed, and the points of each operation.

use std::collections::{BTreeMap, BTreeSet};

use counts::profile::{CellProfile, PathProfile};
use kernels::Kernel;
use kernels::hooks::{bpf_attach_ids, btf};
use lab::catalogue::{Benchmark, find};
use lab::prepare::{elf, hook_list, named};
use lab::sweep::{Sweep, SweptHook};
use lab::{LabError, Outcome};
use model::{DelayModule, Failure, Key, nearest};

use crate::delays::Delays;
use crate::error::no_module;
use crate::points::{CellPoints, HookCalls, Operation, points};
use crate::sweep::Request;

const REPETITIONS: u32 = 3;
/// Factor for operations with many paths of different lengths.
const UNSTEADY_ROUNDS: usize = 8;
/// Factor for composite operations: each of hundreds of regions must take its shortest path at
/// least once under each delay.
const COMPOSITE_ROUNDS: usize = 2;
/// Factor for single hooks of operations that create processes, which are long.
const PROCESS_HOOK_ROUNDS: usize = 2;

fn is_steady(profile: &CellProfile) -> bool {
    profile.composite || 4 * profile.dominant().path.regions >= 3 * profile.regions
}

pub(crate) type Planned = Result<CellPoints, String>;

pub(crate) struct DelayPoints {
    /// Hooks with their BTF ids for BPF, or else 0.
    hooks: BTreeMap<String, u32>,
    /// If empty, all hooks.
    wanted: BTreeSet<String>,
    pub(crate) module: DelayModule,
}

impl DelayPoints {
    pub(crate) fn find(request: &Request<'_>, kernel: &Kernel) -> Result<DelayPoints, LabError> {
        let symbols = named(request.store, kernel)?;
        let usual = match symbols.function("tunable_inode_permission") {
            Some(_) => DelayModule::Tunable,
            None => DelayModule::Bpf,
        };
        let module = request.module.unwrap_or(usual);
        let none = |why: &str| no_module(&kernel.name, module, why);
        // Both modules also have other functions with this prefix.
        let known = hook_list(kernel, &symbols, None)?;
        let hooks: BTreeMap<String, u32> = match module {
            DelayModule::Tunable => known
                .iter()
                .filter(|hook| symbols.function(&format!("tunable_{hook}")).is_some())
                .map(|hook| (hook.to_owned(), 0))
                .collect(),
            DelayModule::Bpf if symbols.function("bpf_loop").is_none() => {
                return Err(none("it has no bpf_loop(), which needs Linux 5.17"));
            }
            DelayModule::Bpf => btf(&elf(kernel)?)
                .and_then(bpf_attach_ids)
                .map_err(|error| none(&error.to_string()))?
                .into_iter()
                .filter(|(hook, _)| known.contains(hook))
                .collect(),
        };
        if !hooks.contains_key("inode_permission") {
            return Err(none("the functions of the module are missing"));
        }
        check_known(request.hooks, &kernel.name, &hooks)?;
        Ok(DelayPoints {
            hooks,
            wanted: request.hooks.iter().cloned().collect(),
            module,
        })
    }

    fn delays(&self, hook: &str) -> bool {
        self.hooks.contains_key(hook) && (self.wanted.is_empty() || self.wanted.contains(hook))
    }

    pub(crate) fn plan(
        &self,
        delays: &Delays,
        counted: &Outcome,
    ) -> (Sweep, BTreeMap<Key, Planned>) {
        let mut swept = BTreeMap::new();
        let mut used: BTreeSet<String> = BTreeSet::new();
        for cell in &counted.run.cells {
            let key = &cell.key;
            let profile = counted.profile(key);
            let calls = profile.map_or_else(HookCalls::new, |profile| self.calls(profile));
            let benchmark = benchmark(key);
            let operation = Operation {
                calls: &calls,
                repetitions: REPETITIONS,
                processes: benchmark.is_some_and(|b| b.counts_children),
            };
            let mut planned = points(delays, &operation);
            if let Ok(planned) = &mut planned {
                used.extend(calls.keys().cloned());
                let many_paths = profile.is_some_and(|profile| !is_steady(profile));
                let rounds = match (operation.processes, many_paths) {
                    (true, _) => (UNSTEADY_ROUNDS, PROCESS_HOOK_ROUNDS),
                    (false, true) => (UNSTEADY_ROUNDS, UNSTEADY_ROUNDS),
                    _ if benchmark.is_some_and(|b| b.composite) => (COMPOSITE_ROUNDS, 1),
                    (false, false) => (1, 1),
                };
                planned.repeat(rounds);
            }
            swept.insert(key.clone(), planned.map_err(|error| error.to_string()));
        }
        used.extend(self.wanted.iter().cloned());
        if used.is_empty() {
            // For an operation without hooks, a hook is delayed to show that it makes no check.
            used.insert("inode_permission".to_owned());
        }
        let hooks = used.into_iter().map(|name| SweptHook {
            btf_id: self.hooks.get(&name).copied().unwrap_or(0),
            name,
        });
        let points = swept.iter().filter_map(|(key, planned): (&Key, &Planned)| {
            let planned = planned.as_ref().ok()?;
            Some((key.clone(), planned.points.clone()))
        });
        let sweep = Sweep {
            module: self.module,
            // BPF programs are attached only to listed hooks.
            everything: self.wanted.is_empty() && self.module == DelayModule::Tunable,
            hooks: hooks.collect(),
            counted: true,
            points: points.collect(),
            repetitions: REPETITIONS,
        };
        (sweep, swept)
    }

    /// Delayable hooks on the dominant path; those of other paths have 0 calls.
    fn calls(&self, profile: &CellProfile) -> HookCalls {
        let mut calls = calls_of(self.module, profile);
        for path in &profile.paths[1..] {
            for hook in calls_on(self.module, path).into_keys() {
                calls.entry(hook).or_default();
            }
        }
        calls.retain(|hook, _| self.delays(hook));
        calls
    }
}

pub(crate) fn check_known(
    wanted: &[String],
    kernel: &str,
    known: &BTreeMap<String, u32>,
) -> Result<(), LabError> {
    let Some(hook) = wanted.iter().find(|hook| !known.contains_key(*hook)) else {
        return Ok(());
    };
    let near = nearest(hook, known.keys().map(String::as_str));
    let near = near.map(|near| format!("did you mean {near}?"));
    let hint = "use names from the kernel's lsm_hook_defs.h, for example inode_permission";
    let what = format!("{kernel} has no hook `{hook}` that can be delayed");
    Err(Failure::usage(what, near.as_deref().unwrap_or(hint)).into())
}

pub(crate) fn benchmark(key: &Key) -> Option<&'static Benchmark> {
    find(key.benchmark(), key.variant())
}

/// Calls per hook on the dominant path, as the delaying module receives them.
pub(crate) fn calls_of(module: DelayModule, profile: &CellProfile) -> HookCalls {
    calls_on(module, profile.dominant())
}

/// Calls of the module's own functions, if the path has any: some hooks share a framework function
/// (`inode_xattr_skipcap`). BPF programs are not attached while hooks are counted, so the
/// framework's calls are used.
pub(crate) fn calls_on(module: DelayModule, path: &PathProfile) -> HookCalls {
    let prefix = match module {
        DelayModule::Tunable => "tunable_",
        DelayModule::Bpf => "bpf_lsm_",
    };
    let mut own = HookCalls::new();
    let mut framework = HookCalls::new();
    for hook in &path.hooks {
        *framework.entry(hook.hook.clone()).or_default() += hook.calls;
        for behind in &hook.implementations {
            if let Some(name) = behind.function.strip_prefix(prefix) {
                *own.entry(name.to_owned()).or_default() += behind.calls;
            }
        }
    }
    if own.is_empty() { framework } else { own }
}
