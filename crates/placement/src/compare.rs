// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares with measurements: each hook that `lsmeter profile` saw must be in the static set, and
//! its count must not exceed the upper bound, and should be the success path's count.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, Document, Failure, HookedPath, path_components};

use crate::facts::{BenchmarkFact, Facts};
use crate::{
    Agreement, ComparedHook, Comparison, HookPart, PlacementDocument, Reach, SyscallPlacement,
};

/// The file systems on which profiles are to be compared, as in [`crate::Request::fs`].
pub fn file_systems(profiles: &Document) -> Result<BTreeSet<String>, Failure> {
    let facts = Facts::load(kernels::arch::native())?;
    let all = profiles.cells.iter();
    Ok(all
        .map(|cell| file_system(cell, facts.syscalls.benchmark(cell)))
        .collect())
}

fn file_system(cell: &Cell, fact: Option<&BenchmarkFact>) -> String {
    let below = &cell.key.filesystem;
    let mounted = fact.and_then(|fact| fact.fs.as_deref());
    mounted.map_or_else(|| below.to_string(), |fs| format!("{fs}:{below}"))
}

/// The caller must choose profiles of the same kernel; other file systems are skipped.
pub fn compare(profiles: &Document, placement: &PlacementDocument) -> Result<Comparison, Failure> {
    let facts = Facts::load(kernels::arch::native())?;
    let mut hooks = Vec::new();
    let mut skipped = BTreeMap::new();
    for (cell, _, path) in profiles.hooked() {
        match operation(cell, path, placement, &facts) {
            Ok(mut compared) => hooks.append(&mut compared),
            Err(reason) => {
                let operation = format!("{} on {}", cell.title(), cell.key.filesystem);
                skipped.insert(operation, reason);
            }
        }
    }
    Ok(Comparison::new(hooks, skipped))
}

fn operation(
    cell: &Cell,
    path: &HookedPath,
    placement: &PlacementDocument,
    facts: &Facts,
) -> Result<Vec<ComparedHook>, String> {
    let name = format!("{}:{}", cell.key.benchmark(), cell.key.variant());
    let fact = facts.syscalls.benchmark(cell);
    if let Some(reason) = fact.and_then(|fact| fact.skip.clone()) {
        return Err(reason);
    }
    let depth = fact
        .and_then(|fact| fact.depth)
        .unwrap_or_else(|| path_components(cell.key.variant()));
    let links = fact.map_or(0, |fact| fact.links);
    let calls = calls(cell, placement, fact)?;
    let expected = expected(&calls, &active(cell, placement));
    let mut measured: BTreeMap<&str, u64> = BTreeMap::new();
    for hook in &path.hooks {
        *measured.entry(&hook.hook).or_default() += hook.calls;
    }
    let names: BTreeSet<&str> = expected.keys().chain(measured.keys()).copied().collect();
    let compared = names.into_iter().map(|hook| {
        let reach = expected.get(hook).copied().unwrap_or_default();
        let measured = measured.get(hook).copied().unwrap_or(0);
        let success_path = reach.success_path.at(depth, links).unwrap_or(u64::MAX);
        let max = reach.max.at(depth, links);
        ComparedHook {
            operation: name.clone(),
            filesystem: file_system(cell, fact),
            hook: hook.to_owned(),
            measured,
            success_path,
            max,
            agreement: agreement(measured, success_path, max, reach.max.is_zero()),
        }
    });
    let called = compared.filter(|hook| hook.measured > 0 || hook.success_path > 0);
    Ok(called.collect())
}

/// Modules that were active, and those that the kernel calls without the framework.
fn active<'a>(cell: &'a Cell, placement: &'a PlacementDocument) -> BTreeSet<&'a str> {
    let direct = placement.modules.iter().filter(|module| module.direct);
    let direct = direct.map(|module| &module.module);
    let active = cell.active_lsms.iter().chain(direct);
    active.map(String::as_str).collect()
}

fn expected<'p>(
    calls: &[&'p SyscallPlacement],
    active: &BTreeSet<&str>,
) -> BTreeMap<&'p str, Reach> {
    let mut expected: BTreeMap<&str, Reach> = BTreeMap::new();
    for hook in calls.iter().flat_map(|call| &call.hooks) {
        let run = |part: &HookPart| match part {
            HookPart::Own | HookPart::Teardown => true,
            HookPart::Inside(modules) => modules.split('+').all(|module| active.contains(module)),
        };
        let sum = expected.entry(&hook.hook).or_default();
        for (_, reach) in hook.parts().filter(|(part, _)| run(part)) {
            sum.success_path = sum.success_path.plus(reach.success_path);
            sum.max = sum.max.plus(reach.max);
        }
    }
    expected
}

fn agreement(measured: u64, success_path: u64, max: Option<u64>, never: bool) -> Agreement {
    match measured {
        _ if never => Agreement::Unknown,
        _ if max.is_some_and(|max| measured > max) => Agreement::AboveMaximum,
        0 => Agreement::FalseAlarm,
        _ if success_path == 0 => Agreement::Missed,
        _ if success_path == measured => Agreement::Exact,
        _ if success_path > measured => Agreement::Over,
        _ => Agreement::Under,
    }
}

fn calls<'p>(
    cell: &Cell,
    placement: &'p PlacementDocument,
    fact: Option<&BenchmarkFact>,
) -> Result<Vec<&'p SyscallPlacement>, String> {
    let filesystem = file_system(cell, fact);
    let mut calls = Vec::new();
    for (number, syscall) in cell.syscalls.iter().enumerate() {
        if fact.is_some_and(|fact| fact.without.contains(syscall)) {
            continue;
        }
        let case = fact.and_then(|fact| fact.cases.get(number));
        let case = case.map_or("", String::as_str);
        let found = placement.syscalls.iter().find(|call| {
            call.syscall == *syscall && call.filesystem == filesystem && call.case == case
        });
        let what = if case.is_empty() {
            String::new()
        } else {
            format!(" ({case})")
        };
        calls.push(found.ok_or_else(|| {
            format!("the placement does not contain {syscall}{what} on {filesystem}")
        })?);
    }
    Ok(calls)
}
