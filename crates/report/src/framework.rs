// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of the LSM framework: a kernel with only capabilities against one without LSMs, split by
//! where the instructions went.

use model::{Cell, Document};

use crate::cells::{Group, instructions};
use crate::column::Columns;
use crate::format;
use crate::table::Table;

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
    let title = format!("What the bare framework costs: {}", group.place(run));
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
            "framework: instructions of hooks less those of the modules' functions they call; \
             capability: its functions, called by hooks; others: functions of modules that the \
             kernel adds by itself; outside: the rest of the difference. A kernel without LSMs \
             calls capability's functions itself, so that outside is below 0 where it does.",
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
        functions
            .filter(|function| (function.module == "capability") == own)
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
