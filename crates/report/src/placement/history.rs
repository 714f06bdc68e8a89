// SPDX-License-Identifier: GPL-2.0-or-later
//! Placements of many versions: tables, and rows to plot.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use experiment::placement::{Count, ModuleSize, PlacementHistory, PlacementVersion, SyscallReach};

use super::names;
use crate::csv::{CsvError, text};
use crate::format::count;
use crate::table::{Align, Column, Report, Row, TEXT_LIMIT, Table, Value};
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
    let mut tables = vec![framework(history)];
    tables.push(modules(history, "Hooks by module", |module| {
        u64::from(module.hooks)
    }));
    tables.push(modules(history, "Lines of code by module", |module| {
        module.loc
    }));
    tables.extend(reach(history, "nominally", options, |reach| reach.nominal));
    if options.reach {
        tables.extend(reach(history, "at most", options, |reach| reach.max));
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

fn plain(values: Vec<Value>) -> Row {
    Row {
        values,
        summary: false,
    }
}

fn number(value: u64) -> Value {
    Value::plain(count(value))
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

/// A row for each version, under its label.
fn rows(history: &PlacementHistory, values: impl Fn(&PlacementVersion) -> Vec<Value>) -> Vec<Row> {
    let labelled = labels(history).into_iter().zip(&history.versions);
    let row = |(label, version)| {
        let label = Value::plain(label);
        plain([label].into_iter().chain(values(version)).collect())
    };
    labelled.map(row).collect()
}

fn framework(history: &PlacementHistory) -> Table {
    let values = |version: &PlacementVersion| {
        let framework = &version.framework;
        let changed = |names: &[String]| match names.len() as u64 {
            0 => Value::default(),
            n => number(n),
        };
        let listed: Vec<String> = (version.since.added.iter().map(|name| format!("+{name}")))
            .chain(version.since.removed.iter().map(|name| format!("-{name}")))
            .collect();
        vec![
            number(u64::from(framework.hooks)),
            number(u64::from(framework.unconditional)),
            number(framework.loc),
            changed(&version.since.added),
            changed(&version.since.removed),
            Value::plain(names(&listed)),
        ]
    };
    let mut columns = vec![Column::new("version", Align::Left)];
    let titles = ["hooks", "general", "lines", "added", "removed"];
    columns.extend(titles.map(|title| Column::figures(title, None)));
    columns.push(Column::new("which", Align::Left));
    Table {
        title: "The framework, version by version".to_owned(),
        legend: vec![
            "general: hooks outside every #if; lines: of code in security/, without blank ones \
             and comments; added, removed: against the version above."
                .to_owned(),
        ],
        columns,
        fixed_columns: 1,
        rows: rows(history, values),
        footnotes: Vec::new(),
    }
}

/// Versions in rows, modules in columns.
fn modules(history: &PlacementHistory, title: &str, figure: impl Fn(&ModuleSize) -> u64) -> Table {
    let versions = &history.versions;
    let mut all: Vec<&str> = Vec::new();
    for module in versions.iter().flat_map(|version| &version.modules) {
        if !all.contains(&module.module.as_str()) {
            all.push(&module.module);
        }
    }
    all.sort_unstable();
    let values = |version: &PlacementVersion| {
        let of = |wanted: &&str| {
            let found = version.modules.iter().find(|m| m.module == *wanted);
            found.map_or_else(Value::default, |module| number(figure(module)))
        };
        all.iter().map(of).collect()
    };
    let mut columns = vec![Column::new("version", Align::Left)];
    let titles = all.iter().map(|module| printable(module, TEXT_LIMIT));
    columns.extend(titles.map(|title| Column::figures(title, None)));
    Table {
        title: title.to_owned(),
        legend: Vec::new(),
        columns,
        fixed_columns: 1,
        rows: rows(history, values),
        footnotes: Vec::new(),
    }
}

/// System calls in rows, versions in columns; None if there are no system calls.
fn reach(
    history: &PlacementHistory,
    what: &str,
    options: &PlacementHistoryOptions,
    figure: impl Fn(&SyscallReach) -> Count,
) -> Option<Table> {
    let versions = &history.versions;
    let mut order: Vec<(&str, &str, &str)> = Vec::new();
    let mut found: BTreeMap<(&str, &str, &str), Vec<Option<&SyscallReach>>> = BTreeMap::new();
    for (at, version) in versions.iter().enumerate() {
        for reach in &version.reach {
            let key = (&*reach.fs, &*reach.syscall, &*reach.case);
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
        let mut counts = of.iter().map(|reach| reach.map(&figure));
        let first = counts.next();
        counts.all(|count| Some(count) == first)
    };
    order.retain(|key| options.reach || !same(&found[key]));
    if all == 0 {
        return None;
    }
    let systems: BTreeSet<&str> = found.keys().map(|key| key.0).collect();
    let rows = order.iter().map(|key| {
        let of = &found[key];
        let title = of.iter().flatten().next().map(|reach| reach.title());
        let title = printable(&title.unwrap_or_default(), TEXT_LIMIT);
        let title = match systems.len() {
            1 => title,
            _ => format!("{title} on {}", printable(key.0, TEXT_LIMIT)),
        };
        let values = of.iter().map(|reach| {
            reach.map_or_else(Value::default, |reach| {
                Value::plain(figure(reach).to_string())
            })
        });
        plain([Value::plain(title)].into_iter().chain(values).collect())
    });
    let rows: Vec<Row> = rows.collect();
    let mut legend = vec![super::syscalls::VARIABLES.to_owned()];
    let left_out = all - rows.len();
    if left_out > 0 {
        legend.push(format!(
            "{} of {} system calls are the same in all versions: --reach shows them.",
            count(left_out as u64),
            count(all as u64)
        ));
    }
    let on = match systems.iter().collect::<Vec<_>>()[..] {
        [fs] => format!(", {}", printable(fs, TEXT_LIMIT)),
        _ => String::new(),
    };
    let mut columns = vec![Column::new("system call", Align::Left)];
    let labels = labels(history).into_iter();
    columns.extend(labels.map(|label| Column::figures(label, None)));
    Some(Table {
        title: format!("Calls of hooks by system call, {what}{on}"),
        legend,
        columns,
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    })
}

/// The columns of a history, in order. A later version may append some; it keeps these.
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
pub const PLACEMENT_HISTORY_CSV_COLUMNS: [&str; 21] = [
    "number",
    "version",
    "tree",
    "level",
    "module",
    "syscall",
    "case",
    "fs",
    "hooks",
    "unconditional",
    "file_accessing",
    "loc",
    "added",
    "removed",
    "reachable",
    "nominal",
    "max",
    "teardown",
    "nominal_constant",
    "nominal_depth",
    "nominal_links",
];

/// Writes a heading line, then for each version one line for the framework, one for each
/// module and one for each system call.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn placement_history_csv(
    history: &PlacementHistory,
    writer: impl Write,
) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(PLACEMENT_HISTORY_CSV_COLUMNS)?;
    for (number, version) in (1u64..).zip(&history.versions) {
        let record = |level: &str| {
            let mut record: [String; 21] = Default::default();
            record[0] = number.to_string();
            record[1] = text(&version.version);
            record[2] = text(&version.tree);
            record[3] = level.to_owned();
            record
        };
        let mut row = record("framework");
        row[8] = version.framework.hooks.to_string();
        row[9] = version.framework.unconditional.to_string();
        row[11] = version.framework.loc.to_string();
        row[12] = version.since.added.len().to_string();
        row[13] = version.since.removed.len().to_string();
        out.write_record(&row)?;
        for module in &version.modules {
            let mut row = record("module");
            row[4] = text(&module.module);
            row[8] = module.hooks.to_string();
            row[9] = module.unconditional.to_string();
            row[10] = module.file_accessing.to_string();
            row[11] = module.loc.to_string();
            out.write_record(&row)?;
        }
        for reach in &version.reach {
            out.write_record(of_call(record("system call"), reach))?;
        }
    }
    out.flush()?;
    Ok(())
}

fn of_call(mut row: [String; 21], reach: &SyscallReach) -> [String; 21] {
    row[5] = text(&reach.syscall);
    row[6] = text(&reach.case);
    row[7] = text(&reach.fs);
    row[8] = reach.hooks.to_string();
    row[14] = reach.reachable.to_string();
    row[15] = reach.nominal.to_string();
    row[16] = reach.max.to_string();
    row[17] = reach.teardown.to_string();
    if !reach.nominal.unbounded {
        row[18] = reach.nominal.constant.to_string();
        row[19] = reach.nominal.depth.to_string();
        row[20] = reach.nominal.links.to_string();
    }
    row
}
