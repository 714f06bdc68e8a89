// SPDX-License-Identifier: GPL-2.0-or-later
//! Placements of many versions: tables, and rows to plot.

use std::collections::{BTreeMap, BTreeSet};

use experiment::placement::{Count, ModuleSize, PlacementHistory, PlacementVersion, SyscallReach};

use super::names;
use crate::column::{Columns, Records};
use crate::format::count;
use crate::table::{Report, TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// What a report of a history shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlacementHistoryOptions {
    /// Also system calls that are the same in all versions, and counts at most.
    pub reach: bool,
}

/// Hooks, lines, and what system calls reach, version by version.
pub fn placement_history_report(
    history: &PlacementHistory,
    options: &PlacementHistoryOptions,
) -> Report {
    let labels = labels(history);
    let by_module = |title, figure| modules(history, &labels, title, figure);
    let mut tables = vec![
        framework(history, &labels),
        by_module("Hooks by module", |module| u64::from(module.hooks)),
        by_module("Lines of code by module", |module| module.loc),
    ];
    let reach = |what, figure| reach(history, &labels, what, options, figure);
    tables.extend(reach("nominally", |reach| reach.nominal));
    if options.reach {
        tables.extend(reach("at most", |reach| reach.max));
    }
    let skipped = history.skipped.iter().map(|skipped| {
        format!(
            "not analysed: {}: {}",
            printable(&skipped.tree, 200),
            printable(&skipped.reason, 200)
        )
    });
    Report {
        tables,
        warnings: skipped.collect(),
    }
}

/// What tells versions apart: their numbers, or if two have the same, revisions or trees.
fn labels(history: &PlacementHistory) -> Vec<String> {
    let numbers: BTreeSet<&str> = history.versions.iter().map(|v| &*v.version).collect();
    let unique = numbers.len() == history.versions.len();
    let label = |version: &PlacementVersion| {
        let behind = |at| version.tree.rsplit_once(at).map(|(_, behind)| behind);
        let other = behind('@').or_else(|| behind('/')).unwrap_or(&version.tree);
        printable(if unique { &version.version } else { other }, TEXT_LIMIT)
    };
    history.versions.iter().map(label).collect()
}

/// A version and what it is called.
type Labelled<'a> = (&'a String, &'a PlacementVersion);

fn framework(history: &PlacementHistory, labels: &[String]) -> Table {
    let changed = |names: &[String]| Some(names.len()).filter(|n| *n > 0);
    let listed = |version: &PlacementVersion| {
        let signed = |sign| move |name: &String| format!("{sign}{name}");
        let added = version.since.added.iter().map(signed('+'));
        let removed = version.since.removed.iter().map(signed('-'));
        names(&added.chain(removed).collect::<Vec<_>>())
    };
    Columns::new()
        .left("version", |(label, _): Labelled<'_>| label)
        .column("hooks", |(_, version)| version.framework.hooks)
        .column("general", |(_, version)| version.framework.unconditional)
        .column("lines", |(_, version)| version.framework.loc)
        .column("added", move |(_, version)| changed(&version.since.added))
        .column("removed", move |(_, version)| {
            changed(&version.since.removed)
        })
        .left("which", move |(_, version)| listed(version))
        .table(
            "The framework, version by version",
            labels.iter().zip(&history.versions),
        )
        .legend([
            "general: hooks outside every #if; lines: of code in security/, without blank ones \
             and comments; added, removed: against the version above.",
        ])
}

/// Versions in rows, modules in columns.
fn modules(
    history: &PlacementHistory,
    labels: &[String],
    title: &str,
    figure: fn(&ModuleSize) -> u64,
) -> Table {
    let versions = &history.versions;
    let all = versions.iter().flat_map(|version| &version.modules);
    let all: BTreeSet<&str> = all.map(|module| module.module.as_str()).collect();
    let mut columns = Columns::new().left("version", |(label, _): Labelled<'_>| label);
    for wanted in all {
        columns = columns.column(printable(wanted, TEXT_LIMIT), move |(_, version)| {
            let mut modules = version.modules.iter();
            Some(figure(modules.find(|module| module.module == wanted)?))
        });
    }
    columns.table(title, labels.iter().zip(versions))
}

/// System calls in rows, versions in columns; None if there are no system calls.
fn reach(
    history: &PlacementHistory,
    labels: &[String],
    what: &str,
    options: &PlacementHistoryOptions,
    figure: fn(&SyscallReach) -> Count,
) -> Option<Table> {
    let versions = &history.versions;
    let mut order: Vec<(&str, &str, &str)> = Vec::new();
    let mut found: BTreeMap<(&str, &str, &str), Vec<Option<&SyscallReach>>> = BTreeMap::new();
    for (at, version) in versions.iter().enumerate() {
        for reach in &version.reach {
            let key = (&*reach.filesystem, &*reach.syscall, &*reach.case);
            let of = found.entry(key).or_insert_with(|| {
                order.push(key);
                vec![None; versions.len()]
            });
            of[at] = Some(reach);
        }
    }
    order.sort_by_key(|key| key.0);
    let all = order.len();
    let same = |of: &[Option<&SyscallReach>]| {
        let mut counts = of.iter().map(|reach| reach.map(figure));
        let first = counts.next();
        counts.all(|count| Some(count) == first)
    };
    order.retain(|key| options.reach || !same(&found[key]));
    if all == 0 {
        return None;
    }
    let systems: BTreeSet<&str> = found.keys().map(|key| key.0).collect();
    let one = systems.len() == 1;
    let title = |fs: &str, of: &[Option<&SyscallReach>]| {
        let title = of.iter().flatten().next().map(|reach| reach.title());
        let title = printable(&title.unwrap_or_default(), TEXT_LIMIT);
        match one {
            true => title,
            false => format!("{title} on {}", printable(fs, TEXT_LIMIT)),
        }
    };
    type OfCall<'a> = (&'a str, &'a Vec<Option<&'a SyscallReach>>);
    let mut columns = Columns::new().left("system call", |(fs, of): OfCall<'_>| {
        Value::plain(title(fs, of))
    });
    for (at, label) in labels.iter().enumerate() {
        columns = columns.right(label, move |(_, of)| Some(figure(of[at]?).to_string()));
    }
    let on = match systems.first() {
        Some(fs) if one => format!(", {}", printable(fs, TEXT_LIMIT)),
        _ => String::new(),
    };
    let rows = order.iter().map(|key| (key.0, &found[key]));
    let table = columns
        .table(format!("Calls of hooks by system call, {what}{on}"), rows)
        .legend([super::syscalls::VARIABLES]);
    Some(match all - order.len() {
        0 => table,
        left_out => table.legend([format!(
            "{} of {} system calls are the same in all versions: --reach shows them.",
            count(left_out as u64),
            count(all as u64)
        )]),
    })
}

/// What a row is about: a version's framework, a module or a system call.
#[derive(Clone, Copy)]
enum Level<'a> {
    Framework,
    Module(&'a ModuleSize),
    Call(&'a SyscallReach),
}

/// A version's number and the version, with what a row says of it.
type Line<'a> = (u64, &'a PlacementVersion, Level<'a>);

fn module<'a>((.., level): Line<'a>) -> Option<&'a ModuleSize> {
    match level {
        Level::Module(module) => Some(module),
        _ => None,
    }
}

fn call<'a>((.., level): Line<'a>) -> Option<&'a SyscallReach> {
    match level {
        Level::Call(call) => Some(call),
        _ => None,
    }
}

fn whole<'a>((_, version, level): Line<'a>) -> Option<&'a PlacementVersion> {
    matches!(level, Level::Framework).then_some(version)
}

/// The parts of a count on the nominal path, if it has a bound.
fn bounded(line: Line<'_>) -> Option<Count> {
    Some(call(line)?.nominal).filter(|nominal| !nominal.unbounded)
}

/// For each version a row for the framework, one for each module and one for each system call. A
/// later version may append columns; it keeps these.
///
/// - `number`, `version`, `tree`: which version, from 1 in the order asked for.
/// - `level`: what the row is about: the `framework`, a `module` or a `system call`.
/// - `module`: of that level; `syscall`, `case`, `fs`: of the last.
/// - `hooks`, `unconditional`, `file_accessing`, `loc`: numbers of hooks, of them outside
///   every `#if` and on files, lines of code; of system calls, hooks on the nominal path.
/// - `added`, `removed`: hooks, against the version before.
/// - `reachable`: of system calls, hooks on any path.
/// - `nominal`, `max`, `teardown`: counts such as `2D+S+1`.
/// - `nominal_constant`, `nominal_depth`, `nominal_links`: the parts of `nominal`, for a plot.
pub fn placement_history_records(history: &PlacementHistory) -> Records<'_> {
    let lines = (1u64..)
        .zip(&history.versions)
        .flat_map(|(number, version)| {
            let modules = version.modules.iter().map(Level::Module);
            let calls = version.reach.iter().map(Level::Call);
            let levels = std::iter::once(Level::Framework)
                .chain(modules)
                .chain(calls);
            levels.map(move |level| (number, version, level))
        });
    let of = |whole: Option<u32>, module: Option<u32>, call: Option<u32>| whole.or(module).or(call);
    Columns::new()
        .column("number", |(number, ..): Line<'_>| number)
        .column("version", |(_, version, _)| &version.version)
        .column("tree", |(_, version, _)| &version.tree)
        .column("level", |(.., level)| match level {
            Level::Framework => "framework",
            Level::Module(_) => "module",
            Level::Call(_) => "system call",
        })
        .column("module", |line| module(line).map(|of| &of.module))
        .column("syscall", |line| call(line).map(|of| &of.syscall))
        .column("case", |line| call(line).map(|of| &of.case))
        .column("fs", |line| call(line).map(|of| &of.filesystem))
        .column("hooks", move |line| {
            let whole = whole(line).map(|of| of.framework.hooks);
            of(
                whole,
                module(line).map(|of| of.hooks),
                call(line).map(|of| of.hooks),
            )
        })
        .column("unconditional", move |line| {
            let whole = whole(line).map(|of| of.framework.unconditional);
            of(whole, module(line).map(|of| of.unconditional), None)
        })
        .column("file_accessing", |line| {
            module(line).map(|of| of.file_accessing)
        })
        .column("loc", |line| {
            let whole = whole(line).map(|of| of.framework.loc);
            whole.or(module(line).map(|of| of.loc))
        })
        .column("added", |line| whole(line).map(|of| of.since.added.len()))
        .column("removed", |line| {
            whole(line).map(|of| of.since.removed.len())
        })
        .column("reachable", |line| call(line).map(|of| of.reachable))
        .column("nominal", |line| {
            call(line).map(|of| of.nominal.to_string())
        })
        .column("max", |line| call(line).map(|of| of.max.to_string()))
        .column("teardown", |line| {
            call(line).map(|of| of.teardown.to_string())
        })
        .column("nominal_constant", |line| {
            bounded(line).map(|of| of.constant)
        })
        .column("nominal_depth", |line| bounded(line).map(|of| of.depth))
        .column("nominal_links", |line| bounded(line).map(|of| of.links))
        .records(lines)
}
