// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures as CSV (RFC 4180), alone and beside ours.

use std::io::Write;

use published::{Beside, Comparison, Figure, named};

use super::tables::{configurations, ours};
use crate::CsvError;
use crate::csv::text;

/// The columns of [`beside_csv`], in order. A later version may append some; it keeps
/// these.
///
/// - `figure`: the id; `source`, `place`, `lines`, `their_kernel`, `their_benchmark`,
///   `their_configuration`: what is published, and where.
/// - `quantity`, `unit`: what all values of the row are.
/// - `low`, `high`: the published range; both the same for a value, one empty for a bound.
/// - `kernel`, `release`, `filesystem`, `configuration`, `baseline`, `benchmark`: ours.
/// - `metric`: what ours is made of. Theirs is always time, except for counts.
/// - `ours`, `difference`: in `unit`; the difference to the nearest end of their range.
/// - `verdict`: agrees, same direction, differs. `unclear`: 1 if ours may be chance.
/// - `stands_in`: in what our configuration differs; `explanations`: ids, by blanks.
/// - `note`: what to know of theirs.
pub const BESIDE_CSV_COLUMNS: [&str; 25] = [
    "figure",
    "source",
    "place",
    "lines",
    "their_kernel",
    "their_benchmark",
    "their_configuration",
    "quantity",
    "unit",
    "low",
    "high",
    "kernel",
    "release",
    "filesystem",
    "configuration",
    "baseline",
    "benchmark",
    "metric",
    "ours",
    "difference",
    "verdict",
    "unclear",
    "stands_in",
    "explanations",
    "note",
];

/// The columns of [`published_csv`]: as in [`BESIDE_CSV_COLUMNS`]; `hooks`, by blanks;
/// `per_component`: 1 if the value is for each component of a path; `ours`: our benchmarks
/// for theirs, by blanks.
pub const PUBLISHED_CSV_COLUMNS: [&str; 15] = [
    "figure",
    "source",
    "place",
    "lines",
    "their_kernel",
    "their_benchmark",
    "their_configuration",
    "quantity",
    "unit",
    "low",
    "high",
    "hooks",
    "per_component",
    "ours",
    "note",
];

/// Writes a heading line and one line for each comparison.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn beside_csv(beside: &Beside, writer: impl Write) -> Result<(), CsvError> {
    let rows = beside.comparisons.iter().map(compared);
    write(writer, &BESIDE_CSV_COLUMNS, rows)
}

/// Writes a heading line and one line for each published figure whose id fits `pattern`.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn published_csv(pattern: &str, writer: impl Write) -> Result<(), CsvError> {
    let rows = named(pattern).map(|figure| {
        let mut row = theirs(figure, [figure.low, figure.high]);
        row.extend([
            text(&figure.hooks.join(" ")),
            u8::from(figure.per_component).to_string(),
            text(&ours(figure)),
            text(figure.note.as_deref().unwrap_or_default()),
        ]);
        row
    });
    write(writer, &PUBLISHED_CSV_COLUMNS, rows)
}

fn write(
    writer: impl Write,
    columns: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(columns)?;
    for row in rows {
        out.write_record(row)?;
    }
    out.flush()?;
    Ok(())
}

fn theirs(figure: &Figure, bounds: [Option<f64>; 2]) -> Vec<String> {
    let bound = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    vec![
        figure.id.clone(),
        figure.source.clone(),
        text(&figure.place),
        text(&figure.lines),
        text(&figure.kernel),
        text(&figure.theirs),
        text(&configurations(figure)),
        figure.quantity.as_str().to_owned(),
        figure.quantity.unit().to_owned(),
        bound(bounds[0]),
        bound(bounds[1]),
    ]
}

fn compared(comparison: &Comparison) -> Vec<String> {
    let figure = comparison.figure;
    let mut row = theirs(figure, comparison.bounds);
    let explanations: Vec<&str> = comparison
        .explanations
        .iter()
        .map(|e| e.id.as_str())
        .collect();
    row.extend([
        text(&comparison.kernel),
        text(&comparison.release),
        text(&comparison.filesystem),
        text(&comparison.tested),
        text(comparison.baseline.as_deref().unwrap_or_default()),
        text(&comparison.benchmark),
        comparison.metric.to_string(),
        comparison.ours.to_string(),
        comparison.difference.to_string(),
        comparison.verdict.to_string(),
        u8::from(comparison.unclear).to_string(),
        text(&comparison.stands_in.join("; ")),
        explanations.join(" "),
        text(figure.note.as_deref().unwrap_or_default()),
    ]);
    row
}
