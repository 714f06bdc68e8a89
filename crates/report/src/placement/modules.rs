// SPDX-License-Identifier: GPL-2.0-or-later
//! What modules implement: the paper's Tables 2 and 5.

use std::collections::BTreeSet;

use experiment::PlacementDocument;
use experiment::placement::ModulePlacement;

use super::{kernel, name};
use crate::format::{count, figure};
use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// Hooks and lines of code by module, and of the framework.
pub(super) fn modules(document: &PlacementDocument) -> Table {
    let mut columns = vec![Column::new("module", Align::Left)];
    let titles = [
        "hooks",
        "general",
        "file accessing",
        "lines",
        "lines per hook",
    ];
    columns.extend(titles.map(|title| Column::figures(title, None)));
    let mut rows: Vec<Row> = document
        .modules
        .iter()
        .map(|module| Row {
            values: vec![
                heading(module),
                number(module.hooks),
                number(module.unconditional),
                number(module.file_accessing),
                Value::plain(count(module.loc)),
                Value::plain(figure(module.loc_per_hook.round())),
            ],
            summary: false,
        })
        .collect();
    let framework = &document.framework;
    rows.push(Row {
        values: vec![
            Value::plain("framework"),
            number(framework.hooks),
            number(framework.unconditional),
            Value::default(),
            Value::plain(count(framework.loc)),
            Value::default(),
        ],
        summary: true,
    });
    let mut legend = vec![
        "general: hooks outside every #if; file accessing: those on inodes, dentries, files, \
         superblocks, paths and bprm; lines: of code, without blank ones and comments, for the \
         framework all of security/."
            .to_owned(),
    ];
    if document.modules.iter().any(|module| module.direct) {
        legend.push(
            "*: the kernel calls it beside the framework: functions that it calls, not hooks."
                .to_owned(),
        );
    }
    Table {
        title: format!("{}: hooks by module", kernel(document)),
        legend,
        columns,
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    }
}

/// Hooks by category in rows, modules in columns; None if there are no modules.
pub(super) fn categories(document: &PlacementDocument) -> Option<Table> {
    let all: BTreeSet<&str> = document
        .modules
        .iter()
        .flat_map(|module| module.categories.keys().map(String::as_str))
        .collect();
    if all.is_empty() {
        return None;
    }
    let of = |module: &ModulePlacement, category: &str| {
        module.categories.get(category).copied().unwrap_or_default()
    };
    let mut columns = vec![Column::new("category", Align::Left)];
    columns.extend(
        document
            .modules
            .iter()
            .map(|module| Column::figures(heading(module).text, None)),
    );
    let row = |title: Value, figures: &dyn Fn(&ModulePlacement) -> u32, summary| Row {
        values: [title]
            .into_iter()
            .chain(
                document
                    .modules
                    .iter()
                    .map(|module| number(figures(module))),
            )
            .collect(),
        summary,
    };
    let mut rows: Vec<Row> = all
        .iter()
        .map(|&category| row(name(category), &|module| of(module, category), false))
        .collect();
    let file = Value::plain("file accessing");
    rows.push(row(file, &|module| module.file_accessing, true));
    rows.push(row(Value::plain("all"), &|module| module.hooks, true));
    Some(Table {
        title: format!("{}: hooks by category and module", kernel(document)),
        legend: Vec::new(),
        columns,
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    })
}

fn heading(module: &ModulePlacement) -> Value {
    let mark = if module.direct { "*" } else { "" };
    Value::plain(format!("{}{mark}", printable(&module.module, TEXT_LIMIT)))
}

fn number(value: u32) -> Value {
    if value == 0 {
        Value::default()
    } else {
        Value::plain(count(u64::from(value)))
    }
}
