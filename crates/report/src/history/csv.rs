// SPDX-License-Identifier: GPL-2.0-or-later
//! Series as CSV (RFC 4180): a row for each figure.

use std::io::Write;

use experiment::History;

use crate::csv::{CsvError, text};

/// The columns, in order. A later version may append some; it keeps these.
///
/// - `kernel`, `configuration`, `filesystem`, `benchmark`, `variant`, `metric`, `unit`,
///   `machine`: of the series; `kernel` is empty where kernels are taken together.
/// - `file`, `label`, `started`, `release`: of the run.
/// - `value`, `ci95_low`, `ci95_high`: its figure, in `unit`.
/// - `change`: 1 where a new level begins, else 0.
/// - `before`, `after`, `overhead`, `p`: of the change, as in the JSON.
pub const HISTORY_CSV_COLUMNS: [&str; 20] = [
    "kernel",
    "configuration",
    "filesystem",
    "benchmark",
    "variant",
    "metric",
    "unit",
    "machine",
    "file",
    "label",
    "started",
    "release",
    "value",
    "ci95_low",
    "ci95_high",
    "change",
    "before",
    "after",
    "overhead",
    "p",
];

/// Writes a heading line, then one for each figure of each series.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn history_csv(history: &History, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(HISTORY_CSV_COLUMNS)?;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for series in &history.series {
        for (at, point) in series.points.iter().enumerate() {
            let run = history.runs.get(point.run as usize);
            let change = series
                .changes
                .iter()
                .find(|change| change.point as usize == at);
            let label = run.and_then(|run| run.label.as_deref());
            out.write_record([
                text(&series.kernel),
                text(&series.configuration),
                text(&series.filesystem),
                text(&series.benchmark),
                text(&series.variant),
                series.metric.to_string(),
                series.unit.to_string(),
                text(&series.machine),
                text(run.map_or("", |run| &run.file)),
                text(label.unwrap_or_default()),
                text(run.map_or("", |run| &run.started)),
                text(&point.release),
                point.figure.to_string(),
                number(point.interval.map(|[low, _]| low)),
                number(point.interval.map(|[_, high]| high)),
                u8::from(change.is_some()).to_string(),
                number(change.map(|change| change.before)),
                number(change.map(|change| change.after)),
                number(change.and_then(|change| change.overhead)),
                number(change.map(|change| change.p)),
            ])?;
        }
    }
    out.flush().map_err(::csv::Error::from)?;
    Ok(())
}
