// SPDX-License-Identifier: GPL-2.0-or-later
//! Does the order of a stack matter? Configurations that differ in nothing else,
//! beside each other.

use experiment::Run;

use crate::cells::{Configuration, Group, cost};
use crate::format;
use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Tone, Value, where_measured};
use crate::text::printable;

/// A row for each two configurations of the group that have the same modules in
/// another order; None if there are none.
pub(crate) fn order(run: &Run, group: &Group<'_>) -> Option<Table> {
    if group.of_kernels {
        return None;
    }
    let mut rows = Vec::new();
    for (index, first) in group.configurations.iter().enumerate() {
        for second in &group.configurations[index + 1..] {
            if reordered(first, second) {
                rows.push(row(group, first, second));
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: format!(
            "Order of stacks: {}, {}",
            where_measured(run, group),
            group.metric
        ),
        legend: vec![
            "Each row: the second order against the first, over the operations that both were \
             measured for; how many differ at all; the one that differs most."
                .to_owned(),
        ],
        columns: vec![
            Column::new("first", Align::Left),
            Column::new("second", Align::Left),
            Column::figures("operations", None),
            Column::figures("differ", None),
            Column::figures("geometric mean", None),
            Column::new("most", Align::Left),
        ],
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    })
}

fn reordered(first: &Configuration, second: &Configuration) -> bool {
    let sorted = |configuration: &Configuration| {
        let mut configuration = configuration.clone();
        configuration.stack.sort_unstable();
        configuration
    };
    first.stack != second.stack && sorted(first) == sorted(second)
}

fn row(group: &Group<'_>, first: &Configuration, second: &Configuration) -> Row {
    let compared: Vec<_> = group
        .rows
        .iter()
        .filter_map(|&row| {
            Some((
                row,
                cost(group.cell(row, second)?, group.cell(row, first)?)?,
            ))
        })
        .collect();
    let differ = compared
        .iter()
        .filter(|(_, cost)| cost.overhead != 0.0 && !cost.unclear)
        .count();
    let ratios = compared
        .iter()
        .map(|(_, cost)| cost.ratio)
        .filter(|ratio| *ratio > 0.0);
    let mean = stats::geometric_mean(ratios.collect::<Vec<_>>());
    let most = compared
        .iter()
        .max_by(|(_, a), (_, b)| a.overhead.abs().total_cmp(&b.overhead.abs()))
        .filter(|(_, cost)| cost.overhead != 0.0);
    let direction = group.metric.direction();
    let values = vec![
        Value::plain(printable(&first.title(), TEXT_LIMIT)),
        Value::plain(printable(&second.title(), TEXT_LIMIT)),
        Value::plain(compared.len().to_string()),
        Value::plain(differ.to_string()),
        match mean {
            Some(mean) => Value::plain(format::percent(direction.overhead_of_ratio(mean))),
            None => Value::toned("n/a", Tone::Missing),
        },
        Value::plain(
            most.map_or_else(String::new, |((benchmark, variant), cost)| {
                let title = printable(&experiment::cell_title(benchmark, variant), TEXT_LIMIT);
                format!("{title} {}", format::percent(cost.overhead))
            }),
        ),
    ];
    Row {
        values,
        summary: false,
    }
}
