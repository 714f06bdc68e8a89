// SPDX-License-Identifier: GPL-2.0-or-later
//! A run's cells as CSV (RFC 4180), one row each.

use std::io::Write;

use experiment::{Cell, Run};

use crate::cells::{Baselines, cost};
use crate::text::printable;

/// The columns, in order. A later version may append some; it keeps these.
///
/// - `kernel`, `release`, `stack`, `active_lsms`, `integrity`, `policy`, `tuning`, `filesystem`,
///   `benchmark`, `variant`, `class`, `syscalls`, `metric`, `unit`, `status`: as in the
///   run document; lists are joined by commas.
/// - `value`: the cell's figure in `unit`: the modal path's instructions, or the median.
/// - `overhead`: of `value` against the baseline's, as a fraction (0.319 is 31.9 %),
///   positive when worse; empty for the baseline itself and where there is none.
/// - `n`, `median`, `mean`, `stddev`, `min`, `max`, `ci95_low`, `ci95_high`: of all
///   samples, in `unit`.
/// - `rep_iterations`, `modal_windows`, `windows`, `dirty`, `other_paths`: only for
///   instructions.
/// - `batch`: operations per sample; `seconds`: wall-clock time that the cell took.
/// - `reason`: why there is no figure.
pub const CSV_COLUMNS: [&str; 33] = [
    "kernel",
    "release",
    "stack",
    "active_lsms",
    "integrity",
    "policy",
    "tuning",
    "filesystem",
    "benchmark",
    "variant",
    "class",
    "syscalls",
    "metric",
    "unit",
    "status",
    "value",
    "overhead",
    "n",
    "median",
    "mean",
    "stddev",
    "min",
    "max",
    "ci95_low",
    "ci95_high",
    "rep_iterations",
    "modal_windows",
    "windows",
    "dirty",
    "other_paths",
    "batch",
    "seconds",
    "reason",
];

/// Longest text of one field, in characters.
const FIELD_LIMIT: usize = 4_096;

/// The CSV could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// A record could not be written.
    #[error("cannot write CSV: {0}")]
    Record(#[from] ::csv::Error),
    /// The end could not be flushed.
    #[error("cannot write CSV: {0}")]
    Flush(#[from] std::io::Error),
}

/// Writes a heading line and one line for each cell, in the document's order.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn csv(run: &Run, writer: impl Write) -> Result<(), CsvError> {
    let baselines = Baselines::of(run);
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(CSV_COLUMNS)?;
    for cell in &run.cells {
        let overhead = baselines
            .baseline(cell)
            .and_then(|baseline| cost(cell, baseline))
            .map(|cost| cost.overhead);
        out.write_record(record(cell, overhead))?;
    }
    out.flush()?;
    Ok(())
}

fn record(cell: &Cell, overhead: Option<f64>) -> [String; 33] {
    let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    let whole = |value: Option<u64>| value.map(|v| v.to_string()).unwrap_or_default();
    let counts = cell.counts.as_ref();
    [
        text(&cell.kernel),
        text(&cell.release),
        text(&cell.stack.join(",")),
        text(&cell.active_lsms.join(",")),
        words(cell.integrity.iter()),
        cell.policy.to_string(),
        tuning(cell),
        text(&cell.filesystem),
        text(&cell.benchmark),
        text(&cell.variant),
        text(&cell.class),
        text(&cell.syscalls.join(",")),
        cell.metric.to_string(),
        cell.unit.to_string(),
        cell.status.to_string(),
        number(cell.headline()),
        number(overhead),
        whole(cell.n),
        number(cell.median),
        number(cell.mean),
        number(cell.stddev),
        number(cell.min),
        number(cell.max),
        number(cell.ci95.map(|ci| ci[0])),
        number(cell.ci95.map(|ci| ci[1])),
        whole(counts.map(|c| c.modal.rep_iterations)),
        whole(counts.map(|c| c.modal.windows)),
        whole(counts.map(|c| c.windows)),
        whole(counts.map(|c| c.dirty)),
        whole(counts.map(|c| c.paths.len() as u64)),
        whole(cell.batch.map(u64::from)),
        number(cell.seconds),
        text(cell.reason.as_deref().unwrap_or_default()),
    ]
}

fn words(words: impl Iterator<Item = impl ToString>) -> String {
    words
        .map(|word| word.to_string())
        .collect::<Vec<_>>()
        .join(",")
}

fn tuning(cell: &Cell) -> String {
    let pairs = cell.tuning.pairs();
    words(pairs.iter().map(|(key, value)| format!("{key}={value}")))
}

/// A text that a spreadsheet does not take for a formula: it may come from a guest.
pub(crate) fn text(text: &str) -> String {
    let text = printable(text, FIELD_LIMIT);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}
