// SPDX-License-Identifier: GPL-2.0-or-later
//! The figures of many runs as series, as tables.

mod csv;
mod figure;

use experiment::{History, Metric, Series, SeriesChange};

use crate::format::{figure, percent};
use crate::group::grouped;
use crate::table::{Align, Column, Report, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

pub use csv::{HISTORY_CSV_COLUMNS, history_csv};
pub use figure::history_figures;

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
    let groups = groups(history);
    let mut tables: Vec<Table> = groups
        .iter()
        .map(|(_, series)| table(history, series, options))
        .collect();
    let nothing = |table: &Table| table.rows.is_empty();
    let unseen = groups
        .iter()
        .zip(&tables)
        .filter(|(_, table)| nothing(table));
    let others: usize = unseen.map(|((_, series), _)| series.len()).sum();
    tables.retain(|table| !nothing(table));
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

fn table(history: &History, series: &[&Series], options: &HistoryOptions) -> Table {
    let mut rows = Vec::new();
    let mut unchanged = 0;
    for series in series {
        if series.changes.is_empty() {
            unchanged += 1;
            if options.unchanged {
                rows.push(unchanged_row(history, series));
            }
        }
        let shown = series.changes.iter().rev().take(CHANGES_SHOWN).rev();
        rows.extend(shown.map(|change| row(history, series, change)));
    }
    let columns = [
        ("benchmark", Align::Left),
        ("configuration", Align::Left),
        ("runs", Align::Right),
        ("since", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("change", Align::Right),
        ("p", Align::Right),
    ];
    Table {
        title: title(series),
        legend: legend(history, series, unchanged),
        columns: columns
            .into_iter()
            .map(|(title, align)| Column::new(title, align))
            .collect(),
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    }
}

fn title(series: &[&Series]) -> String {
    let Some(first) = series.first() else {
        return String::new();
    };
    let what = match first.metric {
        Metric::Instructions => "guest kernel instructions per operation",
        Metric::Time => "nanoseconds per operation",
        Metric::Throughput => "operations per second",
    };
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

fn names(series: &Series) -> Vec<Value> {
    vec![
        Value::plain(printable(&series.title(), TEXT_LIMIT)),
        Value::plain(printable(&series.configuration, TEXT_LIMIT)),
        Value::plain(figure(series.points.len() as f64)),
    ]
}

fn row(history: &History, series: &Series, change: &SeriesChange) -> Row {
    let mut values = names(series);
    values.push(Value::plain(run_name(history, series, change.point)));
    values.push(Value::plain(figure(change.before)));
    values.push(Value::plain(figure(change.after)));
    values.push(match change.overhead {
        Some(overhead) => {
            let tone = if overhead > 0.0 {
                Tone::Worse
            } else {
                Tone::Better
            };
            Value::toned(percent(overhead), tone)
        }
        None => Value::toned("n/a", Tone::Missing),
    });
    values.push(Value::plain(match series.exact {
        true => "exact".to_owned(),
        false => format!("{:.4}", change.p),
    }));
    Row {
        values,
        summary: false,
    }
}

fn unchanged_row(history: &History, series: &Series) -> Row {
    let mut values = names(series);
    let last = series.points.last();
    let last = last.map_or_else(String::new, |point| figure(point.figure));
    values.push(Value::plain(run_name(history, series, 0)));
    values.push(Value::default());
    values.push(Value::plain(last));
    values.push(match series.exact {
        true => Value::plain("0 %"),
        false => Value::toned("~", Tone::Faint),
    });
    values.push(Value::default());
    Row {
        values,
        summary: false,
    }
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
