// SPDX-License-Identifier: GPL-2.0-or-later
//! Soundness against measurement: each hook that `lsmeter profile` saw must be in the
//! static set, its count not above the maximum, and the nominal count should be the
//! measured one.

use std::collections::{BTreeMap, BTreeSet};

use experiment::{Cell, Document, HookedPath, path_components};

use crate::error::PlacementError;
use crate::facts::{BenchmarkFact, Facts, matches_any};
use crate::{
    Agreement, ComparedHook, Comparison, Count, PlacementDocument, Reach, SyscallPlacement,
};

/// Compares profiles with the placement of the same kernel. Which profiles are of that
/// kernel is the caller's to choose; those of another file system are skipped.
///
/// # Errors
/// [`PlacementError::BadFacts`], which is a fault of lsmeter.
pub fn compare(
    profiles: &Document,
    placement: &PlacementDocument,
) -> Result<Comparison, PlacementError> {
    let facts = Facts::load()?;
    let mut hooks = Vec::new();
    let mut skipped = BTreeMap::new();
    for (cell, _, path) in profiles.hooked() {
        match operation(cell, path, placement, &facts) {
            Ok(mut compared) => hooks.append(&mut compared),
            Err(reason) => {
                skipped.insert(
                    format!("{} on {}", cell.title(), cell.key.filesystem),
                    reason,
                );
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
    let fact = facts
        .syscalls
        .benchmark
        .iter()
        .find(|fact| matches_any(std::slice::from_ref(&fact.benchmark), &name));
    if let Some(reason) = fact.and_then(|fact| fact.skip.clone()) {
        return Err(reason);
    }
    let depth = fact
        .and_then(|fact| fact.depth)
        .unwrap_or_else(|| path_components(cell.key.variant()));
    let links = fact.map_or(0, |fact| fact.links);
    let calls = calls(cell, placement, fact)?;
    let direct = placement
        .modules
        .iter()
        .filter(|module| module.direct)
        .map(|module| module.module.as_str());
    let active: BTreeSet<&str> = cell
        .active_lsms
        .iter()
        .map(String::as_str)
        .chain(direct)
        .collect();

    let mut expected: BTreeMap<&str, Reach> = BTreeMap::new();
    for call in calls {
        for hook in &call.hooks {
            let its = |modules: &String| modules.split('+').all(|module| active.contains(module));
            let nested = hook
                .nested
                .iter()
                .filter(|(modules, _)| its(modules))
                .map(|(_, reach)| *reach);
            let own = Reach {
                nominal: hook.nominal,
                max: hook.max,
            };
            let sum = expected.entry(&hook.hook).or_default();
            for reach in nested.chain([own, hook.teardown]) {
                sum.nominal = sum.nominal.plus(reach.nominal);
                sum.max = sum.max.plus(reach.max);
            }
        }
    }
    let mut measured: BTreeMap<&str, u64> = BTreeMap::new();
    for hook in &path.hooks {
        *measured.entry(&hook.hook).or_default() += hook.calls;
    }
    let names: BTreeSet<&str> = expected.keys().chain(measured.keys()).copied().collect();
    let compared = names.into_iter().filter_map(|hook| {
        let reach = expected.get(hook).copied();
        let measured = measured.get(hook).copied().unwrap_or(0);
        let nominal = reach
            .map_or(Count::ZERO, |reach| reach.nominal)
            .at(depth, links)
            .unwrap_or(u64::MAX);
        let max = reach
            .map_or(Count::ZERO, |reach| reach.max)
            .at(depth, links);
        if measured == 0 && nominal == 0 {
            return None;
        }
        let agreement = match measured {
            _ if reach.is_none_or(|reach| reach.max.is_zero()) => Agreement::Unknown,
            _ if max.is_some_and(|max| measured > max) => Agreement::AboveMaximum,
            0 => Agreement::FalseAlarm,
            _ if nominal == 0 => Agreement::Missed,
            _ if nominal == measured => Agreement::Exact,
            _ if nominal > measured => Agreement::Over,
            _ => Agreement::Under,
        };
        Some(ComparedHook {
            operation: name.clone(),
            filesystem: cell.key.filesystem.clone(),
            hook: hook.to_owned(),
            measured,
            nominal,
            max,
            agreement,
        })
    });
    Ok(compared.collect())
}

/// The placements of an operation's system calls, in order.
fn calls<'p>(
    cell: &Cell,
    placement: &'p PlacementDocument,
    fact: Option<&BenchmarkFact>,
) -> Result<Vec<&'p SyscallPlacement>, String> {
    let filesystem = &cell.key.filesystem;
    let mut calls = Vec::new();
    for (number, syscall) in cell.syscalls.iter().enumerate() {
        if fact.is_some_and(|fact| fact.without.contains(syscall)) {
            continue;
        }
        let case = fact
            .and_then(|fact| fact.cases.get(number))
            .map_or("", String::as_str);
        let found = placement.syscalls.iter().find(|call| {
            call.syscall == *syscall && call.filesystem == *filesystem && call.case == case
        });
        let what = if case.is_empty() {
            String::new()
        } else {
            format!(" ({case})")
        };
        calls.push(
            found.ok_or_else(|| format!("the placement has no {syscall}{what} on {filesystem}"))?,
        );
    }
    Ok(calls)
}
