// SPDX-License-Identifier: GPL-2.0-or-later
//! Slopes as CSV (RFC 4180), one row for each.

use std::io::Write;

use experiment::{SensitivityDocument, Slope};

use super::has_figures;
use crate::csv::{CsvError, text};

/// The columns, in order. A later version may append some; it keeps these.
///
/// - `kernel`, `release`, `module`, `stack`, `filesystem`, `caches`, `hooks`,
///   `benchmark`, `variant`, `syscalls`, `status`: of the slope, as in the document;
///   lists are joined by commas. `hooks` is `all` or those delayed together.
/// - `slope`, `ci95_low`, `ci95_high`: decisions per operation.
/// - `intercept`, `residual`: in `unit`; `r2`, `bend`: fractions.
/// - `n`, `dirty`: operations; `delays`: points that the line goes through;
///   `longest_delay_ns`: of them.
/// - `counted`, `difference`: calls of the hooks per operation, and the slope less them.
/// - `explanation`: why they differ; `reason`: why there are no figures.
/// - `part`: one hook's part of another row's slope; `others`: operations off the line.
pub const SENSITIVITY_CSV_COLUMNS: [&str; 29] = [
    "kernel",
    "release",
    "module",
    "stack",
    "filesystem",
    "caches",
    "hooks",
    "benchmark",
    "variant",
    "syscalls",
    "status",
    "slope",
    "ci95_low",
    "ci95_high",
    "intercept",
    "unit",
    "r2",
    "bend",
    "residual",
    "n",
    "dirty",
    "delays",
    "longest_delay_ns",
    "counted",
    "difference",
    "explanation",
    "reason",
    "part",
    "others",
];

/// Writes a heading line and one line for each slope, in the document's order.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn sensitivity_csv(document: &SensitivityDocument, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(SENSITIVITY_CSV_COLUMNS)?;
    for slope in &document.slopes {
        out.write_record(record(slope))?;
    }
    out.flush()?;
    Ok(())
}

fn record(slope: &Slope) -> [String; 29] {
    let ok = has_figures(slope);
    let number = |value: Option<f64>| value.filter(|_| ok).map(|v| v.to_string());
    let number = |value: Option<f64>| number(value).unwrap_or_default();
    let whole = |value: u64| if ok { value.to_string() } else { String::new() };
    let longest_ns = slope.points.iter().map(|point| point.delay_ns).max();
    [
        text(&slope.kernel),
        text(&slope.release),
        slope.module.to_string(),
        text(&slope.stack.join(",")),
        text(&slope.filesystem),
        slope.caches.to_string(),
        text(&slope.hooks.join(",")),
        text(&slope.benchmark),
        text(&slope.variant),
        text(&slope.syscalls.join(",")),
        slope.status.to_string(),
        number(Some(slope.slope)),
        number(Some(slope.ci95[0])),
        number(Some(slope.ci95[1])),
        number(Some(slope.intercept)),
        slope.unit.to_string(),
        number(slope.r2),
        number(slope.bend),
        number(Some(slope.residual)),
        whole(slope.n),
        whole(slope.dirty),
        whole(slope.points.len() as u64),
        longest_ns.map_or(String::new(), |ns| whole(u64::from(ns))),
        number(slope.counted),
        number(slope.difference()),
        text(slope.explanation.as_deref().unwrap_or_default()),
        text(slope.reason.as_deref().unwrap_or_default()),
        slope.part.to_string(),
        whole(slope.others),
    ]
}
