// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's result as KTAP (the kernel's Documentation/dev-tools/ktap.rst), which `kunit.py parse`
//! and KernelCI read.

use model::ComparisonDocument;
use model::comparison::{ComparedCell, GateVerdict};

use crate::text::printable;

const LINE_LIMIT: usize = 300;

/// One test per compared cell; undecidable ones are skipped with the reason, as KTAP has no other
/// way. Whatever else makes the gate fail is a test, too.
pub fn ktap(document: &ComparisonDocument) -> String {
    let reasons = document.gate.iter().flat_map(|gate| &gate.reasons);
    let reasons: Vec<&String> = reasons.collect();
    let tests = document.compared.len() + reasons.len();
    let mut out = format!("KTAP version 1\n1..{tests}\n");
    let mut number = 0;
    for cell in &document.compared {
        number += 1;
        if let Some(why) = why(cell) {
            out += &format!("# {}\n", line(&why));
        }
        let (ended, directive) = match cell.gate.as_ref().map(|gate| gate.verdict) {
            Some(GateVerdict::Pass) => ("ok", ""),
            Some(GateVerdict::Fail) => ("not ok", ""),
            Some(GateVerdict::Inconclusive) => ("ok", " # SKIP inconclusive"),
            None => ("ok", " # SKIP no limit"),
        };
        out += &format!("{ended} {number} {}{directive}\n", name(cell));
    }
    for reason in reasons {
        number += 1;
        let reason = line(reason);
        out += &format!("# {reason}\nok {number} the_whole # SKIP inconclusive\n");
    }
    out
}

fn why(cell: &ComparedCell) -> Option<String> {
    let gate = cell.gate.as_ref()?;
    (gate.verdict != GateVerdict::Pass).then(|| format!("{}: {}", cell.title(), gate.message))
}

/// `instructions.open:AA/BB.debian:6.12.capability`, without blanks, at which a shell splits, and
/// `#`, which begins a directive.
fn name(cell: &ComparedCell) -> String {
    let parts = [
        cell.metric.to_string(),
        cell.title(),
        cell.place.kernel.clone(),
        cell.place.configuration.clone(),
        cell.place.filesystem.clone(),
    ];
    let parts = parts.iter().filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.map(|part| part.replace(['#', ' '], "_")).collect();
    line(&parts.join("."))
}

fn line(text: &str) -> String {
    let one = text.lines().collect::<Vec<_>>().join("; ");
    printable(&one, LINE_LIMIT).replace('#', "_")
}
