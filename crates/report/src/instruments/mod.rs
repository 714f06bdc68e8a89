// SPDX-License-Identifier: GPL-2.0-or-later
//! Whether instruments agree: a summary, what does not agree, and why.

mod hooks;
mod residuals;

use std::collections::BTreeMap;

use experiment::check::{CheckedInstrument, PairSummary};
use experiment::{CheckDocument, Instrument, InstrumentStatus};

use crate::format::count;
use crate::table::{Align, Column, Report, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

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

fn summary(document: &CheckDocument) -> Table {
    let pairs = document.summary.pairs.iter().map(pair);
    let residuals = document.summary.residuals;
    let mut rows: Vec<Row> = pairs.collect();
    if residuals.compared() + residuals.alone > 0 {
        rows.push(numbers(
            "residuals: outside hooks stacks differ in nothing",
            [
                residuals.compared(),
                residuals.agree,
                residuals.explained,
                residuals.disagree,
            ],
        ));
    }
    let mut columns = vec![Column::new("", Align::Left)];
    let titles = ["compared", "agree", "explained", "disagree"];
    columns.extend(titles.map(|title| Column::figures(title, None)));
    Table {
        title: title(document),
        legend: legend(document),
        columns,
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    }
}

fn title(document: &CheckDocument) -> String {
    format!(
        "{} ({}) under {} on {}: do the instruments agree?",
        printable(&document.kernel, TEXT_LIMIT),
        printable(&document.release, TEXT_LIMIT),
        printable(&document.stack.join(","), TEXT_LIMIT),
        printable(&document.fs, TEXT_LIMIT)
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

fn pair(of: &PairSummary) -> Row {
    let sign = match of.second {
        Instrument::Placement => "≤",
        _ => "=",
    };
    numbers(
        &format!("{} {sign} {}", of.first, of.second),
        [of.compared, of.agree, of.explained, of.disagree],
    )
}

fn numbers(what: &str, numbers: [u64; 4]) -> Row {
    let [compared, agree, explained, disagree] = numbers;
    let tone = if disagree > 0 {
        Tone::Worse
    } else {
        Tone::Plain
    };
    Row {
        values: vec![
            Value::plain(what),
            Value::plain(count(compared)),
            Value::plain(count(agree)),
            Value::plain(count(explained)),
            Value::toned(count(disagree), tone),
        ],
        summary: false,
    }
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
