// SPDX-License-Identifier: GPL-2.0-or-later
//! What a machine measures when nothing has changed, as a table.

use experiment::AaReport;

use crate::format;
use crate::table::{Align, Column, Row, Table, Value};

/// One row for each metric; None without a report.
pub(crate) fn table(report: Option<&AaReport>) -> Option<Table> {
    let report = report?;
    let percent = |fraction: f64| format!("{:.2} %", fraction * 100.0);
    let rows = report.metrics.iter().map(|metric| Row {
        values: [
            metric.quantity.to_string(),
            format::count(metric.cells),
            format::count(metric.alarms),
            percent(metric.rate),
            percent(metric.rate_at_most),
            format::count(metric.alarms_uncorrected),
            percent(metric.largest),
            percent(metric.detectable),
        ]
        .into_iter()
        .map(Value::plain)
        .collect(),
        summary: false,
    });
    Some(Table {
        title: format!(
            "A/A: {} runs without a change, all pairs compared",
            report.runs
        ),
        legend: vec![
            "false: differences that were called real; at most: what that rate may be (95 %); \
             alone: false ones if each cell is judged by itself; largest: difference of two \
             figures of one cell; detectable: the smallest change that would be found, median \
             over cells. Differences of times up to the largest count as noise."
                .to_owned(),
        ],
        columns: std::iter::once(Column::new("metric", Align::Left))
            .chain(
                [
                    "pairs of cells",
                    "false",
                    "rate",
                    "at most",
                    "alone",
                    "largest",
                    "detectable",
                ]
                .map(|title| Column::figures(title, None)),
            )
            .collect(),
        fixed_columns: 1,
        rows: rows.collect(),
        footnotes: Vec::new(),
    })
}
