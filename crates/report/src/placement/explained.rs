// SPDX-License-Identifier: GPL-2.0-or-later
//! What an analysis could not decide, understand or use, and what it read.

use experiment::PlacementDocument;
use experiment::placement::{StaleFact, Undecided, Unparsed};

use super::{kernel, name, names};
use crate::format::{count, share};
use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// Longest piece of code or reason, in characters.
const CODE_LIMIT: usize = 120;

pub(super) fn tables(document: &PlacementDocument) -> Vec<Table> {
    let reachable = document.coverage.reachable as u64;
    let unparsed = share(document.unparsed.len() as u64, reachable).unwrap_or_default();
    let shown = [
        listing(
            format!(
                "Functions between system calls and hooks that did not parse in full: {} of {} \
                 ({unparsed})",
                count(document.unparsed.len() as u64),
                count(reachable)
            ),
            "What was understood of them counts.",
            &["function", "where", "what"],
            document.unparsed.iter().map(function).collect(),
        ),
        listing(
            "Functions that call each other in circles and reach hooks: without a bound".to_owned(),
            "",
            &["functions", "names"],
            document
                .circles
                .iter()
                .map(|circle| {
                    vec![
                        Value::plain(count(circle.len() as u64)),
                        Value::plain(names(circle)),
                    ]
                })
                .collect(),
        ),
        listing(
            "Decisions on nominal paths that neither a fact nor the code made".to_owned(),
            "What depends on them is then not done.",
            &["function", "file", "condition"],
            document.undecided.iter().map(decision).collect(),
        ),
        listing(
            "Facts that speak of code which this tree does not have".to_owned(),
            "Most are about other versions. One that should match is to be mended: see \
             docs/placement.md.",
            &["function", "code", "reason", "what it says"],
            document.stale_facts.iter().map(fact).collect(),
        ),
        Some(read(document)),
    ];
    shown.into_iter().flatten().collect()
}

/// A table of texts; None if there are no rows.
fn listing(title: String, legend: &str, columns: &[&str], rows: Vec<Vec<Value>>) -> Option<Table> {
    let rows = rows.into_iter().map(|values| Row {
        values,
        summary: false,
    });
    let rows: Vec<Row> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        title,
        legend: (!legend.is_empty())
            .then(|| legend.to_owned())
            .into_iter()
            .collect(),
        columns: columns
            .iter()
            .map(|title| Column::new(*title, Align::Left))
            .collect(),
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    })
}

fn code(text: &str) -> Value {
    Value::plain(printable(text, CODE_LIMIT))
}

fn function(unparsed: &Unparsed) -> Vec<Value> {
    let place = match unparsed.file.as_str() {
        "" => Value::default(),
        file => Value::plain(format!("{}:{}", printable(file, TEXT_LIMIT), unparsed.line)),
    };
    vec![name(&unparsed.function), place, code(&unparsed.reason)]
}

fn decision(undecided: &Undecided) -> Vec<Value> {
    vec![
        name(&undecided.function),
        name(&undecided.file),
        code(&undecided.code),
    ]
}

fn fact(fact: &StaleFact) -> Vec<Value> {
    vec![
        name(&fact.function),
        name(&fact.code),
        name(&fact.reason),
        code(&fact.why),
    ]
}

fn read(document: &PlacementDocument) -> Table {
    let coverage = &document.coverage;
    let timing = document
        .timing
        .iter()
        .filter(|(step, _)| *step != "total")
        .map(|(step, &ms)| (format!("ms: {}", printable(step, TEXT_LIMIT)), ms));
    let all = document.timing.get("total").copied();
    let figures = [
        ("files", coverage.files),
        ("functions and macros", coverage.functions),
        (
            "of them between a system call and a hook",
            coverage.reachable,
        ),
        ("files that were not in the cache", coverage.scanned),
        ("functions that were not in the cache", coverage.parsed),
    ];
    let figures = figures.map(|(what, n)| (what.to_owned(), n as u64));
    let all = all.map(|ms| ("ms: all".to_owned(), ms));
    let rows = figures.into_iter().chain(timing).chain(all);
    Table {
        title: format!("{}: what was read", kernel(document)),
        legend: Vec::new(),
        columns: vec![
            Column::new("what", Align::Left),
            Column::figures("count", None),
        ],
        fixed_columns: 1,
        rows: rows
            .map(|(what, n)| Row {
                values: vec![Value::plain(what), Value::plain(count(n))],
                summary: false,
            })
            .collect(),
        footnotes: Vec::new(),
    }
}
