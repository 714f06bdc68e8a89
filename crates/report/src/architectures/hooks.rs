// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that an operation calls a different number of times on another architecture.

use std::collections::{BTreeMap, BTreeSet};

use model::{Architecture, Cell};

use super::Kernel;
use crate::cells::{Operation, operation_title};
use crate::column::Columns;
use crate::table::Table;

struct Difference<'a> {
    kernel: String,
    row: Operation<'a>,
    hook: &'a str,
    first: Calls,
    other: Calls,
    configurations: usize,
}

pub(super) fn differences(kernels: &[Kernel<'_, '_>]) -> Option<Table> {
    let (mut found, mut same, mut all) = (Vec::new(), 0, 0);
    for kernel in kernels {
        let group = kernel.sides[0].group;
        let mut of_kernel: Vec<Difference<'_>> = Vec::new();
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
                for difference in differ {
                    let alike = of_kernel
                        .iter_mut()
                        .find(|known| known.is_like(&difference));
                    match alike {
                        Some(known) => known.configurations += 1,
                        None => of_kernel.push(difference),
                    }
                }
            }
        }
        found.extend(of_kernel);
    }
    if all == 0 {
        return None;
    }
    let table = Columns::new()
        .left("kernel", |difference: &Difference<'_>| &difference.kernel)
        .left("benchmark", |difference| operation_title(difference.row))
        .left("hook", |difference| difference.hook)
        .left("calls", |difference| {
            let sides = [difference.first, difference.other];
            let calls = sides.map(|side| format!("{} {}", side.calls, side.architecture));
            calls.join(", ")
        })
        .column("stacks", |difference| difference.configurations)
        .table("Hooks called a different number of times", &found)
        .fixed(3)
        .legend([format!(
            "{same} of {all} operations, counted under each stack, call every hook the same number \
             of times on each architecture."
        )]);
    Some(table)
}

impl Difference<'_> {
    fn is_like(&self, other: &Difference<'_>) -> bool {
        let calls = |difference: &Difference<'_>| {
            (
                difference.first.calls,
                difference.other.calls,
                difference.other.architecture,
            )
        };
        (self.row, self.hook) == (other.row, other.hook) && calls(self) == calls(other)
    }
}

fn calls(cell: &Cell) -> Option<BTreeMap<&str, u64>> {
    let hooks = cell.hooks()?.iter();
    Some(hooks.map(|hook| (&*hook.hook, hook.calls)).collect())
}

fn apart<'a>(
    kernel: &Kernel<'_, '_>,
    row: Operation<'a>,
    calls: &[BTreeMap<&'a str, u64>],
) -> Vec<Difference<'a>> {
    let mut differ = Vec::new();
    let count = |side: usize, hook: &str| Calls {
        architecture: kernel.sides[side].architecture,
        calls: calls[side].get(hook).copied().unwrap_or(0),
    };
    for side in 1..calls.len() {
        let both = calls[0].keys().chain(calls[side].keys());
        let hooks: BTreeSet<&str> = both.copied().collect();
        for hook in hooks {
            let (first, other) = (count(0, hook), count(side, hook));
            if first.calls != other.calls {
                differ.push(Difference {
                    kernel: kernel.name.clone(),
                    row,
                    hook,
                    first,
                    other,
                    configurations: 1,
                });
            }
        }
    }
    differ
}

#[derive(Debug, Clone, Copy)]
struct Calls {
    architecture: Architecture,
    calls: u64,
}
