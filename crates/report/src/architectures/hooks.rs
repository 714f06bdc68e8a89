// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that an operation calls a different number of times on another architecture.

use std::collections::{BTreeMap, BTreeSet};

use model::{Architecture, Cell};

use super::Kernel;
use crate::cells::{Operation, operation_title};
use crate::column::Columns;
use crate::group::grouped;
use crate::table::Table;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Difference<'a> {
    kernel: &'a str,
    row: Operation<'a>,
    hook: &'a str,
    first: (u64, Architecture),
    other: (u64, Architecture),
}

pub(super) fn differences(kernels: &[Kernel<'_, '_>]) -> Option<Table> {
    let (mut found, mut same, mut all) = (Vec::new(), 0, 0);
    for kernel in kernels {
        let group = kernel.sides[0].group;
        for &row in &group.rows {
            for configuration in &group.configurations {
                let cells = kernel
                    .sides
                    .iter()
                    .map(|side| side.group.cell(row, configuration));
                let Some(calls) = cells.map(|cell| calls(cell?)).collect::<Option<Vec<_>>>() else {
                    continue;
                };
                all += 1;
                let differ = apart(kernel, row, &calls);
                same += usize::from(differ.is_empty());
                found.extend(differ);
            }
        }
    }
    if all == 0 {
        return None;
    }
    type Line<'a> = (Difference<'a>, usize);
    let found = grouped(&found, |difference| *difference).into_iter();
    let table = Columns::new()
        .left("kernel", |(differs, _): Line<'_>| differs.kernel)
        .left("benchmark", |(differs, _)| operation_title(differs.row))
        .left("hook", |(differs, _)| differs.hook)
        .left("calls", |(differs, _)| {
            let sides = [differs.first, differs.other];
            let calls = sides.map(|(calls, architecture)| format!("{calls} {architecture}"));
            calls.join(", ")
        })
        .column("stacks", |(_, stacks)| stacks)
        .table(
            "Hooks called a different number of times",
            found.map(|(difference, stacks)| (difference, stacks.len())),
        )
        .fixed(3)
        .legend([format!(
            "{same} of {all} operations, counted under each stack, call every hook the same number \
             of times on each architecture."
        )]);
    Some(table)
}

fn calls(cell: &Cell) -> Option<BTreeMap<&str, u64>> {
    let hooks = cell.hooks()?.iter();
    Some(hooks.map(|hook| (&*hook.hook, hook.calls)).collect())
}

fn apart<'a>(
    kernel: &'a Kernel<'_, '_>,
    row: Operation<'a>,
    calls: &[BTreeMap<&'a str, u64>],
) -> Vec<Difference<'a>> {
    let mut differ = Vec::new();
    let count = |side: usize, hook: &str| {
        let calls = calls[side].get(hook).copied().unwrap_or(0);
        (calls, kernel.sides[side].architecture)
    };
    for side in 1..calls.len() {
        let both = calls[0].keys().chain(calls[side].keys());
        let hooks: BTreeSet<&str> = both.copied().collect();
        for hook in hooks {
            let (first, other) = (count(0, hook), count(side, hook));
            if first.0 != other.0 {
                differ.push(Difference {
                    kernel: &kernel.name,
                    row,
                    hook,
                    first,
                    other,
                });
            }
        }
    }
    differ
}
