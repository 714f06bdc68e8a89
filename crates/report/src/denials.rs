// SPDX-License-Identifier: GPL-2.0-or-later
//! Opens that modules deny, in every order of these modules: the first to deny saves the cost of
//! the others. Section 6 of the LSM overhead paper shows this in Figure 5 by counting checks.

use std::collections::BTreeMap;

use model::{Cell, Document, HookCost};
use stats::Direction;

use crate::cells::{Configuration, Group, instructions};
use crate::column::Columns;
use crate::format;
use crate::group::grouped;
use crate::stacks::told_in_hooks;
use crate::table::{Table, Value};
use crate::text::short;

const BENCHMARK: &str = "denied-open";
const ALLOWED: &str = "allowed";
/// Modules that check paths decide in this hook; those that check labels decide earlier.
const BY_PATH: &str = "file_open";
const BY_LABEL: &str = "inode_permission";

/// Modules A, B and C of Figure 5: A grants files 1, 2 and 3, B 2, 3 and 4, C only 2.
const MODULES: [&str; 3] = ["apparmor", "tomoyo", "landlock"];
const FILES: [&str; 4] = [
    "by-tomoyo-landlock",
    ALLOWED,
    "by-landlock",
    "by-apparmor-landlock",
];

/// A table with each file's cheapest and most expensive order, and one of the paper's four files;
/// empty unless stacks of deciding modules were measured in several orders.
pub(crate) fn denials(run: &Document, group: &Group<'_>) -> Vec<Table> {
    if group.of_kernels || !group.metric.is_counted() {
        return Vec::new();
    }
    let all = group.configurations.iter();
    let deciding: Vec<&Configuration> = all.filter(|of| of.settings.denials).collect();
    let place = group.place(run);
    let files = files(group, &deciding, &place);
    orders(group, &deciding, &place)
        .into_iter()
        .chain(files)
        .collect()
}

struct Open<'a> {
    of: &'a Configuration,
    cell: &'a Cell,
    cost: i128,
}

impl<'a> Open<'a> {
    fn of(group: &Group<'a>, of: &'a Configuration, file: &'a str) -> Option<Open<'a>> {
        let cell = group.cell((BENCHMARK, file), of)?;
        let cost = instructions(cell)?;
        Some(Open { of, cell, cost })
    }

    fn order(&self) -> String {
        short(&self.of.stack.join(","))
    }

    /// The last hook called: all earlier ones granted the open.
    fn decided(&self) -> Option<&'a HookCost> {
        let hooks = self.cell.hooks()?;
        let find = |name| hooks.iter().find(|of| of.hook == name && of.calls > 0);
        find(BY_PATH).or_else(|| find(BY_LABEL))
    }

    fn asks(&self, module: &str) -> bool {
        let is = |of: &HookCost| of.implementations.iter().any(|of| of.module == module);
        self.decided().is_some_and(is)
    }

    fn asked(&self) -> String {
        let asked = self.of.stack.iter().filter(|module| self.asks(module));
        let asked: Vec<String> = asked.map(|module| short(module)).collect();
        asked.join(", ")
    }
}

struct Apart<'a> {
    file: &'a str,
    least: Open<'a>,
    most: Option<Open<'a>>,
}

impl Apart<'_> {
    fn more(&self) -> i128 {
        self.most
            .as_ref()
            .map_or(0, |most| most.cost - self.least.cost)
    }

    fn in_hooks(&self) -> Option<String> {
        let most = self.most.as_ref()?;
        let mut differences: BTreeMap<&str, i128> = BTreeMap::new();
        for (cell, sign) in [(most.cell, 1), (self.least.cell, -1)] {
            for hook in cell.hooks()? {
                *differences.entry(&hook.hook).or_default() += sign * i128::from(hook.outermost);
            }
        }
        Some(told_in_hooks(&differences))
    }
}

fn orders<'a>(group: &Group<'a>, deciding: &[&'a Configuration], place: &str) -> Option<Table> {
    let sets = grouped(deciding.iter().copied(), sorted);
    let rows = || group.rows.iter().filter(|row| row.0 == BENCHMARK);
    let apart = |set: &Vec<&'a Configuration>, file: &'a str| {
        let opens = || set.iter().filter_map(|of| Open::of(group, of, file));
        let least = opens().min_by_key(|open| open.cost)?;
        let most = opens().rev().max_by_key(|open| open.cost)?;
        let several = opens().count() > 1;
        let most = (most.cost > least.cost).then_some(most);
        several.then_some(Apart { file, least, most })
    };
    let sets = sets.iter();
    let apart: Vec<Apart<'_>> = sets
        .flat_map(|(_, set)| rows().filter_map(|(_, file)| apart(set, file)))
        .collect();
    Columns::new()
        .left("file", |of: &Apart<'_>| of.file)
        .left("hook", |of| {
            let hook = &of.least.decided()?.hook;
            Some(Value::plain(short(hook)))
        })
        .left("cheapest order", |of| of.least.order())
        .right("instructions", |of| number(of.least.cost))
        .left("it asks", |of| of.least.asked())
        .left("dearest order", |of| of.most.as_ref().map(Open::order))
        .left("that asks", |of| of.most.as_ref().map(Open::asked))
        .right("more", |of| format::difference(of.more()))
        .right("in %", |of| percent(of.more(), of.least.cost))
        .left("of it in hooks", |of| of.in_hooks().map(Value::plain))
        .table(format!("Who denies first: {place}"), &apart)
        .fixed(1)
        .legend([
            "Each row: a file that the named modules deny and all others allow, under the stacks \
             that have the same deciding modules in another order. An open that is denied is that one call, \
             one that is allowed is closed again.",
            "hook: where it is decided. asks: the modules whose implementation of that hook ran, in the \
             order in which they are asked. Hooks need --with-hooks.",
        ])
        .if_any()
}

fn sorted(of: &Configuration) -> Vec<&String> {
    let mut modules: Vec<&String> = of.stack.iter().collect();
    modules.sort_unstable();
    modules
}

struct Replay<'a> {
    opens: Vec<Open<'a>>,
}

impl Replay<'_> {
    fn sum(&self) -> i128 {
        self.opens.iter().map(|open| open.cost).sum()
    }

    /// Files that each module checks, in call order; None without hook data.
    fn asked(&self) -> Option<Vec<(&str, usize)>> {
        if self.opens.iter().any(|open| open.decided().is_none()) {
            return None;
        }
        let order = self.opens.iter().take(1).flat_map(|open| &open.of.stack);
        let of_figure = order.filter(|module| MODULES.contains(&module.as_str()));
        let asked = of_figure.map(|module| {
            let asked = self.opens.iter().filter(|open| open.asks(module));
            (module.as_str(), asked.count())
        });
        Some(asked.collect())
    }

    fn in_hook(&self) -> Option<u64> {
        self.opens
            .iter()
            .map(|open| Some(open.decided()?.inclusive))
            .sum()
    }
}

fn files<'a>(group: &Group<'a>, deciding: &[&'a Configuration], place: &str) -> Option<Table> {
    let has = |of: &Configuration, module: &&str| of.stack.iter().any(|name| name == module);
    let all = deciding
        .iter()
        .filter(|of| MODULES.iter().all(|module| has(of, module)));
    let replays = all.filter_map(|of| {
        let opens = FILES.iter().map(|file| Open::of(group, of, file));
        let opens = opens.collect::<Option<_>>()?;
        Some(Replay { opens })
    });
    let replays: Vec<Replay<'_>> = replays.collect();
    if replays.len() < 2 {
        return None;
    }
    let dearest = replays.iter().map(Replay::sum).max()?;
    let bare = group
        .baseline_cell((BENCHMARK, ALLOWED))
        .and_then(instructions);
    let mut columns = Columns::new().left("order", |of: &Replay<'_>| of.opens[0].order());
    for at in 0..FILES.len() {
        let name = format!("file {}", at + 1);
        columns = columns.right(name, move |of| number(of.opens[at].cost));
    }
    columns
        .right("all four", |of| number(of.sum()))
        .right("to the dearest", move |of| percent(of.sum() - dearest, dearest))
        .right("beyond the baseline", move |of| Some(format::difference(of.sum() - 4 * bare?)))
        .right("in file_open", |of| of.in_hook().map(format::count))
        .left("asked", |of| {
            let asked = of.asked()?.into_iter();
            let asked: Vec<String> = asked.map(|(module, n)| format!("{module} {n}")).collect();
            Some(asked.join(", "))
        })
        .column("checks", |of| {
            Some(of.asked()?.iter().map(|(_, n)| n).sum::<usize>())
        })
        .table(format!("Figure 5 of the paper: {place}"), &replays)
        .fixed(1)
        .legend([
            "Four files, of which AppArmor (A) grants 1, 2 and 3, TOMOYO (B) 2, 3 and 4, and Landlock (C) 2. \
             file: instructions of its open, and of its close where it is granted. beyond the \
             baseline: more than four opens and closes that no module decides on.",
            "asked: by how many of the four opens each module's implementation of file_open ran, in the \
             order in which they are asked. checks: of all three together, which is what the paper counts.",
        ])
        .if_any()
}

fn number(value: i128) -> String {
    format::grouped(&value.to_string())
}

fn percent(more: i128, of: i128) -> String {
    let overhead = stats::overhead((of + more) as f64, of as f64, Direction::LowerIsBetter);
    overhead.map_or_else(|| "n/a".to_owned(), format::percent)
}
