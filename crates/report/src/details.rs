// SPDX-License-Identifier: GPL-2.0-or-later
//! What lies behind each figure: windows and paths, or samples and their spread.

use experiment::{Cell, Metric, Run};

use crate::cells::{Configuration, Group};
use crate::format::{count, figure};
use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Value, where_measured};
use crate::text::printable;

/// One row for each cell of the group that has a figure.
pub(crate) fn details(run: &Run, group: &Group<'_>) -> Table {
    let counted = group.metric == Metric::Instructions;
    let (headings, legend): (&[&str], &str) = if counted {
        (
            &[
                "instructions",
                "REP",
                "vs base",
                "modal",
                "clean",
                "dirty",
                "paths",
                "range",
            ],
            "REP: iterations of string instructions, counted apart; modal: windows on the modal \
             path, of all clean ones; dirty: dropped; paths: others, and the range of all.",
        )
    } else {
        (
            &[
                "median",
                "95 % interval",
                "mean",
                "stddev",
                "min",
                "max",
                "n",
                "batch",
            ],
            "n: samples; batch: operations per sample.",
        )
    };
    let mut columns = vec![
        Column::new("benchmark", Align::Left),
        Column::new("stack", Align::Left),
    ];
    columns.extend(
        headings
            .iter()
            .map(|heading| Column::new(*heading, Align::Right)),
    );
    let mut rows = Vec::new();
    for &row in &group.rows {
        for configuration in &group.configurations {
            let Some(cell) = group.cell(row, configuration) else {
                continue;
            };
            if cell.headline().is_none() {
                continue;
            }
            let figures = if counted {
                counted_row(cell, group.baseline_cell(row))
            } else {
                timed_row(cell)
            };
            let mut values = vec![
                Value::plain(printable(&cell.title(), TEXT_LIMIT)),
                Value::plain(stack(configuration)),
            ];
            values.extend(figures.into_iter().map(Value::plain));
            rows.push(Row {
                values,
                summary: false,
            });
        }
    }
    Table {
        title: format!("Details: {}, {}", where_measured(run, group), group.metric),
        legend: vec![legend.to_owned()],
        columns,
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    }
}

fn stack(configuration: &Configuration) -> String {
    printable(&configuration.title(), TEXT_LIMIT)
}

fn counted_row(cell: &Cell, baseline: Option<&Cell>) -> [String; 8] {
    let headline = cell.headline().map(figure).unwrap_or_default();
    let Some(counts) = &cell.counts else {
        let n = cell.n.map(count).unwrap_or_default();
        let none = String::new;
        return [headline, none(), none(), none(), n, none(), none(), none()];
    };
    let rep = counts.modal.rep_iterations;
    let versus = baseline.and_then(|b| b.counts.as_ref()).map(|base| {
        let base = base.modal.rep_iterations;
        let sign = match rep.cmp(&base) {
            std::cmp::Ordering::Less => "-",
            std::cmp::Ordering::Equal => "",
            std::cmp::Ordering::Greater => "+",
        };
        format!("{sign}{}", count(rep.abs_diff(base)))
    });
    let all = || {
        counts
            .paths
            .iter()
            .chain([&counts.modal])
            .map(|path| path.instructions)
    };
    let range = match (all().min(), all().max()) {
        (Some(min), Some(max)) if min < max => format!("{}-{}", count(min), count(max)),
        _ => String::new(),
    };
    [
        headline,
        count(rep),
        versus.unwrap_or_default(),
        count(counts.modal.windows),
        count(counts.windows),
        count(counts.dirty),
        counts.paths.len().to_string(),
        range,
    ]
}

fn timed_row(cell: &Cell) -> [String; 8] {
    let of = |value: Option<f64>| value.map(figure).unwrap_or_default();
    let interval = cell
        .ci95
        .map(|[low, high]| format!("{}-{}", figure(low), figure(high)));
    [
        of(cell.median),
        interval.unwrap_or_default(),
        of(cell.mean),
        of(cell.stddev),
        of(cell.min),
        of(cell.max),
        cell.n.map(count).unwrap_or_default(),
        cell.batch
            .map(|batch| count(batch.into()))
            .unwrap_or_default(),
    ]
}
