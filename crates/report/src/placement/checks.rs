// SPDX-License-Identifier: GPL-2.0-or-later
//! Redundant checks, and checks that some modules do not make.

use model::PlacementDocument;
use model::placement::{Confidence, MissingCheck, RedundantCheck};

use super::{kernel, names};
use crate::column::{Columns, Records};
use crate::format::{count, word};
use crate::table::{Report, Table, Tone, Value};

const CALLS_LIMIT: usize = 300;
const NAMED: usize = 3;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChecksOptions {
    pub unknown: bool,
}

pub fn checks_report(document: &PlacementDocument, options: &ChecksOptions) -> Report {
    let tables = [redundant(document, options), missing(document, options)];
    Report::new([tables], Vec::new())
}

fn confidence(confidence: Confidence) -> Value {
    let tone = match confidence {
        Confidence::Sure => Tone::Worse,
        Confidence::Likely => Tone::Plain,
        Confidence::Unknown => Tone::Faint,
    };
    Value::toned(word(confidence), tone)
}

fn syscalls(all: &[String]) -> Value {
    let (named, more) = all.split_at(all.len().min(NAMED));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    Value::plain(names(named).text() + &more)
}

fn calls(calls: &[String]) -> Value {
    Value::long(&calls.join(" > "), CALLS_LIMIT)
}

fn note_undecided(table: Table, all: usize) -> Table {
    let line = match (all, (all - table.rows.len()) as u64) {
        (0, _) => "None found.".to_owned(),
        (_, 0) => String::new(),
        (_, more) => format!("{} more undecided: --unknown shows them.", count(more)),
    };
    table.legend([line])
}

fn is_shown(confidence: Confidence, options: &ChecksOptions) -> bool {
    options.unknown || confidence != Confidence::Unknown
}

fn redundant(document: &PlacementDocument, options: &ChecksOptions) -> Table {
    let checks = document.redundant.iter();
    let table = Columns::new()
        .left("confidence", |check: &RedundantCheck| {
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
            format!("{}: hooks called twice", kernel(document)),
            checks.filter(|check| is_shown(check.confidence, options)),
        )
        .fixed(2)
        .legend([
            "Hooks called twice on a success path. question: same if all other arguments are equal; \
             first, second: arguments, as expressions in the common caller; \
             sure: the same object by the code; likely: the same if nothing changes it in between, \
             or by a fact.",
        ]);
    note_undecided(table, document.redundant.len())
}

fn missing(document: &PlacementDocument, options: &ChecksOptions) -> Table {
    let checks = document.missing.iter();
    let table = Columns::new()
        .left("confidence", |check: &MissingCheck| {
            confidence(check.confidence)
        })
        .left("module", |check| &check.module)
        .left("kind", |check| &check.kind)
        .left("does not check", |check| &check.what)
        .left("checked by", |check| names(&check.checked_by))
        .left("hooks", |check| names(&check.hooks))
        .left("why", |check| Value::long(&check.why, 200))
        .left("system calls", |check| syscalls(&check.syscalls))
        .left("called by", |check| calls(&check.calls))
        .table(
            format!(
                "{}: permissions that only some modules check",
                kernel(document)
            ),
            checks.filter(|check| is_shown(check.confidence, options)),
        )
        .fixed(2)
        .legend([
            "Permissions that a module with a file policy checks on a success path and another \
             such module does not. sure: no call on the path reaches the other module; likely: a \
             call reaches it, but checks another permission. This may be intended: it depends on \
             the policy of the module.",
        ]);
    note_undecided(table, document.missing.len())
}

type Finding<'a> = (Option<&'a RedundantCheck>, Option<&'a MissingCheck>);

fn question(check: &RedundantCheck) -> &'static str {
    if check.same_question { "same" } else { "other" }
}

/// A row per finding, undecided ones included. Columns: `docs/export.md`.
pub fn checks_records(document: &PlacementDocument) -> Records<'_> {
    let redundant = document.redundant.iter().map(|check| (Some(check), None));
    let missing = document.missing.iter().map(|check| (None, Some(check)));
    Columns::new()
        .column("finding", |(twice, _): Finding<'_>| {
            twice.map_or("missing", |_| "redundant")
        })
        .column("confidence", |(twice, missing)| {
            let twice = twice.map(|check| check.confidence);
            twice.or(missing.map(|check| check.confidence)).map(word)
        })
        .column("hook", |(twice, missing)| {
            let twice = twice.map(|check| check.hook.clone());
            twice.or(missing.map(|check| check.hooks.join(",")))
        })
        .column("module", |(_, missing)| Some(&missing?.module))
        .column("kind", |(_, missing)| Some(&missing?.kind))
        .column("what", |(_, missing)| Some(&missing?.what))
        .column("checked_by", |(_, missing)| {
            Some(missing?.checked_by.join(","))
        })
        .column("question", |(twice, _)| twice.map(question))
        .column("within", |(twice, _)| Some(&twice?.within))
        .column("first", |(twice, _)| Some(&twice?.asked[0]))
        .column("second", |(twice, _)| Some(&twice?.asked[1]))
        .column("first_calls", |(twice, missing)| {
            let calls = twice.map(|check| &check.first);
            Some(calls.or(missing.map(|check| &check.calls))?.join(" > "))
        })
        .column("second_calls", |(twice, _)| Some(twice?.second.join(" > ")))
        .column("why", |(twice, missing)| {
            let twice = twice.map(|check| &check.why);
            twice.or(missing.map(|check| &check.why))
        })
        .column("syscalls", |(twice, missing)| {
            let calls = twice.map(|check| &check.syscalls);
            Some(calls.or(missing.map(|check| &check.syscalls))?.join("; "))
        })
        .records(redundant.chain(missing))
}
