// SPDX-License-Identifier: GPL-2.0-or-later
//! The figures of many runs as series, as tables.

mod figure;
mod records;

use experiment::{History, Metric, Series, SeriesChange};

use crate::column::Columns;
use crate::format::{figure, measured, percent};
use crate::group::grouped;
use crate::table::{Report, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

pub use figure::history_figures;
pub use records::history_records;

/// Changes of one series that a table shows.
const CHANGES_SHOWN: usize = 20;

/// What a report of a history shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HistoryOptions {
    /// Also series without a change.
    pub unchanged: bool,
}

/// One table for each kernel, file system, metric and machine with anything to show: where
/// operations changed. No table if nothing did.
pub fn history_report(history: &History, options: &HistoryOptions) -> Report {
    let (mut tables, mut others) = (Vec::new(), 0);
    for (_, series) in groups(history) {
        match table(history, &series, options).if_any() {
            Some(table) => tables.push(table),
            None => others += series.len(),
        }
    }
    if let Some(last) = tables.last_mut()
        && others > 0
    {
        let note = format!("{others} series of other metrics, kernels or machines did not change.");
        last.legend.push(note);
    }
    Report {
        tables,
        warnings: Vec::new(),
    }
}

/// What the series of a table or a figure share.
type Place<'a> = (&'a str, &'a str, Metric, &'a str);

fn groups(history: &History) -> Vec<(Place<'_>, Vec<&Series>)> {
    grouped(&history.series, |series| {
        (
            series.kernel.as_str(),
            series.filesystem.as_str(),
            series.metric,
            series.machine.as_str(),
        )
    })
}

/// A series, and a change of it if it has any.
type Line<'a> = (&'a Series, Option<&'a SeriesChange>);

fn table(history: &History, series: &[&Series], options: &HistoryOptions) -> Table {
    let unchanged = series.iter().filter(|series| series.changes.is_empty());
    let lines = series.iter().flat_map(|&series| {
        let none = series.changes.is_empty() && options.unchanged;
        let shown = series.changes.iter().rev().take(CHANGES_SHOWN).rev();
        let none = none.then_some((series, None));
        none.into_iter()
            .chain(shown.map(move |change| (series, Some(change))))
    });
    Columns::new()
        .left("benchmark", |(series, _): Line<'_>| series.title())
        .left("configuration", |(series, _)| &series.configuration)
        .column("runs", |(series, _)| series.points.len())
        .left("since", |(series, change)| {
            run_name(history, series, change.map_or(0, |change| change.point))
        })
        .column("before", |(_, change)| change.map(|change| change.before))
        .column("after", |(series, change)| match change {
            Some(change) => Some(change.after),
            None => series.points.last().map(|point| point.figure),
        })
        .right("change", overhead)
        .right("p", |(series, change)| {
            let p = change?.p;
            Some(if series.exact {
                "exact".to_owned()
            } else {
                format!("{p:.4}")
            })
        })
        .table(title(series), lines)
        .fixed(2)
        .legend(legend(history, series, unchanged.count()))
}

fn overhead((series, change): Line<'_>) -> Value {
    let Some(change) = change else {
        return match series.exact {
            true => Value::plain("0 %"),
            false => Value::toned("~", Tone::Faint),
        };
    };
    let Some(overhead) = change.overhead else {
        return Value::toned("n/a", Tone::Missing);
    };
    let tone = if overhead > 0.0 {
        Tone::Worse
    } else {
        Tone::Better
    };
    Value::from(overhead).shown(percent(overhead)).tone(tone)
}

fn title(series: &[&Series]) -> String {
    let Some(first) = series.first() else {
        return String::new();
    };
    let what = measured(first.metric);
    let kernel = match first.kernel.as_str() {
        "" => "all kernels".to_owned(),
        kernel => printable(kernel, TEXT_LIMIT),
    };
    let machine = match first.machine.as_str() {
        "" => String::new(),
        machine => format!(" ({})", printable(machine, 2 * TEXT_LIMIT)),
    };
    let filesystem = printable(&first.filesystem, TEXT_LIMIT);
    format!("{kernel}, {filesystem}: {what}{machine}")
}

fn legend(history: &History, series: &[&Series], unchanged: usize) -> Vec<String> {
    let mut legend = vec![
        "Columns: how many runs have the figure; the run with which it changed; the medians of the \
         runs before, since the last change, and after, to the next; + is worse."
            .to_owned(),
    ];
    if series.iter().any(|series| !series.exact) {
        legend.push(format!(
            "p: how often chance alone shows a change as clear; shown up to {}. In {} series \
             without any, some {} would be shown.",
            history.alpha,
            series.len(),
            figure((series.len() as f64 * history.alpha * 100.0).round() / 100.0)
        ));
    }
    if unchanged > 0 {
        legend.push(format!(
            "{unchanged} of {} series did not change.",
            series.len()
        ));
    }
    legend
}

/// What a point's run is called: its label, or when it began.
fn run_name(history: &History, series: &Series, point: u32) -> String {
    let point = series.points.get(point as usize);
    let run = point.and_then(|point| history.runs.get(point.run as usize));
    run.map_or_else(String::new, |run| {
        let name = run.label.as_ref().unwrap_or(&run.started);
        printable(name, TEXT_LIMIT)
    })
}
