// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of the framework alone, and of stacks of the same modules in another order.

use compare::judge::Judgements;
use model::comparison::Verdict;
use model::{Cell, Document};

use crate::cells::{Configuration, Group, Operation, cost, instructions, mean, operation_title};
use crate::column::Columns;
use crate::format;
use crate::table::{Table, Tone, Value};

pub(crate) fn framework(run: &Document, group: &Group<'_>) -> Option<Table> {
    let baseline = group.baseline.as_ref()?;
    let tested = group.configurations.iter().find(|configuration| {
        configuration.stack == ["capability"] && configuration.integrity.is_empty()
    })?;
    if baseline.stack != ["none"] {
        return None;
    }
    let rows = group.rows.iter();
    let splits: Vec<Split> = rows
        .filter_map(|&row| split(row, group.cell(row, baseline)?, group.cell(row, tested)?))
        .collect();
    let title = format!("Cost of the bare framework: {}", group.place(run));
    Columns::new()
        .left("benchmark", |split: &Split| &split.title)
        .column("no LSM", |split| split.bare)
        .column("capability", |split| split.tested)
        .right("difference", |split| {
            format::difference(split.tested - split.bare)
        })
        .right("framework", |split| format::difference(split.framework))
        .right("capability's", |split| format::difference(split.own))
        .right("others'", |split| format::difference(split.others))
        .right("outside", |split| {
            let inside = split.framework + split.own + split.others;
            format::difference(split.tested - split.bare - inside)
        })
        .table(title, &splits)
        .legend([
            "framework: instructions of hooks minus those of the modules' functions they call; \
             capability: its functions, called by hooks; others: functions of modules that the \
             kernel adds by itself; outside: the rest of the difference. A kernel without LSMs \
             calls capability's functions itself, so that outside is negative there.",
        ])
        .if_any()
}

struct Split {
    title: String,
    bare: i128,
    tested: i128,
    framework: i128,
    own: i128,
    others: i128,
}

fn split((benchmark, variant): (&str, &str), bare: &Cell, tested: &Cell) -> Option<Split> {
    let hooks = tested.hooks()?;
    let functions = |own: bool| {
        let functions = hooks.iter().flat_map(|hook| &hook.implementations);
        let functions = functions.filter(|function| (function.module == "capability") == own);
        functions
            .map(|function| i128::from(function.inclusive))
            .sum()
    };
    Some(Split {
        title: model::cell_title(benchmark, variant),
        bare: instructions(bare)?,
        tested: instructions(tested)?,
        framework: hooks.iter().map(|hook| i128::from(hook.dispatch)).sum(),
        own: functions(true),
        others: functions(false),
    })
}

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
