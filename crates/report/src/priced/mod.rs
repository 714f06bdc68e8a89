// SPDX-License-Identifier: GPL-2.0-or-later
//! Proposals to make LSMs cheaper (section 6 of the LSM overhead paper), judged by a run with
//! hooks: which hooks to optimise, and what caching directory checks could save.

mod hooks;
mod walk;

use model::{Cell, Document, HookCost, Metric};

use crate::cells::{Configuration, Group, Operation, instructions};
use crate::table::Table;

pub(crate) fn priced(run: &Document, group: &Group<'_>) -> Vec<Table> {
    let is_counted = group.metric == Metric::Instructions && !group.of_kernels;
    if !is_counted || group.baseline.is_none() {
        return Vec::new();
    }
    let place = group.place(run);
    let mut tables = hooks::tables(&place, group);
    tables.extend(walk::table(&place, group));
    tables
}

struct Pair<'a> {
    hooks: &'a [HookCost],
    base: &'a [HookCost],
    overhead: i128,
}

impl<'a> Pair<'a> {
    /// None unless both have a dominant path and hooks.
    fn of(row: Operation<'a>, of: &Configuration, group: &Group<'a>) -> Option<Pair<'a>> {
        let (tested, base): (&'a Cell, &'a Cell) =
            (group.cell(row, of)?, group.baseline_cell(row)?);
        Some(Pair {
            hooks: tested.hooks()?,
            base: base.hooks()?,
            overhead: instructions(tested)? - instructions(base)?,
        })
    }

    fn added(&self, figure: impl Fn(&HookCost) -> u64) -> i128 {
        let sum = |of: &[HookCost]| of.iter().map(|hook| i128::from(figure(hook))).sum::<i128>();
        sum(self.hooks) - sum(self.base)
    }
}

/// In per cent, to a tenth; None if the whole is 0.
fn percent_of(part: i128, whole: i128) -> Option<f64> {
    (whole != 0).then(|| (part as f64 / whole as f64 * 1_000.0).round() / 10.0)
}
