// SPDX-License-Identifier: GPL-2.0-or-later
//! Does the order of a stack matter? Configurations that differ in nothing else,
//! beside each other.

use experiment::Document;

use crate::cells::{Configuration, Cost, Group, cost};
use crate::column::Columns;
use crate::format;
use crate::table::{TEXT_LIMIT, Table, Tone, Value, where_measured};
use crate::text::printable;

/// A row for each two configurations of the group that have the same modules in
/// another order; None if there are none.
pub(crate) fn order(run: &Document, group: &Group<'_>) -> Option<Table> {
    if group.of_kernels {
        return None;
    }
    let all = group.configurations.iter().enumerate();
    let pairs = all.flat_map(|(index, first)| {
        let later = group.configurations[index + 1..].iter();
        let others = later.filter(move |second| reordered(first, second));
        others.map(move |second| Pair::of(group, first, second))
    });
    let pairs: Vec<Pair<'_>> = pairs.collect();
    let direction = group.metric.direction();
    let title = format!(
        "Order of stacks: {}, {}",
        where_measured(run, group),
        group.metric
    );
    Columns::new()
        .left("first", |pair: &Pair<'_>| pair.first.title())
        .left("second", |pair| pair.second.title())
        .column("operations", |pair| pair.costs.len())
        .column("differ", |pair| {
            let differs = |cost: &Cost| cost.overhead != 0.0 && !cost.unclear;
            pair.costs.iter().filter(|(_, cost)| differs(cost)).count()
        })
        .right("geometric mean", |pair| {
            let ratios = pair.costs.iter().map(|(_, cost)| cost.ratio);
            let ratios: Vec<f64> = ratios.filter(|ratio| *ratio > 0.0).collect();
            match stats::geometric_mean(ratios) {
                Some(mean) => Value::plain(format::percent(direction.overhead_of_ratio(mean))),
                None => Value::toned("n/a", Tone::Missing),
            }
        })
        .left("most", |pair| {
            let size = |cost: &Cost| cost.overhead.abs();
            let most = pair
                .costs
                .iter()
                .max_by(|(_, a), (_, b)| size(a).total_cmp(&size(b)));
            let ((benchmark, variant), cost) = most.filter(|(_, cost)| cost.overhead != 0.0)?;
            let title = printable(&experiment::cell_title(benchmark, variant), TEXT_LIMIT);
            let overhead = format::percent(cost.overhead);
            Some(Value::plain(format!("{title} {overhead}")))
        })
        .table(title, &pairs)
        .fixed(2)
        .legend([
            "Each row: the second order against the first, over the operations that both were \
             measured for; how many differ at all; the one that differs most.",
        ])
        .if_any()
}

fn reordered(first: &Configuration, second: &Configuration) -> bool {
    let sorted = |configuration: &Configuration| {
        let mut configuration = configuration.clone();
        configuration.stack.sort_unstable();
        configuration
    };
    first.stack != second.stack && sorted(first) == sorted(second)
}

/// Two configurations, and what each operation costs in the second against the first.
struct Pair<'a> {
    first: &'a Configuration,
    second: &'a Configuration,
    costs: Vec<((&'a str, &'a str), Cost)>,
}

impl<'a> Pair<'a> {
    fn of(group: &Group<'a>, first: &'a Configuration, second: &'a Configuration) -> Pair<'a> {
        let cost = |row| cost(group.cell(row, second)?, group.cell(row, first)?);
        let costs = group.rows.iter().filter_map(|&row| Some((row, cost(row)?)));
        Pair {
            first,
            second,
            costs: costs.collect(),
        }
    }
}
