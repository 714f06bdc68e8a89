// SPDX-License-Identifier: GPL-2.0-or-later
//! What modules implement: the paper's Tables 2 and 5.

use std::collections::BTreeSet;

use model::{PlacementDocument, placement::ModulePlacement};

use super::kernel;
use crate::column::Columns;
use crate::table::{Table, Value};
use crate::text::short;

pub(super) fn modules(document: &PlacementDocument) -> Table {
    let framework = &document.framework;
    let sum = vec![
        Value::plain("framework"),
        number(framework.hooks).into(),
        number(framework.unconditional).into(),
        Value::default(),
        framework.loc.into(),
    ];
    let direct = document.modules.iter().any(|module| module.direct);
    let direct = direct.then_some(
        "*: the kernel calls it beside the framework: functions that it calls, not hooks.",
    );
    Columns::new()
        .left("module", |module: &ModulePlacement| {
            Value::plain(heading(module))
        })
        .column("hooks", |module| number(module.hooks))
        .column("general", |module| number(module.unconditional))
        .column("file accessing", |module| number(module.file_accessing))
        .column("lines", |module| module.loc)
        .column("lines per hook", |module| module.loc_per_hook.round())
        .summed_up(
            format!("{}: hooks by module", kernel(document)),
            &document.modules,
            [sum],
        )
        .legend([
            "general: hooks outside every #if; file accessing: those on inodes, dentries, files, \
             superblocks, paths and bprm; lines: of code, without blank ones and comments, for \
             the framework all of security/.",
        ])
        .legend(direct)
}

pub(super) fn categories(document: &PlacementDocument) -> Option<Table> {
    let modules = || document.modules.iter();
    let all: BTreeSet<&String> = modules()
        .flat_map(|module| module.categories.keys())
        .collect();
    let mut columns = Columns::new().left("category", |category: &String| category);
    for module in modules() {
        columns = columns.column(heading(module), move |category| {
            number(*module.categories.get(category)?)
        });
    }
    let sum = |title: &str, figures: fn(&ModulePlacement) -> u32| {
        let figures = modules().map(|module| number(figures(module)).into());
        [Value::plain(title)].into_iter().chain(figures).collect()
    };
    let sums = [
        sum("file accessing", |module| module.file_accessing),
        sum("all", |module| module.hooks),
    ];
    let title = format!("{}: hooks by category and module", kernel(document));
    (!all.is_empty()).then(|| columns.summed_up(title, all, sums))
}

fn heading(module: &ModulePlacement) -> String {
    let mark = if module.direct { "*" } else { "" };
    format!("{}{mark}", short(&module.module))
}

fn number(value: u32) -> Option<u32> {
    Some(value).filter(|value| *value != 0)
}
