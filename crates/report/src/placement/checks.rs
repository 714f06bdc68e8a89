// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks that are made twice, and checks that some modules lack.

use std::io::Write;

use experiment::PlacementDocument;
use experiment::placement::{Confidence, MissingCheck, RedundantCheck};

use super::{kernel, name, names};
use crate::csv::{CsvError, text};
use crate::format::count;
use crate::table::{Align, Column, Report, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

/// Longest call string, in characters.
const CALLS_LIMIT: usize = 300;
/// System calls that are named in a row.
const NAMED: usize = 3;

/// What a report of checks shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChecksOptions {
    /// Also findings of which it cannot be told whether they are any.
    pub unknown: bool,
}

/// Checks that a path makes twice, then those that some modules make and others do not,
/// the most certain first.
pub fn checks_report(document: &PlacementDocument, options: &ChecksOptions) -> Report {
    Report {
        tables: vec![redundant(document, options), missing(document, options)],
        warnings: Vec::new(),
    }
}

fn word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Sure => "sure",
        Confidence::Likely => "likely",
        Confidence::Unknown => "unknown",
    }
}

fn confidence(confidence: Confidence) -> Value {
    let tone = match confidence {
        Confidence::Sure => Tone::Worse,
        Confidence::Likely => Tone::Plain,
        Confidence::Unknown => Tone::Faint,
    };
    Value::toned(word(confidence), tone)
}

/// `open on ext4, stat on ext4 and 12 more`.
fn syscalls(all: &[String]) -> Value {
    let named: Vec<String> = all.iter().take(NAMED).cloned().collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    Value::plain(names(&named) + &more)
}

fn calls(calls: &[String]) -> Value {
    Value::plain(printable(&calls.join(" > "), CALLS_LIMIT))
}

fn hidden(legend: &mut Vec<String>, all: usize, shown: usize) {
    let left_out = (all - shown) as u64;
    if left_out > 0 {
        legend.push(format!(
            "{} more of which it cannot be told: --unknown shows them.",
            count(left_out)
        ));
    }
    if all == 0 {
        legend.push("None was found.".to_owned());
    }
}

fn plain(values: Vec<Value>) -> Row {
    Row {
        values,
        summary: false,
    }
}

fn left(titles: &[&str]) -> Vec<Column> {
    let column = |title: &&str| Column::new(*title, Align::Left);
    titles.iter().map(column).collect()
}

fn redundant(document: &PlacementDocument, options: &ChecksOptions) -> Table {
    let is_shown =
        |check: &&RedundantCheck| options.unknown || check.confidence != Confidence::Unknown;
    let rows: Vec<Row> = document
        .redundant
        .iter()
        .filter(is_shown)
        .map(|check| {
            plain(vec![
                confidence(check.confidence),
                name(&check.hook),
                Value::plain(if check.same_question { "same" } else { "other" }),
                Value::plain(printable(&check.asked[0], TEXT_LIMIT)),
                Value::plain(printable(&check.asked[1], TEXT_LIMIT)),
                Value::plain(printable(&check.why, 200)),
                calls(&check.first),
                calls(check.second.get(1..).unwrap_or_default()),
                syscalls(&check.syscalls),
            ])
        })
        .collect();
    let mut legend = vec![
        "Hooks that a nominal path asks twice. question: same if all other arguments are, too; first, \
         second: what is asked, as the function would write it below which both are; sure: the \
         code says that it is one object; likely: if nothing changes it in between, or a fact says so."
            .to_owned(),
    ];
    hidden(&mut legend, document.redundant.len(), rows.len());
    Table {
        title: format!("{}: asked twice", kernel(document)),
        legend,
        columns: left(&[
            "is it",
            "hook",
            "question",
            "first",
            "second",
            "why",
            "first called by",
            "second called by",
            "system calls",
        ]),
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    }
}

fn missing(document: &PlacementDocument, options: &ChecksOptions) -> Table {
    let is_shown =
        |check: &&MissingCheck| options.unknown || check.confidence != Confidence::Unknown;
    let rows: Vec<Row> = document
        .missing
        .iter()
        .filter(is_shown)
        .map(|check| {
            plain(vec![
                confidence(check.confidence),
                name(&check.module),
                name(&check.kind),
                name(&check.what),
                Value::plain(names(&check.checked_by)),
                Value::plain(names(&check.hooks)),
                Value::plain(printable(&check.why, 200)),
                syscalls(&check.syscalls),
                calls(&check.calls),
            ])
        })
        .collect();
    let mut legend = vec![
        "What modules with a policy on files ask on a nominal path, and another does not. sure: \
         nothing on the path asks that module; likely: it is asked there about something else. \
         A module may not mean to mediate it: whether that is a fault is for its policy to say."
            .to_owned(),
    ];
    hidden(&mut legend, document.missing.len(), rows.len());
    Table {
        title: format!("{}: checked by some, not by others", kernel(document)),
        legend,
        columns: left(&[
            "is it",
            "module",
            "kind",
            "does not check",
            "checked by",
            "hooks",
            "why",
            "system calls",
            "called by",
        ]),
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    }
}

/// The columns of findings, in order. A later version may append some; it keeps these.
///
/// - `finding`: `redundant` or `missing`; `confidence`: `sure`, `likely`, `unknown`.
/// - `hook`: asked twice, or by which others check, joined by commas; `module`, `kind`,
///   `what`, `checked_by`: of what is missing.
/// - `question`: `same` or `other`, `within`, `first`, `second`: of what is redundant.
/// - `first_calls`, `second_calls`: call strings, joined by ` > `; of what is missing, one.
/// - `why`; `syscalls`: joined by `; `.
pub const CHECKS_CSV_COLUMNS: [&str; 15] = [
    "finding",
    "confidence",
    "hook",
    "module",
    "kind",
    "what",
    "checked_by",
    "question",
    "within",
    "first",
    "second",
    "first_calls",
    "second_calls",
    "why",
    "syscalls",
];

/// Writes a heading line, then one for each finding, also those of which it cannot be told.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn checks_csv(document: &PlacementDocument, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(CHECKS_CSV_COLUMNS)?;
    for check in &document.redundant {
        out.write_record([
            "redundant".to_owned(),
            word(check.confidence).to_owned(),
            text(&check.hook),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            if check.same_question { "same" } else { "other" }.to_owned(),
            text(&check.within),
            text(&check.asked[0]),
            text(&check.asked[1]),
            text(&check.first.join(" > ")),
            text(&check.second.join(" > ")),
            text(&check.why),
            text(&check.syscalls.join("; ")),
        ])?;
    }
    for check in &document.missing {
        out.write_record([
            "missing".to_owned(),
            word(check.confidence).to_owned(),
            text(&check.hooks.join(",")),
            text(&check.module),
            text(&check.kind),
            text(&check.what),
            text(&check.checked_by.join(",")),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            text(&check.calls.join(" > ")),
            String::new(),
            text(&check.why),
            text(&check.syscalls.join("; ")),
        ])?;
    }
    out.flush()?;
    Ok(())
}
