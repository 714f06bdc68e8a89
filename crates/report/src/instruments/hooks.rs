// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks of operations, by verdict.

use std::collections::BTreeMap;

use experiment::check::{CheckedBenchmark, CheckedHook};
use experiment::{CheckDocument, CheckVerdict};

use super::{REASON_LIMIT, some_of};
use crate::format::{count, figure};
use crate::table::{Align, Column, Footnotes, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

const LEGEND: &str = "Calls in one operation; slope: what an operation takes longer for each \
                      unit that the hook's decision takes longer; -: the instrument tells nothing.";

/// Each hook in which instruments differ for no known reason.
pub(super) fn disagreements(document: &CheckDocument) -> Option<Table> {
    let rows: Vec<Row> = hooks(document, CheckVerdict::Disagree)
        .map(|(benchmark, hook)| {
            let mut values = vec![
                Value::plain(printable(&benchmark.title(), TEXT_LIMIT)),
                Value::toned(printable(&hook.hook, TEXT_LIMIT), Tone::Worse),
            ];
            values.extend(counts(hook));
            values.push(Value::plain(apart(hook)));
            row(values)
        })
        .collect();
    (!rows.is_empty()).then(|| {
        let mut columns = columns(&["operation", "hook"]);
        columns.push(Column::new("who disagrees", Align::Left));
        table(
            "Hooks in which instruments do not agree",
            columns,
            rows,
            Vec::new(),
        )
    })
}

/// Each hook in which instruments differ for a reason, operations together that differ alike.
pub(super) fn explained(document: &CheckDocument) -> Option<Table> {
    let mut groups: BTreeMap<Group<'_>, Vec<String>> = BTreeMap::new();
    for (benchmark, hook) in hooks(document, CheckVerdict::Explained) {
        let why = hook.explanation.as_deref().unwrap_or_default();
        let counts = counts(hook).map(|value| value.text);
        let group = groups.entry((why, &hook.hook, counts)).or_default();
        group.push(benchmark.title());
    }
    let mut notes = Footnotes::default();
    let rows: Vec<Row> = groups
        .into_iter()
        .map(|((why, hook, counts), titles)| {
            let mut values = vec![
                Value::plain(printable(hook, TEXT_LIMIT)),
                Value::plain(some_of(&titles)),
            ];
            values.extend(counts.map(Value::plain));
            values.push(Value::plain(notes.mark(printable(why, REASON_LIMIT))));
            row(values)
        })
        .collect();
    (!rows.is_empty()).then(|| {
        let mut columns = columns(&["hook", "operations"]);
        columns.push(Column::new("why", Align::Left));
        table(
            "Hooks in which instruments differ for a reason",
            columns,
            rows,
            notes.texts,
        )
    })
}

/// An explanation, a hook and its counts.
type Group<'a> = (&'a str, &'a str, [String; 5]);

/// Every hook of every operation.
pub(super) fn all(document: &CheckDocument) -> Option<Table> {
    let every = document.benchmarks.iter().flat_map(|benchmark| {
        let hooks = benchmark.hooks.iter();
        hooks.map(move |hook| (benchmark, hook))
    });
    let rows: Vec<Row> = every
        .map(|(benchmark, hook)| {
            let mut values = vec![
                Value::plain(printable(&benchmark.title(), TEXT_LIMIT)),
                Value::plain(printable(&hook.hook, TEXT_LIMIT)),
            ];
            values.extend(counts(hook));
            let tone = match hook.verdict {
                CheckVerdict::Disagree => Tone::Worse,
                CheckVerdict::Alone => Tone::Faint,
                CheckVerdict::Agree | CheckVerdict::Explained => Tone::Plain,
            };
            values.push(Value::toned(hook.verdict.as_str(), tone));
            row(values)
        })
        .collect();
    (!rows.is_empty()).then(|| {
        let mut columns = columns(&["operation", "hook"]);
        columns.push(Column::new("verdict", Align::Left));
        table("All hooks of all operations", columns, rows, Vec::new())
    })
}

fn hooks(
    document: &CheckDocument,
    verdict: CheckVerdict,
) -> impl Iterator<Item = (&CheckedBenchmark, &CheckedHook)> {
    document.benchmarks.iter().flat_map(move |benchmark| {
        let hooks = benchmark.hooks.iter();
        let hooks = hooks.filter(move |hook| hook.verdict == verdict);
        hooks.map(move |hook| (benchmark, hook))
    })
}

fn columns(first: &[&str]) -> Vec<Column> {
    let mut columns: Vec<Column> = first
        .iter()
        .map(|title| Column::new(*title, Align::Left))
        .collect();
    let titles = ["profile", "monitor", "slope", "nominal", "at most"];
    columns.extend(titles.map(|title| Column::figures(title, None)));
    columns
}

fn counts(hook: &CheckedHook) -> [Value; 5] {
    let none = || Value::toned("-", Tone::Missing);
    let calls = |calls: Option<u64>| calls.map_or_else(none, |calls| Value::plain(count(calls)));
    let slope = |slope: f64| Value::plain(format!("{slope:.4}"));
    let unbounded = hook.nominal.is_some() && hook.maximum.is_none();
    let maximum = match unbounded {
        true => Value::plain("any"),
        false => calls(hook.maximum),
    };
    [
        calls(hook.profile),
        hook.monitor
            .map_or_else(none, |calls| Value::plain(figure(calls))),
        hook.slope.map_or_else(none, slope),
        calls(hook.nominal),
        maximum,
    ]
}

/// `profile and monitor; profile and sensitivity`.
fn apart(hook: &CheckedHook) -> String {
    let apart = hook.apart.iter().filter(|apart| !apart.explained);
    let pairs = apart.map(|apart| format!("{} and {}", apart.first, apart.second));
    pairs.collect::<Vec<_>>().join("; ")
}

fn row(values: Vec<Value>) -> Row {
    Row {
        values,
        summary: false,
    }
}

fn table(title: &str, columns: Vec<Column>, rows: Vec<Row>, footnotes: Vec<String>) -> Table {
    Table {
        title: title.to_owned(),
        legend: vec![LEGEND.to_owned()],
        columns,
        fixed_columns: 2,
        rows,
        footnotes,
    }
}
