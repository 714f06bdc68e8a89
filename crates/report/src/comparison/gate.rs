// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's word as a table.

use model::ComparisonDocument;
use model::comparison::{CellGate, ComparedCell, GateVerdict};

use crate::column::Columns;
use crate::format;
use crate::table::{Table, Tone, Value};
use crate::text::printable;

/// A line for each cell of which the gate says this, in the document's order; for what it
/// cannot tell with the reason.
pub fn gate_lines(document: &ComparisonDocument, verdict: GateVerdict) -> Vec<String> {
    let line = |cell: &ComparedCell| {
        let gate = cell.gate.as_ref().filter(|gate| gate.verdict == verdict)?;
        let change = cell.overhead.map_or("n/a".to_owned(), format::percent);
        let why = match verdict {
            GateVerdict::Inconclusive => format!(": {}", printable(&gate.message, 200)),
            GateVerdict::Pass | GateVerdict::Fail => String::new(),
        };
        Some(format!(
            "{}, {} under {}: {} {} against {} ({change}){why}",
            printable(&cell.title(), 80),
            printable(&cell.place.kernel, 80),
            printable(&cell.place.configuration, 200),
            format::with_interval(cell.new.value?, cell.new.ci95),
            cell.unit,
            format::with_interval(cell.base.value?, cell.base.ci95),
        ))
    };
    document.compared.iter().filter_map(line).collect()
}

/// Cells that did not pass, the failed ones first; None without a gate.
pub(super) fn table<'a>(document: &'a ComparisonDocument) -> Option<Table> {
    let gate = document.gate.as_ref()?;
    let judged = |cell: &'a ComparedCell| Some((cell, cell.gate.as_ref()?));
    let with = |verdict| {
        let cells = document.compared.iter().filter_map(judged);
        cells.filter(move |(_, gate)| gate.verdict == verdict)
    };
    let table = Columns::new()
        .left("gate", |(_, gate): (&ComparedCell, &CellGate)| {
            let tone = match gate.verdict {
                GateVerdict::Fail => Tone::Worse,
                GateVerdict::Inconclusive => Tone::Missing,
                GateVerdict::Pass => Tone::Plain,
            };
            Value::toned(word(gate.verdict), tone)
        })
        .left("benchmark", |(cell, _)| cell.title())
        .left("measured on", |(cell, _)| {
            Value::long(&cell.place.title(), 120)
        })
        .left("why", |(_, gate)| Value::long(&gate.message, 200))
        .table(
            format!("Gate: {}", word(gate.verdict)),
            with(GateVerdict::Fail).chain(with(GateVerdict::Inconclusive)),
        )
        .fixed(2)
        .legend([format!(
            "{} within their limit, {} above it, {} of which it cannot be told.",
            gate.passed, gate.failed, gate.inconclusive
        )])
        .legend(gate.reasons.iter().map(|reason| printable(reason, 200)));
    Some(table)
}

pub(crate) fn word(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Pass => "passed",
        GateVerdict::Fail => "failed",
        GateVerdict::Inconclusive => "inconclusive",
    }
}
