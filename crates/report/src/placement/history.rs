// SPDX-License-Identifier: GPL-2.0-or-later
//! Placements of many versions: tables, and rows to plot.

use std::collections::{BTreeMap, BTreeSet};

use experiment::placement::{
    Count, ModuleSize, NameChanges, PlacementHistory, PlacementVersion, SyscallReach,
};

use super::{on, renamed};
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
    Columns::new()
        .left("version", |(label, _): Labelled<'_>| label)
        .column("hooks", |(_, version)| version.framework.hooks)
        .column("general", |(_, version)| version.framework.unconditional)
        .column("lines", |(_, version)| version.framework.loc)
        .column("added", move |(_, version)| changed(&version.since.added))
        .column("removed", move |(_, version)| {
            changed(&version.since.removed)
        })
        .left("which", |(_, version)| renamed(&version.since))
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
        let title = title.unwrap_or_default();
        match one {
            true => printable(&title, TEXT_LIMIT),
            false => on(&title, fs),
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

/// What a row says of a version: of its framework, of a module or of a system call.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: u64,
    version: &'a PlacementVersion,
    level: &'static str,
    hooks: u32,
    unconditional: Option<u32>,
    loc: Option<u64>,
    since: Option<&'a NameChanges>,
    module: Option<&'a ModuleSize>,
    call: Option<&'a SyscallReach>,
}

impl Line<'_> {
    /// The parts of a count on the nominal path, if it has a bound.
    fn bounded(self) -> Option<Count> {
        Some(self.call?.nominal).filter(|nominal| !nominal.unbounded)
    }
}

fn lines((number, version): (u64, &PlacementVersion)) -> impl Iterator<Item = Line<'_>> {
    let (framework, since) = (&version.framework, Some(&version.since));
    let whole = Line {
        number,
        version,
        level: "framework",
        hooks: framework.hooks,
        unconditional: Some(framework.unconditional),
        loc: Some(framework.loc),
        since,
        module: None,
        call: None,
    };
    let modules = version.modules.iter().map(move |module| Line {
        level: "module",
        hooks: module.hooks,
        unconditional: Some(module.unconditional),
        loc: Some(module.loc),
        since: None,
        module: Some(module),
        ..whole
    });
    let calls = version.reach.iter().map(move |call| Line {
        level: "system call",
        hooks: call.hooks,
        unconditional: None,
        loc: None,
        since: None,
        call: Some(call),
        ..whole
    });
    std::iter::once(whole).chain(modules).chain(calls)
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
    Columns::new()
        .column("number", |line: Line<'_>| line.number)
        .column("version", |line| &line.version.version)
        .column("tree", |line| &line.version.tree)
        .column("level", |line| line.level)
        .column("module", |line| Some(&line.module?.module))
        .column("syscall", |line| Some(&line.call?.syscall))
        .column("case", |line| Some(&line.call?.case))
        .column("fs", |line| Some(&line.call?.filesystem))
        .column("hooks", |line| line.hooks)
        .column("unconditional", |line| line.unconditional)
        .column("file_accessing", |line| Some(line.module?.file_accessing))
        .column("loc", |line| line.loc)
        .column("added", |line| Some(line.since?.added.len()))
        .column("removed", |line| Some(line.since?.removed.len()))
        .column("reachable", |line| Some(line.call?.reachable))
        .column("nominal", |line| Some(line.call?.nominal.to_string()))
        .column("max", |line| Some(line.call?.max.to_string()))
        .column("teardown", |line| Some(line.call?.teardown.to_string()))
        .column("nominal_constant", |line| Some(line.bounded()?.constant))
        .column("nominal_depth", |line| Some(line.bounded()?.depth))
        .column("nominal_links", |line| Some(line.bounded()?.links))
        .records((1..).zip(&history.versions).flat_map(lines))
}
