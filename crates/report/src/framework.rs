// SPDX-License-Identifier: GPL-2.0-or-later
//! What the bare framework costs: a kernel with no module but capabilities against one
//! without LSMs, split by where its instructions went.

use experiment::{Cell, HookCost, Run};

use crate::cells::Group;
use crate::format;
use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Value, where_measured};
use crate::text::printable;

/// A row for each operation that has hooks under the stack `capability` and a baseline
/// without LSMs; None if there is none.
pub(crate) fn framework(run: &Run, group: &Group<'_>) -> Option<Table> {
    let baseline = group.baseline.as_ref()?;
    let tested = group.configurations.iter().find(|configuration| {
        configuration.stack == ["capability"] && configuration.integrity.is_empty()
    })?;
    if baseline.stack != ["none"] {
        return None;
    }
    let rows: Vec<Row> = group
        .rows
        .iter()
        .filter_map(|&row| split(row, group.cell(row, baseline)?, group.cell(row, tested)?))
        .collect();
    (!rows.is_empty()).then(|| Table {
        title: format!(
            "What the bare framework costs: {}",
            where_measured(run, group)
        ),
        legend: vec![
            "framework: instructions of hooks less those of the modules' functions they call; \
             capability: its functions, called by hooks; others: functions of modules that the \
             kernel adds by itself; outside: the rest of the difference. A kernel without LSMs \
             calls capability's functions itself, so that outside is below 0 where it does."
                .to_owned(),
        ],
        columns: std::iter::once(Column::new("benchmark", Align::Left))
            .chain(
                [
                    "no LSM",
                    "capability",
                    "difference",
                    "framework",
                    "capability's",
                    "others'",
                    "outside",
                ]
                .map(|title| Column::figures(title, None)),
            )
            .collect(),
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    })
}

fn split((benchmark, variant): (&str, &str), bare: &Cell, tested: &Cell) -> Option<Row> {
    let hooks = tested.hooks.as_ref()?;
    let total = |cell: &Cell| {
        let counts = cell.counts.as_ref().filter(|counts| counts.is_stable())?;
        Some(i128::from(counts.modal.instructions))
    };
    let (before, after) = (total(bare)?, total(tested)?);
    let sum = |of: &dyn Fn(&HookCost) -> u64| {
        hooks
            .iter()
            .fold(0i128, |sum, hook| sum + i128::from(of(hook)))
    };
    let functions = |own: bool| {
        sum(&|hook| {
            let functions = hook.implementations.iter();
            functions
                .filter(|function| (function.module == "capability") == own)
                .map(|function| function.inclusive)
                .fold(0, u64::saturating_add)
        })
    };
    let difference = after - before;
    let framework = sum(&|hook| hook.dispatch);
    let (own, others) = (functions(true), functions(false));
    let outside = difference - framework - own - others;
    let title = printable(&experiment::cell_title(benchmark, variant), TEXT_LIMIT);
    let figures = [before, after].map(|n| format::figure(n as f64));
    let signed = [difference, framework, own, others, outside].map(format::difference);
    Some(Row {
        values: std::iter::once(Value::plain(title))
            .chain(figures.into_iter().chain(signed).map(Value::plain))
            .collect(),
        summary: false,
    })
}
