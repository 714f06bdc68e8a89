// SPDX-License-Identifier: GPL-2.0-or-later
//! A comparison's cells as CSV (RFC 4180), one row each.

use std::io::Write;

use experiment::ComparisonDocument;
use experiment::comparison::{ComparedCell, Place};

use crate::csv::{CsvError, text};

/// The columns, in order. A later version may append some; it keeps these.
///
/// They are those of the comparison document; `base_kernel` and so on repeat NEW's where
/// BASE's is the same. `change`, `ci95_low`, `ci95_high` and `detectable` are fractions
/// (0.319 is 31.9 %), more is worse.
pub const COMPARISON_CSV_COLUMNS: [&str; 27] = [
    "kernel",
    "configuration",
    "filesystem",
    "base_kernel",
    "base_configuration",
    "base_filesystem",
    "benchmark",
    "variant",
    "detail",
    "quantity",
    "unit",
    "base",
    "new",
    "base_n",
    "new_n",
    "difference",
    "change",
    "ci95_low",
    "ci95_high",
    "effect",
    "p",
    "p_adjusted",
    "detectable",
    "method",
    "verdict",
    "gate",
    "reason",
];

/// Writes a heading line and one line for each compared cell, in the document's order.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn comparison_csv(document: &ComparisonDocument, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(COMPARISON_CSV_COLUMNS)?;
    for cell in &document.compared {
        out.write_record(record(cell))?;
    }
    out.flush()?;
    Ok(())
}

fn record(cell: &ComparedCell) -> [String; 27] {
    let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    let whole = |value: Option<u64>| value.map(|v| v.to_string()).unwrap_or_default();
    let base: &Place = cell.base_place.as_ref().unwrap_or(&cell.place);
    let gate = cell.gate.as_ref();
    let mut reasons: Vec<String> = cell.reason.clone().into_iter().collect();
    reasons.extend(cell.doubts.iter().cloned());
    [
        text(&cell.place.kernel),
        text(&cell.place.configuration),
        text(&cell.place.filesystem),
        text(&base.kernel),
        text(&base.configuration),
        text(&base.filesystem),
        text(&cell.benchmark),
        text(&cell.variant),
        text(&cell.detail),
        cell.quantity.to_string(),
        text(&cell.unit),
        number(cell.base.value),
        number(cell.new.value),
        whole(cell.base.n),
        whole(cell.new.n),
        number(cell.difference),
        number(cell.overhead),
        number(cell.ci95.map(|ci| ci[0])),
        number(cell.ci95.map(|ci| ci[1])),
        number(cell.effect),
        number(cell.p),
        number(cell.p_adjusted),
        number(cell.detectable),
        cell.method.to_string(),
        cell.verdict.to_string(),
        gate.map(|gate| gate.verdict.to_string())
            .unwrap_or_default(),
        text(&reasons.join("; ")),
    ]
}
