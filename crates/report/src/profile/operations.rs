// SPDX-License-Identifier: GPL-2.0-or-later
//! Many operations, one per row.

use std::collections::HashMap;

use model::{Cell, HookedPath, Residual};

use super::{
    StackNames, baseline, configured, counted, difference, full_name, path, where_profiled,
};
use crate::cells::{Operation, not_measured, operation, operation_title, without_figure};
use crate::column::Columns;
use crate::format::share;
use crate::group::{distinct, grouped, sum};
use crate::residual;
use crate::table::{Table, Tone, Value};

pub(super) fn tables(profiles: &[Cell]) -> Vec<Table> {
    let places = grouped(profiles, |cell| (&cell.key.kernel, &cell.key.filesystem));
    places.iter().map(|(_, cells)| table(cells)).collect()
}

struct Side<'a> {
    first: &'a Cell,
    profiles: HashMap<Operation<'a>, &'a Cell>,
    compared: bool,
}

impl<'a> Side<'a> {
    fn new(profiles: &[&'a Cell]) -> Side<'a> {
        Side {
            first: profiles[0],
            profiles: HashMap::from_iter(profiles.iter().map(|cell| (operation(cell), *cell))),
            compared: profiles.iter().any(|cell| baseline(cell).is_some()),
        }
    }

    fn paths(&self) -> impl Iterator<Item = &'a HookedPath> {
        self.profiles.values().filter_map(|cell| path(cell))
    }

    fn pairs(&self) -> impl Iterator<Item = Pair<'a>> {
        self.profiles.values().filter_map(|cell| pair(cell))
    }

    fn add<'c>(
        &'c self,
        columns: Columns<'c, Operation<'c>>,
        name: Option<&str>,
    ) -> Columns<'c, Operation<'c>> {
        let path = |row| path(self.profiles.get(&row)?);
        let pair = |row| pair(self.profiles.get(&row)?);
        columns
            .grouped(name, "total", move |row| match self.profiles.get(&row) {
                None => not_measured("not measured"),
                Some(cell) => path(row).map_or_else(|| without_figure(cell), |p| p.total.into()),
            })
            .grouped(name, "hooks", move |row| Some(path(row)?.hooked))
            .grouped(name, "share", move |row| {
                path(row).map(|p| share_of(p.hooked, p.total))
            })
            .grouped(name, "calls", move |row| path(row).map(hook_calls))
            .only_if(self.compared, |columns| {
                columns
                    .grouped(name, "d total", move |row| {
                        pair(row).map(|pair| Value::difference(more_in_all(pair)))
                    })
                    .grouped(name, "d hooks", move |row| {
                        pair(row).map(|pair| Value::difference(more_in_hooks(pair)))
                    })
                    .grouped(name, "residual", move |row| {
                        pair(row).map(|(_, baseline)| residual::value(baseline))
                    })
            })
    }
}

type Pair<'a> = (&'a HookedPath, &'a Residual);

fn pair(cell: &Cell) -> Option<Pair<'_>> {
    path(cell).zip(baseline(cell))
}

fn more_in_all((path, baseline): Pair<'_>) -> i128 {
    difference(path.total, baseline.path.total)
}

fn more_in_hooks((path, baseline): Pair<'_>) -> i128 {
    difference(path.hooked, baseline.path.hooked)
}

fn table(profiles: &[&Cell]) -> Table {
    let stacks = grouped(profiles.iter().copied(), |cell| &cell.key.stack);
    let sides: Vec<Side<'_>> = stacks.iter().map(|(_, cells)| Side::new(cells)).collect();
    let names = StackNames::new(profiles);
    let mut columns = Columns::new().left("operation", operation_title);
    for side in &sides {
        let name = (sides.len() > 1).then(|| names.short(&side.first.key.stack));
        columns = side.add(columns, name.as_deref());
    }
    let operations = distinct(profiles.iter().map(|cell| operation(cell)));
    let summary = (operations.len() > 1).then(|| summary(&sides));
    let mut title = format!("{}, deterministic clock: ", where_profiled(profiles));
    if let [side] = sides.as_slice() {
        title += &format!("{}: ", configured(side.first));
    }
    title += &format!("{} per operation, in total and in hooks", counted(profiles));
    columns
        .summed_up(title, operations, summary)
        .legend(legend(&sides, &names))
}

fn legend(sides: &[Side<'_>], names: &StackNames<'_>) -> Vec<String> {
    let mut legend = vec![
        "hooks: instructions inside hooks, a hook inside a hook counted with the outer one; share: \
         hooks / total; calls: hook calls."
            .to_owned(),
    ];
    let compared = sides.iter().flat_map(Side::pairs);
    let baselines = distinct(compared.map(|(_, baseline)| &baseline.stack));
    let baselines: Vec<String> = baselines.iter().map(|stack| full_name(stack)).collect();
    if !baselines.is_empty() {
        legend.push(format!(
            "d: difference from {}; residual: d total minus d hooks; 0 proves that hooks account for \
             the whole difference.",
            baselines.join(" or ")
        ));
    }
    let names = |side: &Side<'_>| (names.short(&side.first.key.stack), configured(side.first));
    let stacks = sides.iter().map(names);
    let stacks = stacks.filter(|(short, full)| short != full);
    let stacks = stacks.map(|(short, full)| format!("{short} is {full}"));
    let stacks: Vec<String> = stacks.collect();
    if sides.len() > 1 && !stacks.is_empty() {
        legend.push(format!("Stacks: {}.", stacks.join("; ")));
    }
    legend
}

fn hook_calls(path: &HookedPath) -> u64 {
    sum(path.hooks.iter().map(|hook| hook.calls))
}

fn share_of(hooked: u64, total: u64) -> String {
    share(hooked, total).unwrap_or_else(|| "n/a".to_owned())
}

fn summary(sides: &[Side<'_>]) -> Vec<Value> {
    let mut values = vec![Value::plain("all operations")];
    for side in sides {
        let total = sum(side.paths().map(|path| path.total));
        let hooked = sum(side.paths().map(|path| path.hooked));
        let calls = sum(side.paths().map(hook_calls));
        values.extend([
            total.into(),
            hooked.into(),
            Value::plain(share_of(hooked, total)),
            calls.into(),
        ]);
        if side.compared {
            let total: i128 = side.pairs().map(more_in_all).sum();
            let hooked: i128 = side.pairs().map(more_in_hooks).sum();
            // A sum would hide residuals that cancel out.
            let held = side
                .pairs()
                .filter(|(_, residual)| residual.instructions != 0);
            let residuals = match held.count() {
                0 => Value::plain("all 0"),
                n => Value::toned(format!("{n} not 0"), Tone::Worse),
            };
            values.extend([
                Value::difference(total),
                Value::difference(hooked),
                residuals,
            ]);
        }
    }
    values
}
