// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's word as a table.

use experiment::ComparisonDocument;
use experiment::comparison::{ComparedCell, GateVerdict};

use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

/// Cells that did not pass, the failed ones first; None without a gate.
pub(super) fn table(document: &ComparisonDocument) -> Option<Table> {
    let gate = document.gate.as_ref()?;
    let mut rows = Vec::new();
    for verdict in [GateVerdict::Fail, GateVerdict::Inconclusive] {
        let cells = document.compared.iter();
        rows.extend(cells.filter_map(|cell| row(cell, verdict)));
    }
    let mut legend = vec![format!(
        "{} within their limit, {} above it, {} of which it cannot be told.",
        gate.passed, gate.failed, gate.inconclusive
    )];
    legend.extend(gate.reasons.iter().map(|reason| printable(reason, 200)));
    Some(Table {
        title: format!("Gate: {}", word(gate.verdict)),
        legend,
        columns: vec![
            Column::new("gate", Align::Left),
            Column::new("benchmark", Align::Left),
            Column::new("measured on", Align::Left),
            Column::new("why", Align::Left),
        ],
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    })
}

pub(super) fn word(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Pass => "passed",
        GateVerdict::Fail => "failed",
        GateVerdict::Inconclusive => "inconclusive",
    }
}

fn row(cell: &ComparedCell, verdict: GateVerdict) -> Option<Row> {
    let gate = cell.gate.as_ref().filter(|gate| gate.verdict == verdict)?;
    let tone = match verdict {
        GateVerdict::Fail => Tone::Worse,
        GateVerdict::Inconclusive => Tone::Missing,
        GateVerdict::Pass => Tone::Plain,
    };
    Some(Row {
        values: vec![
            Value::toned(word(verdict), tone),
            Value::plain(printable(&cell.title(), TEXT_LIMIT)),
            Value::plain(printable(&cell.place.title(), 120)),
            Value::plain(printable(&gate.message, 200)),
        ],
        summary: false,
    })
}
