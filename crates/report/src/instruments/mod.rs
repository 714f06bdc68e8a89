// SPDX-License-Identifier: GPL-2.0-or-later
//! Whether instruments agree: a summary, what does not agree, and why.

mod found;
mod hooks;
mod residuals;

use std::collections::BTreeMap;

use experiment::check::{CheckedInstrument, PairSummary};
use experiment::{CheckDocument, Instrument, InstrumentStatus};

use crate::column::Columns;
use crate::format::count;
use crate::table::{Report, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

pub use found::{Disagreement, disagreements};
pub(crate) use found::{reasons, residual_title};
pub use hooks::instruments_records;

/// Longest reason that is printed, in characters.
const REASON_LIMIT: usize = 300;
/// Operations that are named in a row or line.
const NAMED: usize = 3;

/// What a report of a check shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstrumentsOptions {
    /// Every hook of every operation, not only those in which instruments differ.
    pub all: bool,
    /// Also facts that explain nothing.
    pub facts: bool,
}

/// How many hooks agree, those that do not, and what explains the others.
pub fn instruments_report(document: &CheckDocument, options: &InstrumentsOptions) -> Report {
    let mut tables = vec![summary(document)];
    tables.extend(hooks::disagreements(document));
    tables.extend(residuals::disagreements(document));
    tables.extend(hooks::explained(document));
    tables.extend(residuals::explained(document));
    if options.all {
        tables.extend(hooks::all(document));
        tables.extend(residuals::all(document));
    }
    let mut warnings = missing(document);
    if options.facts {
        let unused = document.unused_facts.iter();
        warnings.extend(unused.map(|fact| {
            format!(
                "a fact that explains nothing here: {}",
                printable(fact, TEXT_LIMIT)
            )
        }));
    }
    Report { tables, warnings }
}

/// What is compared, and how many hooks are compared, agree, differ for a reason and disagree.
type Numbers = (String, [u64; 4]);

fn summary(document: &CheckDocument) -> Table {
    let mut rows: Vec<Numbers> = document.summary.pairs.iter().map(pair).collect();
    let residuals = document.summary.residuals;
    if residuals.compared() + residuals.alone > 0 {
        rows.push((
            "residuals: outside hooks stacks differ in nothing".to_owned(),
            [
                residuals.compared(),
                residuals.agree,
                residuals.explained,
                residuals.disagree,
            ],
        ));
    }
    Columns::new()
        .left("", |(what, _): &Numbers| what)
        .column("compared", |(_, [compared, ..])| *compared)
        .column("agree", |(_, [_, agree, ..])| *agree)
        .column("explained", |(_, [.., explained, _])| *explained)
        .right("disagree", |(_, [.., disagree])| match disagree {
            0 => Value::from(0u64),
            n => Value::from(*n).tone(Tone::Worse),
        })
        .table(title(document), &rows)
        .legend(legend(document))
}

fn title(document: &CheckDocument) -> String {
    format!("{}: do the instruments agree?", subject(document))
}

/// `debian:6.12 (6.12.94) under capability on tmpfs`, printable.
pub(crate) fn subject(document: &CheckDocument) -> String {
    format!(
        "{} ({}) under {} on {}",
        printable(&document.kernel, TEXT_LIMIT),
        printable(&document.release, TEXT_LIMIT),
        printable(&document.stack.join(","), TEXT_LIMIT),
        printable(&document.filesystem, TEXT_LIMIT)
    )
}

fn legend(document: &CheckDocument) -> Vec<String> {
    let hooks = document.summary.hooks;
    let mut legend = vec![format!(
        "Hooks of {} operations: {} agree, {} do not for a reason that is known, {} DO NOT; {} only one \
         instrument tells of.",
        count(document.benchmarks.len() as u64),
        count(hooks.agree),
        count(hooks.explained),
        count(hooks.disagree),
        count(hooks.alone)
    )];
    legend.extend(document.instruments.iter().map(instrument));
    if document.summary.nominal > 0 {
        legend.push(format!(
            "Nominal counts, which are told but not judged: {} of {} are the profile's.",
            count(document.summary.nominal_same),
            count(document.summary.nominal)
        ));
    }
    legend
}

fn instrument(of: &CheckedInstrument) -> String {
    let mut text = match of.status {
        InstrumentStatus::Used => format!("{}: {}", of.instrument, meaning(of.instrument)),
        InstrumentStatus::Skipped => format!("{}: skipped", of.instrument),
        InstrumentStatus::Unavailable => format!("{}: not available", of.instrument),
    };
    if let Some(reason) = &of.reason {
        text.push_str(&format!(": {}", printable(reason, REASON_LIMIT)));
    }
    if !of.blind.is_empty() {
        let hooks: Vec<String> = of.blind.iter().map(|h| printable(h, TEXT_LIMIT)).collect();
        text.push_str(&format!("; cannot tell of {}", hooks.join(", ")));
    }
    text
}

fn meaning(instrument: Instrument) -> &'static str {
    match instrument {
        Instrument::Profile => "calls counted in the emulator",
        Instrument::Monitor => "calls counted by eBPF programs in the guest",
        Instrument::Sensitivity => "slopes over the time of a decision",
        Instrument::Placement => "calls at most, by source",
    }
}

fn pair(of: &PairSummary) -> Numbers {
    (
        pair_title(of),
        [of.compared, of.agree, of.explained, of.disagree],
    )
}

/// What must hold of the two: `profile = monitor`.
pub(crate) fn pair_title(of: &PairSummary) -> String {
    let sign = match of.second {
        Instrument::Placement => "≤",
        _ => "=",
    };
    format!("{} {sign} {}", of.first, of.second)
}

/// What was not compared, one line for each reason.
fn missing(document: &CheckDocument) -> Vec<String> {
    let mut lines: BTreeMap<(Instrument, &str), Vec<String>> = BTreeMap::new();
    for benchmark in &document.benchmarks {
        for missing in &benchmark.missing {
            let key = (missing.instrument, missing.reason.as_str());
            lines.entry(key).or_default().push(benchmark.title());
        }
    }
    let line = |((instrument, reason), titles): ((Instrument, &str), Vec<String>)| {
        format!(
            "{instrument} tells nothing of {}: {}",
            some_of(&titles),
            printable(reason.lines().next().unwrap_or_default(), REASON_LIMIT)
        )
    };
    lines.into_iter().map(line).collect()
}

/// `open:AA, stat:AA and 12 more`.
fn some_of(titles: &[String]) -> String {
    let named: Vec<String> = titles
        .iter()
        .take(NAMED)
        .map(|title| printable(title, TEXT_LIMIT))
        .collect();
    match titles.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {} more", named.join(", "), count(more as u64)),
    }
}
