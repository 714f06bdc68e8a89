// SPDX-License-Identifier: GPL-2.0-or-later
//! A report as tables of text, before any layout.

use std::collections::HashMap;

use experiment::{Cell, Document, Metric, Place, Status, Warning};

use crate::cells::{Configuration, Group, cost, groups, reason};
use crate::column::Columns;
use crate::comparison::aa_table;
use crate::details::details;
use crate::format;
use crate::framework::framework;
use crate::order::order;
use crate::text::printable;
use crate::value::Kind;

pub(crate) use crate::value::{Tone, Value};

/// Longest text of a table cell that comes from a document, in characters.
pub(crate) const TEXT_LIMIT: usize = 60;

/// What a report shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Also a table of every cell's windows, paths and spread.
    pub details: bool,
}

/// All tables of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// One for each kernel, file system and metric; more with details, and where stacks
    /// differ in their order only.
    pub tables: Vec<Table>,
    /// Reasons to doubt the run, one text each.
    pub warnings: Vec<String>,
}

/// A table of text. All text is printable; Markdown's own characters are not escaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What was measured, on what.
    pub title: String,
    /// How to read it.
    pub legend: Vec<String>,
    /// Columns.
    pub columns: Vec<Heading>,
    /// How many columns, from the left, a layout repeats when it splits the table
    /// because it is too wide.
    pub fixed_columns: usize,
    /// Rows of as many values as there are columns.
    pub rows: Vec<Row>,
    /// What the numbers in brackets mean, from `[1]` on.
    pub footnotes: Vec<String>,
}

/// A column's heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Its text.
    pub title: String,
    /// What its values are.
    pub kind: Kind,
    /// What it and its neighbours with the same text belong to, as a heading above
    /// theirs: a stack. A layout that splits a table keeps them together if it can.
    pub group: Option<String>,
    /// Where its values stand.
    pub align: Align,
}

/// Where values stand in their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// At its left edge.
    Left,
    /// At its right edge.
    Right,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// One for each column.
    pub values: Vec<Value>,
    /// It sums the others up.
    pub summary: bool,
}

impl Heading {
    pub(crate) fn new(title: impl Into<String>, align: Align) -> Heading {
        Heading {
            title: title.into(),
            kind: Kind::Text,
            group: None,
            align,
        }
    }
}

impl Table {
    /// A table that has its footnotes, and no legend yet.
    pub(crate) fn new(
        title: impl Into<String>,
        columns: Vec<Heading>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Table {
        let mut notes = Footnotes::default();
        let mut rows: Vec<Row> = rows.into_iter().collect();
        for value in rows.iter_mut().flat_map(|row| &mut row.values) {
            if value.notes.is_empty() {
                continue;
            }
            let mut text = value.text();
            for note in value.notes.drain(..) {
                let mark = notes.mark(note);
                text += if text.is_empty() { "" } else { " " };
                text += &mark;
            }
            value.text = Some(text);
        }
        Table {
            title: title.into(),
            legend: Vec::new(),
            columns,
            fixed_columns: 1,
            rows,
            footnotes: notes.texts,
        }
    }

    /// With these lines on how to read it; empty ones are left out.
    pub(crate) fn legend<T: Into<String>>(mut self, lines: impl IntoIterator<Item = T>) -> Table {
        let lines = lines.into_iter().map(T::into);
        self.legend.extend(lines.filter(|line| !line.is_empty()));
        self
    }

    /// With this many columns that are repeated where it is split.
    pub(crate) fn fixed(mut self, columns: usize) -> Table {
        self.fixed_columns = columns;
        self
    }

    /// None without rows.
    pub(crate) fn if_any(self) -> Option<Table> {
        (!self.rows.is_empty()).then_some(self)
    }
}

/// All tables of a run. The order of rows is the order of its cells.
pub fn report(run: &Document, options: &Options) -> Report {
    let mut tables = Vec::new();
    for group in groups(run) {
        tables.push(main_table(run, &group));
        tables.extend(order(run, &group));
        tables.extend(framework(run, &group));
        if options.details {
            tables.push(details(run, &group));
        }
    }
    tables.extend(aa_table(run.aa.as_ref()));
    Report {
        tables,
        warnings: warnings(&run.warnings),
    }
}

/// Each warning as a text of its own.
pub(crate) fn warnings(warnings: &[Warning]) -> Vec<String> {
    let text = |warning: &Warning| {
        let cells = match warning.cells.len() {
            0 => String::new(),
            1 => " (1 cell)".to_owned(),
            n => format!(" ({n} cells)"),
        };
        format!(
            "{}{cells}: {}. Advice: {}.",
            warning.kind,
            sentence(&warning.message),
            sentence(&warning.advice)
        )
    };
    warnings.iter().map(text).collect()
}

fn sentence(text: &str) -> String {
    printable(text.trim().trim_end_matches('.'), 400)
}

/// `debian:6.1 (6.1.0-56-cloud-amd64), tmpfs, deterministic clock`.
pub(crate) fn where_measured(run: &Document, group: &Group<'_>) -> String {
    let mut text = printable(&group.subject, TEXT_LIMIT);
    let releases = group.releases();
    if !releases.is_empty() {
        let releases: Vec<String> = releases.iter().map(|r| printable(r, TEXT_LIMIT)).collect();
        text += &format!(" ({})", printable(&releases.join(", "), 200));
    }
    text += &format!(", {}", printable(group.filesystem, TEXT_LIMIT));
    if let Some(experiment) = &run.experiment {
        if experiment.place == Place::Lab {
            text += &format!(", {} clock", run.environment.clock);
        }
        if !experiment.cmdline.is_empty() {
            text += &format!(", {}", printable(&experiment.cmdline, 100));
        }
    }
    text
}

pub(crate) fn what_measured(metric: Metric) -> String {
    let what = format::measured(metric);
    match metric {
        Metric::Instructions => what + ", modal path",
        _ if metric.is_counted() => what,
        _ => what + ", median",
    }
}

fn main_table(run: &Document, group: &Group<'_>) -> Table {
    let baseline = group.baseline.as_ref();
    let mut columns = Columns::new().left("benchmark", |(benchmark, variant): (&str, &str)| {
        experiment::cell_title(benchmark, variant)
    });
    for configuration in &group.configurations {
        let title = printable(&group.heading(configuration), TEXT_LIMIT);
        let compared = baseline.is_some_and(|baseline| baseline != configuration);
        columns = columns.right(title, move |row| {
            let base = group.baseline_cell(row).filter(|_| compared);
            value(group.cell(row, configuration), base, compared)
        });
    }
    let title = format!(
        "{}: {}",
        where_measured(run, group),
        what_measured(group.metric)
    );
    let summed_up = baseline.is_some() && group.configurations.len() > 1;
    let summary = summed_up.then(|| summary(group));
    columns
        .summed_up(title, group.rows.iter().copied(), summary)
        .fixed(1 + usize::from(baseline.is_some()))
        .legend(legend(group))
}

fn value(cell: Option<&Cell>, base: Option<&Cell>, compared: bool) -> Value {
    let Some(cell) = cell else {
        return not_measured("not measured");
    };
    let Some(absolute) = format::headline(cell) else {
        return without_figure(cell.status(), cell.reason());
    };
    if !compared {
        return Value::plain(absolute);
    }
    let Some(cost) = base.and_then(|base| cost(cell, base)) else {
        return Value::toned("n/a", Tone::Missing).beside(absolute);
    };
    let doubt = if cost.unclear { "~" } else { "" };
    let tone = match cost.overhead {
        _ if cost.unclear => Tone::Faint,
        o if o > 0.0 => Tone::Worse,
        o if o < 0.0 => Tone::Better,
        _ => Tone::Plain,
    };
    Value::toned(format!("{doubt}{}", format::percent(cost.overhead)), tone).beside(absolute)
}

/// What stands for a figure that there is none of.
pub(crate) fn without_figure(status: Status, why: Option<&str>) -> Value {
    let text = match status {
        Status::Unsupported => "-",
        Status::Failed | Status::Ok => "failed",
    };
    Value::toned(text, Tone::Missing).noted([reason(status, why)])
}

/// What stands for a cell that there is none of.
pub(crate) fn not_measured(why: &str) -> Value {
    Value::dash().noted([why.to_owned()])
}

/// The geometric mean of the ratios, per column, over the rows that have one.
fn summary(group: &Group<'_>) -> Vec<Value> {
    let mut values = vec![Value::plain("geometric mean")];
    for configuration in &group.configurations {
        if group.baseline.as_ref() == Some(configuration) {
            values.push(Value::default());
            continue;
        }
        let ratios: Vec<f64> = group
            .rows
            .iter()
            .filter_map(|&row| {
                let cost = cost(group.cell(row, configuration)?, group.baseline_cell(row)?)?;
                // A ratio of 0 has no logarithm.
                (cost.ratio > 0.0).then_some(cost.ratio)
            })
            .collect();
        let n = ratios.len();
        values.push(match stats::geometric_mean(ratios) {
            Some(mean) => {
                let overhead = group.metric.direction().overhead_of_ratio(mean);
                Value::plain(format::percent(overhead)).beside(format!("n={n}"))
            }
            None => Value::toned("n/a", Tone::Missing),
        });
    }
    values
}

fn legend(group: &Group<'_>) -> Vec<String> {
    let mut legend = Vec::new();
    match &group.baseline {
        Some(baseline) if group.configurations.len() > 1 => {
            let name = if group.of_kernels {
                printable(&group.heading(baseline), TEXT_LIMIT)
            } else {
                printable(&baseline.title(), TEXT_LIMIT)
            };
            let better = match group.metric.direction() {
                stats::Direction::LowerIsBetter => "more",
                stats::Direction::HigherIsBetter => "fewer",
            };
            let plus = |c: &Configuration| c.short_title(Some(baseline)).starts_with('+');
            let added = if group.configurations.iter().any(plus) {
                format!("; +x: {name} with x added")
            } else {
                String::new()
            };
            legend.push(format!(
                "Columns: {name}, the baseline; others: overhead (+: {better}) and the figure itself{added}. Last row: geometric mean of the n ratios."
            ));
        }
        Some(_) => {}
        None => legend.push("Columns: the figures; the baseline was not measured.".to_owned()),
    }
    if !group.metric.is_counted() {
        legend.push(
            "±: 95 % interval of the median; ~: the intervals overlap, no difference is shown."
                .to_owned(),
        );
    } else if !group.is_exact() {
        legend.push(
            "±: no path holds half of the windows, so this is their median and its 95 % interval; \
             ~: the intervals overlap, no difference is shown."
                .to_owned(),
        );
    }
    legend
}

/// Reasons, each once, numbered from 1.
#[derive(Default)]
pub(crate) struct Footnotes {
    pub(crate) texts: Vec<String>,
    /// Where each is, so that a long document does not take its square in time.
    numbers: HashMap<String, usize>,
}

impl Footnotes {
    pub(crate) fn mark(&mut self, text: String) -> String {
        let texts = &mut self.texts;
        let number = *self.numbers.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            texts.len()
        });
        format!("[{number}]")
    }
}
