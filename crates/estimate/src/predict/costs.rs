// SPDX-License-Identifier: GPL-2.0-or-later
//! Costs of a hook call in the lab, by system call and stack.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::prediction::{Basis, CallCost, Range};
use model::{Cell, Document, Failure, HookedPath, Program, Subject, estimate::Weights, nearest};
use stats::median;

use crate::predict::forms::form;

/// Stacks with different policy states count separately.
const STACKS_LIMIT: usize = 64;

#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The kernel's name in the result files. None selects the recording's kernel, or the only one.
    pub kernel: Option<String>,
    /// `uname -r` of the recording.
    pub release: String,
    /// As in `lsm=`; empty for all.
    pub stacks: Vec<String>,
    /// None selects the first of `stacks`, or the result files' own baseline.
    pub baseline: Option<String>,
    /// Weights of instructions and events. If None, only instructions are predicted.
    pub weights: Option<Weights>,
}

#[derive(Debug)]
pub struct Costs {
    pub stacks: Vec<String>,
    pub release: String,
    pub modules: BTreeSet<String>,
    pub processor: Option<String>,
    pub dropped: usize,
    /// By hook, then by form of the system call.
    by_call: HashMap<String, HashMap<String, Cost>>,
    by_hook: HashMap<String, Cost>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    pub basis: Basis,
    pub operations: usize,
    pub stacks: Vec<CallCost>,
    /// Each module's part, by stack; the rest belongs to the framework.
    pub modules: Vec<BTreeMap<String, f64>>,
}

#[derive(Debug, Default)]
struct Points {
    /// Instructions per call, by operation and stack.
    all: Vec<Vec<PerCall>>,
    /// Indices into `all`, by form of the system call: operations that make only this system call,
    /// and all operations that make it.
    by_call: HashMap<String, [Vec<usize>; 2]>,
}

#[derive(Debug, Clone, Default)]
struct PerCall {
    instructions: f64,
    ns: Option<f64>,
    modules: BTreeMap<String, f64>,
}

type Operation<'a> = BTreeMap<String, (&'a Cell, &'a HookedPath, Option<&'a Program>)>;

impl Costs {
    pub fn new(documents: &[Document], wanted: &Wanted) -> Result<Costs, Failure> {
        let release = release(documents, wanted)?;
        let stacks = stacks(documents, &release, wanted)?;
        let mut costs = Costs {
            stacks,
            release,
            processor: wanted
                .weights
                .as_ref()
                .map(|weights| weights.processor.clone()),
            modules: BTreeSet::new(),
            dropped: 0,
            by_call: HashMap::new(),
            by_hook: HashMap::new(),
        };
        let mut hooks: HashMap<String, Points> = HashMap::new();
        for operation in operations(documents, &costs.release) {
            costs.take(&operation, wanted.weights.as_ref(), &mut hooks);
        }
        let mut calls = hooks
            .values()
            .flat_map(|points| points.all.iter().flatten());
        if wanted.weights.is_some() && !calls.any(|call| call.ns.is_some()) {
            return Err(Failure::usage(
                "the costs contain no events, so weights cannot be applied",
                "count them with `lsmeter profile --events`, or let `predict --kernel` count them",
            ));
        }
        for (hook, points) in hooks {
            let every: Vec<usize> = (0..points.all.len()).collect();
            let added = points.added();
            let by_call = points.by_call.iter().map(|(call, [alone, among])| {
                let own = if alone.is_empty() { among } else { alone };
                let cost = points.cost(Basis::SystemCall, own, &added);
                (call.clone(), cost)
            });
            costs.by_call.insert(hook.clone(), by_call.collect());
            let cost = points.cost(Basis::Hook, &every, &added);
            costs.by_hook.insert(hook, cost);
        }
        if costs.by_hook.is_empty() {
            let stacks = costs.stacks.join(" and ");
            return Err(Failure::usage(
                format!("no operation was counted under each of {stacks}"),
                "profile the same benchmarks under all stacks",
            ));
        }
        Ok(costs)
    }

    fn take(
        &mut self,
        operation: &Operation<'_>,
        weights: Option<&Weights>,
        points: &mut HashMap<String, Points>,
    ) {
        let counted = self.stacks.iter().map(|stack| operation.get(stack));
        let Some(counted) = counted.collect::<Option<Vec<_>>>() else {
            let any = self
                .stacks
                .iter()
                .any(|stack| operation.contains_key(stack));
            self.dropped += usize::from(any);
            return;
        };
        let active = counted.iter().flat_map(|(cell, ..)| &cell.active_lsms);
        self.modules.extend(active.cloned());
        // Keys are a hook and the system calls that may have called it.
        type Hooks<'a> = BTreeMap<(Vec<&'a str>, &'a str), Vec<PerCall>>;
        let mut hooks: Hooks<'_> = BTreeMap::new();
        let n = counted.len();
        for (at, (cell, path, program)) in counted.into_iter().enumerate() {
            for (calls, hook, per_call) in per_calls(cell, path, *program, weights) {
                let costs = hooks.entry((calls, hook));
                costs.or_insert_with(|| vec![PerCall::default(); n])[at] = per_call;
            }
        }
        for ((calls, hook), per_call) in hooks {
            let of_hook = points.entry(hook.to_owned()).or_default();
            let point = of_hook.all.len();
            of_hook.all.push(per_call);
            for &call in &calls {
                let [alone, among] = of_hook.by_call.entry(call.to_owned()).or_default();
                among.push(point);
                if calls.len() == 1 {
                    alone.push(point);
                }
            }
        }
    }

    /// The cost of a hook call in a system call: the median over the lab's operations that make
    /// only that system call, or else over those that also make others, or else over all operations
    /// that call the hook. The added cost is the difference between the medians under stack and
    /// baseline; its bounds are the extremes over all operations that call the hook. None if no
    /// operation calls it.
    pub fn of_call(&self, hook: &str, system_call: &str) -> Option<&Cost> {
        let own = self.by_call.get(hook)?.get(form(system_call));
        own.or_else(|| self.by_hook.get(hook))
    }
}

impl Points {
    /// Minimum and maximum of the added cost of any call, by stack.
    fn added(&self) -> Vec<[f64; 2]> {
        let stacks = self.all.first().map_or(0, Vec::len);
        let none = [f64::INFINITY, f64::NEG_INFINITY];
        let range = |at: usize| {
            self.all.iter().fold(none, |[low, high], calls| {
                let added = calls[at].instructions - calls[0].instructions;
                [low.min(added), high.max(added)]
            })
        };
        (0..stacks).map(range).collect()
    }

    fn cost(&self, basis: Basis, points: &[usize], added: &[[f64; 2]]) -> Cost {
        let calls = |at: usize| points.iter().map(move |&point| &self.all[point][at]);
        let medians: Vec<f64> = (0..added.len())
            .map(|at| median(calls(at).map(|call| call.instructions)))
            .collect();
        let ns = |at: usize| {
            let ns: Vec<f64> = calls(at).filter_map(|call| call.ns).collect();
            (!ns.is_empty()).then(|| median(ns))
        };
        let stacks = medians.iter().zip(added).enumerate();
        let modules = medians.iter().enumerate();
        Cost {
            basis,
            operations: points.len(),
            stacks: stacks
                .map(|(at, (&instructions, &[low, high]))| {
                    // Rounding could move the cost out of its bounds.
                    let middle = instructions - medians[0];
                    let added = Range {
                        low: low.min(middle),
                        middle,
                        high: high.max(middle),
                    };
                    CallCost {
                        instructions,
                        added: (at > 0).then_some(added),
                        ns: ns(at),
                    }
                })
                .collect(),
            modules: modules
                .map(|(at, &instructions)| modules_of(calls(at), instructions))
                .collect(),
        }
    }
}

fn modules_of<'a>(
    calls: impl Iterator<Item = &'a PerCall> + Clone,
    cost: f64,
) -> BTreeMap<String, f64> {
    let whole: f64 = calls.clone().map(|call| call.instructions).sum();
    let mut modules: BTreeMap<String, f64> = BTreeMap::new();
    if whole > 0.0 {
        for (module, part) in calls.flat_map(|call| &call.modules) {
            *modules.entry(module.clone()).or_default() += cost * part / whole;
        }
    }
    modules
}

/// Hooks of an operation, each with the forms of the system calls that may call it, and the cost of
/// a call. Nested hooks count as part of the outer one.
fn per_calls<'a>(
    cell: &'a Cell,
    path: &'a HookedPath,
    program: Option<&'a Program>,
    weights: Option<&Weights>,
) -> Vec<(Vec<&'a str>, &'a str, PerCall)> {
    let mut found = Vec::new();
    if let Some(program) = program {
        for entry in &program.entries {
            for hook in entry.hooks.iter().filter(|hook| hook.calls > 0) {
                let parts = hook.modules.iter();
                let parts = parts.map(|part| (part.module.as_str(), part.instructions));
                let cost = per_call(hook.calls, hook.instructions, hook.instructions, parts);
                found.push((vec![form(&entry.entry)], hook.hook.as_str(), cost));
            }
        }
        return found;
    }
    let calls: BTreeSet<&str> = cell.syscalls.iter().map(|call| form(call)).collect();
    for hook in path.hooks.iter().filter(|hook| hook.calls > 0) {
        let parts = hook.implementations.iter();
        let parts = parts.map(|part| (part.module.as_str(), part.inclusive));
        let mut cost = per_call(hook.calls, hook.outermost, hook.inclusive, parts);
        if let Some((weights, events)) = weights.zip(hook.events.as_ref()) {
            // Calls from another hook are part of that hook.
            let part = hook.outermost as f64 / hook.inclusive.max(1) as f64;
            let ns = weights.ns(hook.inclusive, events) * part;
            cost.ns = Some(ns / hook.calls as f64);
        }
        found.push((calls.iter().copied().collect(), hook.hook.as_str(), cost));
    }
    found
}

/// Counts the `own` instructions of all `calls`; modules' parts are fractions of `whole`.
fn per_call<'a>(
    calls: u64,
    own: u64,
    whole: u64,
    parts: impl Iterator<Item = (&'a str, u64)>,
) -> PerCall {
    let mut modules: BTreeMap<String, f64> = BTreeMap::new();
    if whole > 0 {
        let counted = own as f64 / whole as f64 / calls as f64;
        for (module, part) in parts {
            // A hostile file may have a part larger than the whole.
            let part = part.min(whole) as f64;
            *modules.entry(module.to_owned()).or_default() += part * counted;
        }
    }
    PerCall {
        instructions: own as f64 / calls as f64,
        ns: None,
        modules,
    }
}

fn hooked(documents: &[Document]) -> impl Iterator<Item = (usize, &Cell, &HookedPath)> {
    documents.iter().enumerate().flat_map(|(at, document)| {
        let hooked = document.hooked();
        hooked.map(move |(cell, _, path)| (at, cell, path))
    })
}

fn operations<'a>(documents: &'a [Document], release: &str) -> Vec<Operation<'a>> {
    let mut operations: BTreeMap<(usize, &str, &Subject), Operation<'a>> = BTreeMap::new();
    for (document, cell, path) in hooked(documents) {
        if cell.release != release {
            continue;
        }
        let key = (document, cell.key.filesystem.as_str(), &cell.key.subject);
        let program = cell.counted().and_then(|counted| counted.program.as_ref());
        let under = operations.entry(key).or_default();
        under.insert(cell.configuration_title(), (cell, path, program));
    }
    operations.into_values().collect()
}

pub(crate) fn unknown(what: String, name: &str, known: &[&str]) -> Failure {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("choose one of {}", known[..known.len().min(8)].join("; ")),
    };
    Failure::usage(what, hint)
}

fn release(documents: &[Document], wanted: &Wanted) -> Result<String, Failure> {
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, cell, _) in hooked(documents) {
        found.insert(&cell.release, &cell.key.kernel);
    }
    if found.is_empty() {
        return Err(Failure::usage(
            "the costs contain no hooks",
            "give a result file from `lsmeter profile`, or from `lsmeter run` with whole programs",
        ));
    }
    let known = || {
        let names: BTreeSet<&str> = found.values().copied().collect();
        names.into_iter().collect::<Vec<_>>()
    };
    let mut named = found.clone();
    if let Some(kernel) = &wanted.kernel {
        named.retain(|_, name| name == kernel);
        if named.is_empty() {
            let what = format!("the costs do not include the kernel `{kernel}`");
            return Err(unknown(what, kernel, &known()));
        }
    }
    if named.contains_key(&*wanted.release) {
        return Ok(wanted.release.clone());
    }
    match named.keys().collect::<Vec<_>>()[..] {
        [only] => Ok((*only).to_owned()),
        _ => Err(Failure::usage(
            format!(
                "the costs are from more than one kernel: {}",
                known().join(", ")
            ),
            "choose one with --kernel",
        )),
    }
}

fn stacks(documents: &[Document], release: &str, wanted: &Wanted) -> Result<Vec<String>, Failure> {
    // In file order, each with the title of its stack without the policy state.
    let mut known: Vec<(String, String)> = Vec::new();
    let mut seen = BTreeSet::new();
    for (_, cell, _) in hooked(documents).filter(|(_, cell, _)| cell.release == release) {
        let names = (cell.key.stack.join(","), cell.configuration_title());
        if seen.insert(names.clone()) {
            known.push(names);
        }
    }
    if known.len() > STACKS_LIMIT {
        return Err(Failure::usage(
            format!("the costs contain more than {STACKS_LIMIT} stacks"),
            "give result files with fewer stacks",
        ));
    }
    let states = |stack: &String| -> Result<Vec<String>, Failure> {
        let states = known
            .iter()
            .filter(|(name, title)| name == stack || title == stack);
        let states: Vec<String> = states.map(|(_, title)| title.clone()).collect();
        if states.is_empty() {
            let titles: Vec<&str> = known.iter().map(|(_, title)| title.as_str()).collect();
            let what = format!("the costs do not include the stack `{stack}`");
            return Err(unknown(what, stack, &titles));
        }
        Ok(states)
    };
    let own = documents.iter().find_map(|document| {
        let baseline = document.experiment.as_ref()?.baseline_configuration()?;
        let title = baseline.title();
        known
            .iter()
            .any(|(_, other)| *other == title)
            .then_some(title)
    });
    let baseline = wanted.baseline.as_ref().or(wanted.stacks.first());
    let mut chosen = match baseline.or(own.as_ref()) {
        Some(baseline) => states(baseline)?,
        None => known
            .iter()
            .take(1)
            .map(|(_, title)| title.clone())
            .collect(),
    };
    let others = match wanted.stacks.is_empty() {
        true => known.iter().map(|(_, title)| title.clone()).collect(),
        false => {
            let states = wanted.stacks.iter().map(states);
            states.collect::<Result<Vec<_>, _>>()?.concat()
        }
    };
    for title in others {
        if !chosen.contains(&title) {
            chosen.push(title);
        }
    }
    match &chosen[..] {
        [only] => Err(Failure::usage(
            format!("`{only}` is the only stack: there is no other to compare it with"),
            "name the baseline, then other stacks in the costs: --stack capability \
             --stack capability,selinux",
        )),
        _ => Ok(chosen),
    }
}
