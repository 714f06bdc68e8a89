// SPDX-License-Identifier: GPL-2.0-or-later
//! What differs between two placements, for whoever reviews what made the difference.

use std::io::Write;

use experiment::placement::{
    Count, HookChange, HookDifference, HookPart, NameChanges, PlacementDifference, PlacementSide,
    Side, SyscallDifference,
};

use super::{name, names};
use crate::csv::{CsvError, text};
use crate::format::{count, difference as signed};
use crate::table::{Align, Column, Report, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

/// Longest call string, in characters.
const CALLS_LIMIT: usize = 400;
/// System calls that an answer names.
const NAMED: usize = 8;

/// What a report of a difference shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DifferenceOptions {
    /// Also hooks of which only the reach beside the nominal path or the maximum differ.
    pub reach: bool,
    /// Also the call strings that lead to hooks anew and no longer.
    pub trace: bool,
}

/// The answer, then what differs: in the framework, in modules, in system calls.
pub fn difference_report(document: &PlacementDifference, options: &DifferenceOptions) -> Report {
    let mut tables = vec![sides(document)];
    tables.extend(modules(document));
    tables.extend(changes(document, options));
    if options.trace {
        tables.extend(calls(document));
    }
    Report {
        tables,
        warnings: Vec::new(),
    }
}

fn sides(document: &PlacementDifference) -> Table {
    let PlacementDifference {
        before,
        after,
        framework,
        ..
    } = document;
    let row = |what: &str, side: &PlacementSide| {
        vec![
            Value::plain(what),
            name(&side.version),
            Value::plain(count(u64::from(side.hooks))),
            Value::plain(count(side.loc)),
            Value::plain(printable(&side.tree, 200)),
        ]
    };
    let rows = [row("before", before), row("after", after)];
    let hooks = i128::from(after.hooks) - i128::from(before.hooks);
    let lines = i128::from(after.loc) - i128::from(before.loc);
    let change = vec![
        Value::plain("change"),
        Value::default(),
        Value::plain(signed(hooks)),
        Value::plain(signed(lines)),
        Value::plain(renamed(framework)),
    ];
    let mut rows: Vec<Row> = rows.into_iter().map(plain).collect();
    rows.push(Row {
        values: change,
        summary: true,
    });
    let mut legend = vec![answer(document)];
    legend.extend(only(document));
    Table {
        title: format!(
            "Linux {}: hooks and what reaches them",
            match before.version == after.version {
                true => format!("{}, two trees", printable(&before.version, TEXT_LIMIT)),
                false => [before, after]
                    .map(|side| printable(&side.version, TEXT_LIMIT))
                    .join(" and "),
            }
        ),
        legend,
        columns: vec![
            Column::new("", Align::Left),
            Column::new("version", Align::Left),
            Column::figures("hooks", None),
            Column::figures("lines", None),
            Column::new("tree", Align::Left),
        ],
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    }
}

fn plain(values: Vec<Value>) -> Row {
    Row {
        values,
        summary: false,
    }
}

/// `+new_hook, -old_hook`.
fn renamed(changes: &NameChanges) -> String {
    let signed = |sign: char| move |name: &String| format!("{sign}{name}");
    let added = changes.added.iter().map(signed('+'));
    let all: Vec<String> = added
        .chain(changes.removed.iter().map(signed('-')))
        .collect();
    names(&all)
}

/// Does any system call ask more than it did?
fn answer(document: &PlacementDifference) -> String {
    let compared = count(u64::from(document.compared));
    let asking: Vec<String> = document.asking_more().map(title).collect();
    match asking.len() {
        0 => format!(
            "No system call asks a hook on its nominal path that it did not ask, or more often \
             ({compared} compared)."
        ),
        n => {
            let more = n.saturating_sub(NAMED);
            let more = match more {
                0 => String::new(),
                more => format!(" and {} more", count(more as u64)),
            };
            format!(
                "{} of {compared} system calls ask more hooks on their nominal path, or more often: \
                 {}{more}.",
                count(n as u64),
                asking[..n.min(NAMED)].join(", ")
            )
        }
    }
}

/// System calls that cannot be compared.
fn only(document: &PlacementDifference) -> Vec<String> {
    let of = |side: Side, what: &str| {
        let calls = document.changes.iter();
        let its: Vec<String> = calls
            .filter(|call| call.only == Some(side))
            .map(title)
            .collect();
        (!its.is_empty()).then(|| format!("Only {what}: {}.", names(&its)))
    };
    [of(Side::Before, "before"), of(Side::After, "after")]
        .into_iter()
        .flatten()
        .collect()
}

/// `open (missing) on ext4`.
fn title(call: &SyscallDifference) -> String {
    format!(
        "{} on {}",
        printable(&call.title(), TEXT_LIMIT),
        printable(&call.fs, TEXT_LIMIT)
    )
}

fn modules(document: &PlacementDifference) -> Option<Table> {
    let hooks = |hooks: Option<u32>| match hooks {
        Some(hooks) => Value::plain(count(u64::from(hooks))),
        None => Value::default(),
    };
    let rows: Vec<Row> = document
        .modules
        .iter()
        .map(|module| {
            let lines = i128::from(module.loc[1]) - i128::from(module.loc[0]);
            plain(vec![
                name(&module.module),
                hooks(module.hooks_before),
                hooks(module.hooks_after),
                Value::plain(signed(lines)),
                Value::plain(renamed(&module.implements)),
            ])
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        title: "Modules that differ".to_owned(),
        legend: Vec::new(),
        columns: vec![
            Column::new("module", Align::Left),
            Column::figures("before", Some("hooks")),
            Column::figures("after", Some("hooks")),
            Column::figures("lines", None),
            Column::new("implements", Align::Left),
        ],
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    })
}

/// In one word, as it stands in tables and CSV.
fn word(change: HookChange) -> &'static str {
    match change {
        HookChange::Added => "added",
        HookChange::More => "more",
        HookChange::Fewer => "fewer",
        HookChange::Removed => "removed",
        HookChange::Reachable => "reachable",
        HookChange::Unreachable => "unreachable",
        HookChange::MaximumMore => "maximum more",
        HookChange::MaximumFewer => "maximum fewer",
    }
}

fn part(part: &HookPart) -> String {
    match part {
        HookPart::Own => String::new(),
        HookPart::Teardown => "teardown".to_owned(),
        HookPart::Inside(modules) => format!("within {}", printable(modules, TEXT_LIMIT)),
    }
}

fn tone(change: HookChange) -> Tone {
    match change {
        HookChange::Added | HookChange::More => Tone::Worse,
        HookChange::Fewer | HookChange::Removed => Tone::Better,
        _ => Tone::Faint,
    }
}

fn both(document: &PlacementDifference) -> impl Iterator<Item = &SyscallDifference> {
    document.changes.iter().filter(|call| call.only.is_none())
}

fn changes(document: &PlacementDifference, options: &DifferenceOptions) -> Option<Table> {
    let mut rows = Vec::new();
    let mut left_out = 0u64;
    for call in both(document) {
        for hook in &call.hooks {
            if !options.reach && !hook.change.is_nominal() {
                left_out += 1;
                continue;
            }
            rows.push(plain(vec![
                Value::plain(title(call)),
                name(&hook.hook),
                Value::toned(word(hook.change), tone(hook.change)),
                Value::plain(part(&hook.part)),
                figure(hook.before.nominal),
                figure(hook.after.nominal),
                figure(hook.before.max),
                figure(hook.after.max),
                Value::plain(names(&hook.modules)),
            ]));
        }
    }
    let mut legend = Vec::new();
    if left_out > 0 {
        let hooks = match left_out {
            1 => "1 more hook differs".to_owned(),
            n => format!("{} more hooks differ", count(n)),
        };
        legend.push(format!(
            "{hooks} beside the nominal path only: --reach shows them."
        ));
    }
    if rows.is_empty() && legend.is_empty() {
        return None;
    }
    let mut columns: Vec<Column> = ["system call", "hook", "change", "when"]
        .map(|title| Column::new(title, Align::Left))
        .into();
    for group in ["nominal", "at most"] {
        columns.extend(["before", "after"].map(|title| Column::figures(title, Some(group))));
    }
    columns.push(Column::new("implemented by", Align::Left));
    Some(Table {
        title: "System calls that differ".to_owned(),
        legend,
        columns,
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    })
}

fn figure(times: Count) -> Value {
    super::times(times)
}

/// One line for each call string that is new or gone.
fn calls(document: &PlacementDifference) -> Option<Table> {
    let mut rows = Vec::new();
    for call in both(document) {
        for hook in &call.hooks {
            for (sign, calls) in strings(hook) {
                rows.push(plain(vec![
                    Value::plain(title(call)),
                    name(&hook.hook),
                    Value::plain(sign),
                    Value::plain(printable(&calls.join(" > "), CALLS_LIMIT)),
                ]));
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: "Call strings that are new (+) and gone (-)".to_owned(),
        legend: Vec::new(),
        columns: ["system call", "hook", "", "called by"]
            .map(|title| Column::new(title, Align::Left))
            .into(),
        fixed_columns: 3,
        rows,
        footnotes: Vec::new(),
    })
}

fn strings(hook: &HookDifference) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
    let gone = hook.gone_calls.iter().map(|calls| ("-", calls));
    gone.chain(hook.new_calls.iter().map(|calls| ("+", calls)))
}

/// The columns of a difference, in order: system call, its case and file system, which
/// placement has it if only one does, the hook, where it is called (`teardown`, `within
/// ima`; empty for by the kernel while it works), how it differs, its counts before and
/// after, modules that implement it, joined by commas, and the call strings that are new
/// and gone, joined by `; `. A later version may append some; it keeps these.
pub const DIFFERENCE_CSV_COLUMNS: [&str; 14] = [
    "syscall",
    "case",
    "fs",
    "only",
    "hook",
    "when",
    "change",
    "nominal_before",
    "nominal_after",
    "max_before",
    "max_after",
    "modules",
    "new_calls",
    "gone_calls",
];

/// Writes a heading line, then one for each hook of each system call that differs.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn difference_csv(document: &PlacementDifference, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(DIFFERENCE_CSV_COLUMNS)?;
    for call in &document.changes {
        let only = match call.only {
            Some(Side::Before) => "before",
            Some(Side::After) => "after",
            None => "",
        };
        for hook in &call.hooks {
            let strings = |calls: &[Vec<String>]| {
                let joined: Vec<String> = calls.iter().map(|calls| calls.join(" > ")).collect();
                text(&joined.join("; "))
            };
            out.write_record([
                text(&call.syscall),
                text(&call.case),
                text(&call.fs),
                only.to_owned(),
                text(&hook.hook),
                part(&hook.part),
                word(hook.change).to_owned(),
                hook.before.nominal.to_string(),
                hook.after.nominal.to_string(),
                hook.before.max.to_string(),
                hook.after.max.to_string(),
                text(&hook.modules.join(",")),
                strings(&hook.new_calls),
                strings(&hook.gone_calls),
            ])?;
        }
    }
    out.flush()?;
    Ok(())
}
