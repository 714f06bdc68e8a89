// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks that are made twice, and checks that some modules lack.

use experiment::PlacementDocument;
use experiment::placement::{Confidence, MissingCheck, RedundantCheck};

use super::{kernel, names};
use crate::column::{Columns, Records};
use crate::format::count;
use crate::table::{Report, Table, Tone, Value};

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
    let named = &all[..all.len().min(NAMED)];
    let more = match all.len() - named.len() {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    Value::plain(names(named).text() + &more)
}

fn calls(calls: &[String]) -> Value {
    Value::long(&calls.join(" > "), CALLS_LIMIT)
}

fn hidden(table: &mut Table, all: usize) {
    let left_out = (all - table.rows.len()) as u64;
    if left_out > 0 {
        table.legend.push(format!(
            "{} more of which it cannot be told: --unknown shows them.",
            count(left_out)
        ));
    }
    if all == 0 {
        table.legend.push("None was found.".to_owned());
    }
}

fn is_shown(confidence: Confidence, options: &ChecksOptions) -> bool {
    options.unknown || confidence != Confidence::Unknown
}

fn redundant(document: &PlacementDocument, options: &ChecksOptions) -> Table {
    let checks = document.redundant.iter();
    let mut table = Columns::new()
        .left("is it", |check: &RedundantCheck| {
            confidence(check.confidence)
        })
        .left("hook", |check| &check.hook)
        .left("question", question)
        .left("first", |check| &check.asked[0])
        .left("second", |check| &check.asked[1])
        .left("why", |check| Value::long(&check.why, 200))
        .left("first called by", |check| calls(&check.first))
        .left("second called by", |check| {
            calls(check.second.get(1..).unwrap_or_default())
        })
        .left("system calls", |check| syscalls(&check.syscalls))
        .table(
            format!("{}: asked twice", kernel(document)),
            checks.filter(|check| is_shown(check.confidence, options)),
        )
        .fixed(2)
        .legend([
            "Hooks that a nominal path asks twice. question: same if all other arguments are, too; \
             first, second: what is asked, as the function would write it below which both are; \
             sure: the code says that it is one object; likely: if nothing changes it in between, \
             or a fact says so.",
        ]);
    hidden(&mut table, document.redundant.len());
    table
}

fn missing(document: &PlacementDocument, options: &ChecksOptions) -> Table {
    let checks = document.missing.iter();
    let mut table = Columns::new()
        .left("is it", |check: &MissingCheck| confidence(check.confidence))
        .left("module", |check| &check.module)
        .left("kind", |check| &check.kind)
        .left("does not check", |check| &check.what)
        .left("checked by", |check| names(&check.checked_by))
        .left("hooks", |check| names(&check.hooks))
        .left("why", |check| Value::long(&check.why, 200))
        .left("system calls", |check| syscalls(&check.syscalls))
        .left("called by", |check| calls(&check.calls))
        .table(
            format!("{}: checked by some, not by others", kernel(document)),
            checks.filter(|check| is_shown(check.confidence, options)),
        )
        .fixed(2)
        .legend([
            "What modules with a policy on files ask on a nominal path, and another does not. \
             sure: nothing on the path asks that module; likely: it is asked there about something \
             else. A module may not mean to mediate it: whether that is a fault is for its policy \
             to say.",
        ]);
    hidden(&mut table, document.missing.len());
    table
}

/// A check that is made twice, or that a module lacks.
#[derive(Clone, Copy)]
enum Finding<'a> {
    Redundant(&'a RedundantCheck),
    Missing(&'a MissingCheck),
}

impl<'a> Finding<'a> {
    fn redundant(self) -> Option<&'a RedundantCheck> {
        match self {
            Finding::Redundant(check) => Some(check),
            Finding::Missing(_) => None,
        }
    }

    fn missing(self) -> Option<&'a MissingCheck> {
        match self {
            Finding::Missing(check) => Some(check),
            Finding::Redundant(_) => None,
        }
    }

    /// What it takes from whichever it is.
    fn either<T>(
        self,
        redundant: impl FnOnce(&'a RedundantCheck) -> T,
        missing: impl FnOnce(&'a MissingCheck) -> T,
    ) -> T {
        match self {
            Finding::Redundant(check) => redundant(check),
            Finding::Missing(check) => missing(check),
        }
    }
}

fn question(check: &RedundantCheck) -> &'static str {
    if check.same_question { "same" } else { "other" }
}

/// A row for each finding, also those of which it cannot be told. A later version may append
/// columns; it keeps these.
///
/// - `finding`: `redundant` or `missing`; `confidence`: `sure`, `likely`, `unknown`.
/// - `hook`: asked twice, or by which others check, joined by commas; `module`, `kind`,
///   `what`, `checked_by`: of what is missing.
/// - `question`: `same` or `other`, `within`, `first`, `second`: of what is redundant.
/// - `first_calls`, `second_calls`: call strings, joined by ` > `; of what is missing, one.
/// - `why`; `syscalls`: joined by `; `.
pub fn checks_records(document: &PlacementDocument) -> Records<'_> {
    let redundant = document.redundant.iter().map(Finding::Redundant);
    let missing = document.missing.iter().map(Finding::Missing);
    Columns::new()
        .column("finding", |of: Finding<'_>| {
            of.either(|_| "redundant", |_| "missing")
        })
        .column("confidence", |of| {
            word(of.either(|c| c.confidence, |c| c.confidence))
        })
        .column("hook", |of| {
            of.either(|c| c.hook.clone(), |c| c.hooks.join(","))
        })
        .column("module", |of| of.missing().map(|check| &check.module))
        .column("kind", |of| of.missing().map(|check| &check.kind))
        .column("what", |of| of.missing().map(|check| &check.what))
        .column("checked_by", |of| {
            of.missing().map(|check| check.checked_by.join(","))
        })
        .column("question", |of| of.redundant().map(question))
        .column("within", |of| of.redundant().map(|check| &check.within))
        .column("first", |of| of.redundant().map(|check| &check.asked[0]))
        .column("second", |of| of.redundant().map(|check| &check.asked[1]))
        .column("first_calls", |of| {
            of.either(|c| &c.first, |c| &c.calls).join(" > ")
        })
        .column("second_calls", |of| {
            of.redundant().map(|check| check.second.join(" > "))
        })
        .column("why", |of| of.either(|c| &c.why, |c| &c.why))
        .column("syscalls", |of| {
            of.either(|c| &c.syscalls, |c| &c.syscalls).join("; ")
        })
        .records(redundant.chain(missing))
}
