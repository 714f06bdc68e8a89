// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's result as a table.

use model::ComparisonDocument;
use model::comparison::{CellGate, ComparedCell, GateVerdict};

use crate::column::Columns;
use crate::table::{Table, Tone, Value};
use crate::text::printable;

/// Cells that did not pass, failed ones first; None without a gate.
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
