// SPDX-License-Identifier: GPL-2.0-or-later
//! What a machine measures when nothing has changed, as a table.

use experiment::{AaMetric, AaReport};

use crate::column::Columns;
use crate::table::{Table, Value};

/// One row for each metric; None without a report.
pub(crate) fn table(report: Option<&AaReport>) -> Option<Table> {
    let report = report?;
    let percent = |fraction: f64| {
        let text = format!("{:.2} %", fraction * 100.0);
        Value::from(fraction).shown(text)
    };
    let table = Columns::new()
        .left("metric", |of: &AaMetric| of.metric.to_string())
        .column("pairs of cells", |of| of.cells)
        .column("false", |of| of.alarms)
        .right("rate", move |of| percent(of.rate))
        .right("at most", move |of| percent(of.rate_at_most))
        .column("alone", |of| of.alarms_uncorrected)
        .right("largest", move |of| percent(of.largest))
        .right("detectable", move |of| percent(of.detectable))
        .table(
            format!(
                "A/A: {} runs without a change, all pairs compared",
                report.runs
            ),
            &report.metrics,
        )
        .legend([
            "false: differences that were called real; at most: what that rate may be (95 %); \
             alone: false ones if each cell is judged by itself; largest: difference of two \
             figures of one cell; detectable: the smallest change that would be found, median \
             over cells. Differences of times up to the largest count as noise.",
        ]);
    Some(table)
}
