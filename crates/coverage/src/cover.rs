// SPDX-License-Identifier: GPL-2.0-or-later
//! From cells, a kernel's hooks and facts to what is called and what is not.

use std::collections::{BTreeMap, BTreeSet};

use model::coverage::{
    CallingOperation, CostOfCalls, CoverageFindings, CoverageShare, CoveredHook,
    CoveredImplementation, EarlierOperation, Need, StaleReason,
};
use model::{Cell, HookCost, LaterHook, PlacementDocument, Subject, Suite, placement::Count};

use crate::error::CoverageError;
use crate::facts::Facts;

/// What is known of a kernel's hooks before anything runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelHooks {
    pub name: String,
    /// Its `uname -r`.
    pub release: String,
    pub hooks: BTreeSet<String>,
    /// The modules' functions for each: module and function. None if the kernel does not tell.
    pub implementations: Option<BTreeMap<String, BTreeSet<(String, String)>>>,
    /// What its configuration says of [`Facts::options`]: `y`, `m`, or nothing if it is not set;
    /// without those of which that is not known.
    pub options: BTreeMap<String, String>,
}

/// System calls by the hooks that they can reach by a kernel's sources.
pub type Reached = BTreeMap<String, BTreeSet<String>>;

/// Which system calls can reach each hook, on any path: those that call it themselves; of hooks that
/// none calls, those that do so inside other hooks or while objects are released.
#[must_use]
pub fn reached(placement: &PlacementDocument) -> Reached {
    let (mut own, mut others) = (Reached::new(), Reached::new());
    for call in &placement.syscalls {
        for hook in &call.hooks {
            let calls_itself = hook.max != Count::default();
            let reached = if calls_itself { &mut own } else { &mut others };
            let calls = reached.entry(hook.hook.clone()).or_default();
            calls.insert(call.syscall.clone());
        }
    }
    others.extend(own);
    others
}

#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    pub kernel: &'a KernelHooks,
    /// Cells; those of other kernels, and those without hooks, say nothing.
    pub cells: &'a [Cell],
    /// Why hooks may be called by none.
    pub facts: &'a Facts,
    /// What sources say, if they were read.
    pub reached: Option<&'a Reached>,
    /// The suite of each benchmark.
    pub suites: &'a BTreeMap<String, Suite>,
    /// Modules that are measured unless others are asked for, and that the kernel lacks.
    pub lacking: &'a [String],
}

/// A function of a module, by hook: hook, module, function.
type Function<'a> = (&'a str, &'a str, &'a str);

/// What calls hooks. A program may be called as a benchmark is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Operation<'a> {
    name: &'a str,
    /// The variant of a benchmark; nothing of a program.
    variant: &'a str,
    is_program: bool,
}

impl Operation<'_> {
    fn suite(self, suites: &BTreeMap<String, Suite>) -> Option<Suite> {
        suites.get(self.name).copied().filter(|_| !self.is_program)
    }
}

#[derive(Default)]
struct Seen<'a> {
    /// Calls in an operation, least and most, by hook, then by operation.
    calls: BTreeMap<&'a str, BTreeMap<Operation<'a>, (u64, u64)>>,
    /// Calls between so many operations, by hook, then by operation.
    later: BTreeMap<&'a str, BTreeMap<Operation<'a>, (u64, u64)>>,
    costs: BTreeMap<Function<'a>, CostOfCalls>,
}

/// Says which hooks of a kernel the cells call, and why not the others.
pub fn cover(inputs: &Inputs<'_>) -> Result<CoverageFindings, CoverageError> {
    let kernel = inputs.kernel;
    let mut seen = Seen::default();
    let mut any = false;
    for cell in inputs
        .cells
        .iter()
        .filter(|of| of.key.kernel == kernel.name)
    {
        if let (Some(hooks), Some(operation)) = (cell.hooks(), operation(&cell.key.subject)) {
            any = true;
            seen.add(operation, hooks, kernel);
        }
        if let (Some(later), Some(operation)) = (cell.later(), operation(&cell.key.subject)) {
            seen.add_later(operation, later);
        }
    }
    if !any {
        let kernel = kernel.name.clone();
        return Err(CoverageError::Nothing { kernel });
    }
    let hooks: Vec<CoveredHook> = kernel
        .hooks
        .iter()
        .map(|hook| seen.covered(hook, inputs))
        .collect();
    let beside = seen
        .calls
        .keys()
        .filter(|hook| !kernel.hooks.contains(**hook));
    Ok(CoverageFindings {
        kernel: kernel.name.clone(),
        release: kernel.release.clone(),
        share: CoverageShare::of(&hooks),
        lacking: inputs.lacking.to_vec(),
        implementations_known: kernel.implementations.is_some(),
        beside: beside.map(|hook| (*hook).to_owned()).collect(),
        stale: stale(inputs.facts, &hooks),
        hooks,
    })
}

/// The operation of a cell, if it is of one.
fn operation(subject: &Subject) -> Option<Operation<'_>> {
    match subject {
        Subject::Benchmark { benchmark, variant } => Some(Operation {
            name: benchmark,
            variant,
            is_program: false,
        }),
        Subject::Workload { workload, .. } => Some(Operation {
            name: workload,
            variant: "",
            is_program: true,
        }),
        Subject::Interval { .. } => None,
    }
}

/// What one measurement has, and another has not.
fn is_sometimes_met(needs: Need) -> bool {
    matches!(
        needs,
        Need::Variant | Need::Module | Need::Policy | Need::Later
    )
}

/// Facts that name a hook which is called, or which the kernel lacks. What a variant calls, or a
/// module that is loaded or a policy of another kind brings about, is what such a fact says.
fn stale(facts: &Facts, hooks: &[CoveredHook]) -> Vec<StaleReason> {
    let called: BTreeMap<&str, bool> = hooks
        .iter()
        .map(|hook| (hook.hook.as_str(), hook.is_called()))
        .collect();
    let facts = facts.facts.iter();
    let named = facts.flat_map(|fact| fact.hooks.iter().map(move |hook| (hook, fact.needs)));
    let stale = |(hook, needs): (&String, Need)| {
        let called = called.get(hook.as_str()).copied();
        let stale = called.is_none_or(|called| called && !is_sometimes_met(needs));
        stale.then(|| StaleReason {
            hook: hook.clone(),
            called: called.is_some(),
        })
    };
    let mut stale: Vec<StaleReason> = named.filter_map(stale).collect();
    stale.sort_by(|a, b| a.hook.cmp(&b.hook));
    stale
}

impl<'a> Seen<'a> {
    fn add(&mut self, operation: Operation<'a>, hooks: &'a [HookCost], kernel: &'a KernelHooks) {
        for cost in hooks {
            self.count(&cost.hook, operation, cost.calls);
            for of in cost.implementations.iter().filter(|of| of.calls > 0) {
                let hook = registered(kernel, &cost.hook, &of.function);
                if hook != cost.hook {
                    // A hook without a function of its own runs in another's.
                    self.count(hook, operation, 0);
                }
                let per_call = of.inclusive as f64 / of.calls as f64;
                let function = (hook, of.module.as_str(), base_name(&of.function));
                let sum = self.costs.entry(function).or_insert(CostOfCalls {
                    least: per_call,
                    most: per_call,
                    operations: 0,
                });
                sum.least = sum.least.min(per_call);
                sum.most = sum.most.max(per_call);
                sum.operations += 1;
            }
        }
    }

    /// A hook that is called for each second operation at least: what something else left is not.
    fn add_later(&mut self, operation: Operation<'a>, later: (&'a [LaterHook], u64)) {
        let (hooks, operations) = later;
        for LaterHook { hook, calls } in hooks {
            if u128::from(*calls) * 2 < u128::from(operations) {
                continue;
            }
            let of_hook = self.later.entry(hook).or_default();
            let most = of_hook.entry(operation).or_insert((*calls, operations));
            if u128::from(*calls) * u128::from(most.1) > u128::from(most.0) * u128::from(operations)
            {
                *most = (*calls, operations);
            }
        }
    }

    fn count(&mut self, hook: &'a str, operation: Operation<'a>, calls: u64) {
        let of_hook = self.calls.entry(hook).or_default();
        let (least, most) = of_hook.entry(operation).or_insert((calls, calls));
        *least = (*least).min(calls);
        *most = (*most).max(calls);
    }

    fn covered(&self, hook: &str, inputs: &Inputs<'_>) -> CoveredHook {
        let calls = self.calls.get(hook).into_iter().flatten();
        let called_by: Vec<CallingOperation> = calls
            .map(|(operation, (least, most))| CallingOperation {
                benchmark: operation.name.to_owned(),
                variant: operation.variant.to_owned(),
                suite: operation.suite(inputs.suites),
                least: *least,
                most: *most,
            })
            .collect();
        let later = self.later.get(hook).into_iter().flatten();
        let called_after: Vec<EarlierOperation> = later
            .filter(|_| called_by.is_empty())
            .map(|(operation, (calls, operations))| EarlierOperation {
                benchmark: operation.name.to_owned(),
                variant: operation.variant.to_owned(),
                suite: operation.suite(inputs.suites),
                calls: *calls,
                operations: *operations,
            })
            .collect();
        let unreached = called_by.is_empty() && called_after.is_empty();
        let reason = || {
            let mut facts = inputs.facts.facts.iter();
            let fact = facts.find(|fact| fact.hooks.iter().any(|of| of == hook));
            fact.map(|fact| fact.reason(&inputs.kernel.options))
        };
        let system_calls = || inputs.reached?.get(hook).map(|calls| calls.iter().cloned());
        CoveredHook {
            hook: hook.to_owned(),
            called_by,
            called_after,
            implementations: self.implementations(hook, inputs.kernel),
            reason: if unreached { reason() } else { None },
            system_calls: match unreached {
                true => system_calls().into_iter().flatten().collect(),
                false => Vec::new(),
            },
        }
    }

    /// What the kernel has for a hook, and what ran: more than that if it does not tell.
    fn implementations(&self, hook: &str, kernel: &KernelHooks) -> Vec<CoveredImplementation> {
        let ran = self.costs.range((hook, "", "")..);
        let ran = ran.take_while(|((of, ..), _)| *of == hook);
        let mut all: BTreeMap<(&str, &str), Option<CostOfCalls>> = ran
            .map(|((_, module, function), cost)| ((*module, *function), Some(*cost)))
            .collect();
        let registered = kernel.implementations.as_ref();
        for (module, function) in registered
            .and_then(|all| all.get(hook))
            .into_iter()
            .flatten()
        {
            all.entry((module, function)).or_insert(None);
        }
        let all = all.into_iter();
        all.map(|((module, function), ran)| CoveredImplementation {
            module: module.to_owned(),
            function: function.to_owned(),
            ran,
        })
        .collect()
    }
}

/// The hook that a module has a function for, which ran in the framework's function for `hook`:
/// that one, if the function is registered for it or for none.
fn registered<'a>(kernel: &'a KernelHooks, hook: &'a str, function: &str) -> &'a str {
    let Some(all) = &kernel.implementations else {
        return hook;
    };
    let function = base_name(function);
    let has =
        |functions: &BTreeSet<(String, String)>| functions.iter().any(|(_, of)| of == function);
    if all.get(hook).is_some_and(has) {
        return hook;
    }
    let mut others = all.iter().filter(|(_, functions)| has(functions));
    match (others.next(), others.next()) {
        (Some((only, _)), None) => only,
        _ => hook,
    }
}

/// A function's name without what the compiler appends: no name in C has a dot.
fn base_name(function: &str) -> &str {
    function.split('.').next().unwrap_or(function)
}
