// SPDX-License-Identifier: GPL-2.0-or-later
//! Results of an A/A test as tables.

use model::{AaLayouts, AaMetric, AaReport};

use crate::column::Columns;
use crate::format;
use crate::table::{Table, Value};
use crate::text::short;

pub(crate) fn tables(report: Option<&AaReport>) -> Vec<Table> {
    let tables = |report: &AaReport| {
        let layouts = of_layouts(&report.layouts).if_any();
        [of_metrics(report)].into_iter().chain(layouts)
    };
    report.into_iter().flat_map(tables).collect()
}

fn percent(fraction: f64) -> Value {
    Value::from(fraction).shown(format!("{:.2} %", fraction * 100.0))
}

fn of_layouts(layouts: &[AaLayouts]) -> Table {
    Columns::new()
        .left("kernel", |of: &AaLayouts| &of.kernel)
        .left("on", |of| &of.filesystem)
        .column("layouts", |of| of.layouts)
        .column("rounds", |of| of.rounds)
        .column("intervals", |of| of.intervals)
        .column("false", |of| of.false_intervals)
        .right("rate", |of| percent(of.rate()))
        .right("half-width", |of| percent(of.half_width_median))
        .right("largest", |of| percent(of.half_width_largest))
        .left("of", |of| {
            format!("{}, {} ns", short(&of.widest), format::figure(of.half_width_largest_ns))
        })
        .right("getppid, ns", |of| of.getppid_largest_ns)
        .table("A/A over layouts: each stack under two names", layouts)
        .legend([
            "Every other round of a stack against the rounds between. false: intervals that leave \
             out 0; half-width: half of an interval's width, as a part of what the operation takes, \
             median over intervals, and the largest of all; getppid: the most that a stack adds to \
             the operation that asks no module.",
        ])
}

fn of_metrics(report: &AaReport) -> Table {
    Columns::new()
        .left("metric", |of: &AaMetric| of.metric.to_string())
        .column("pairs of cells", |of| of.cells)
        .column("false", |of| of.alarms)
        .right("rate", |of| percent(of.rate))
        .right("at most", |of| percent(of.rate_at_most))
        .column("alone", |of| of.alarms_uncorrected)
        .right("largest", |of| percent(of.largest))
        .right("detectable", |of| percent(of.detectable))
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
        ])
}
