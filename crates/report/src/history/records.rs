// SPDX-License-Identifier: GPL-2.0-or-later
//! Series for programs: a row for each figure.

use experiment::{History, HistoryRun, Series, SeriesChange, SeriesPoint};

use crate::column::{Columns, Records};

/// A figure of a series.
#[derive(Clone, Copy)]
struct Line<'a> {
    series: &'a Series,
    point: &'a SeriesPoint,
    run: Option<&'a HistoryRun>,
    change: Option<&'a SeriesChange>,
}

/// A row for each figure of each series. A later version may append columns; it keeps these.
///
/// - `kernel`, `configuration`, `filesystem`, `benchmark`, `variant`, `metric`, `unit`,
///   `machine`: of the series; `kernel` is empty where kernels are taken together.
/// - `file`, `label`, `started`, `release`: of the run.
/// - `value`, `ci95_low`, `ci95_high`: its figure, in `unit`.
/// - `change`: 1 where a new level begins, else 0.
/// - `before`, `after`, `overhead`, `p`: of the change, as in the JSON.
pub fn history_records(history: &History) -> Records<'_> {
    Columns::new()
        .column("kernel", |line: Line<'_>| &line.series.kernel)
        .column("configuration", |line| &line.series.configuration)
        .column("filesystem", |line| &line.series.filesystem)
        .column("benchmark", |line| &line.series.benchmark)
        .column("variant", |line| &line.series.variant)
        .column("metric", |line| line.series.metric.to_string())
        .column("unit", |line| line.series.unit.to_string())
        .column("machine", |line| &line.series.machine)
        .column("file", |line| line.run.map(|run| &run.file))
        .column("label", |line| line.run?.label.as_ref())
        .column("started", |line| line.run.map(|run| &run.started))
        .column("release", |line| &line.point.release)
        .column("value", |line| line.point.figure)
        .column("ci95_low", |line| Some(line.point.interval?[0]))
        .column("ci95_high", |line| Some(line.point.interval?[1]))
        .column("change", |line| u32::from(line.change.is_some()))
        .column("before", |line| line.change.map(|change| change.before))
        .column("after", |line| line.change.map(|change| change.after))
        .column("overhead", |line| line.change?.overhead)
        .column("p", |line| line.change.map(|change| change.p))
        .records(
            history
                .series
                .iter()
                .flat_map(|series| lines(history, series)),
        )
}

fn lines<'a>(history: &'a History, series: &'a Series) -> impl Iterator<Item = Line<'a>> {
    let points = series.points.iter().enumerate();
    points.map(move |(at, point)| Line {
        series,
        point,
        run: history.runs.get(point.run as usize),
        change: series
            .changes
            .iter()
            .find(|change| change.point as usize == at),
    })
}
