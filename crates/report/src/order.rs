// SPDX-License-Identifier: GPL-2.0-or-later
//! Configurations that differ only in the order of their modules, compared.

use compare::judge::Judgements;
use model::{Cell, Document, comparison::Verdict};

use crate::cells::{Configuration, Group, Operation, cost, mean, operation_title};
use crate::column::Columns;
use crate::format;
use crate::table::{Table, Tone, Value};

pub(crate) fn order<'a>(
    run: &Document,
    group: &Group<'a>,
    judgements: &mut Judgements<'a>,
) -> Option<Table> {
    if group.of_kernels {
        return None;
    }
    let all = group.configurations.iter().enumerate();
    let pairs = all.flat_map(|(index, first)| {
        let later = group.configurations[index + 1..].iter();
        later.map(move |second| (first, second))
    });
    let pairs: Vec<_> = pairs
        .filter(|(one, other)| one.is_reordered(other))
        .collect();
    let cells = |(first, second)| {
        let cells = move |row| Some((row, (group.cell(row, first)?, group.cell(row, second)?)));
        group.rows.iter().copied().filter_map(cells)
    };
    let all = pairs.iter().flat_map(|&pair| cells(pair));
    judgements.also(all.map(|(_, cells)| cells));
    let cost = |(row, (first, second))| {
        let (overhead, _) = cost(second, first)?;
        let verdict = judgements.verdict(first, second)?.verdict;
        let differs = matches!(verdict, Verdict::Worse | Verdict::Better);
        Some(Cost {
            row,
            overhead,
            cells: (second, first),
            differs,
        })
    };
    let pair = |&(first, second): &(_, _)| Pair {
        first,
        second,
        costs: cells((first, second)).filter_map(cost).collect(),
    };
    let pairs: Vec<Pair<'_>> = pairs.iter().map(pair).collect();
    let title = format!("Order of stacks: {}, {}", group.place(run), group.metric);
    Columns::new()
        .left("first", |pair: &Pair<'_>| pair.first.title())
        .left("second", |pair| pair.second.title())
        .column("operations", |pair| pair.costs.len())
        .column("differ", |pair| {
            pair.costs.iter().filter(|cost| cost.differs).count()
        })
        .right("geometric mean", |pair| {
            match mean(group.metric, pair.costs.iter().map(|cost| cost.cells)) {
                Some((mean, n)) => Value::plain(format!("{} (n={n})", format::percent(mean))),
                None => Value::toned("n/a", Tone::Missing),
            }
        })
        .left("most", |pair| {
            let size = |cost: &Cost<'_>| cost.overhead.abs();
            let differ = pair.costs.iter().filter(|cost| cost.differs);
            let most = differ.max_by(|a, b| size(a).total_cmp(&size(b)))?;
            let title = operation_title(most.row);
            let overhead = format::percent(most.overhead);
            Some(Value::plain(format!("{title} {overhead}")))
        })
        .table(title, &pairs)
        .fixed(2)
        .legend([
            "Each row: the second order against the first, over the operations that both were \
             measured for; how many differ; the mean of those that have a dominant path, without \
             getppid; the one that differs most.",
        ])
        .if_any()
}

struct Pair<'a> {
    first: &'a Configuration,
    second: &'a Configuration,
    costs: Vec<Cost<'a>>,
}

struct Cost<'a> {
    row: Operation<'a>,
    overhead: f64,
    cells: (&'a Cell, &'a Cell),
    differs: bool,
}
