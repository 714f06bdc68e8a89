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
                    let alike = of_kernel.iter_mut().find(|of| of.is_like(&difference));
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
        .left("kernel", |of: &Difference<'_>| {
            &of.kernel
        })
        .left("benchmark", |of| operation_title(of.row))
        .left("hook", |of| of.hook)
        .left("calls", |of| {
            let calls = [of.first, of.other].map(|of| format!("{} {}", of.calls, of.architecture));
            calls.join(", ")
        })
        .column("stacks", |of| of.configurations)
        .table("Hooks called a different number of times", &found)
        .fixed(3)
        .legend([format!(
            "{same} of {all} operations, counted under each stack, call every hook as often on each \
             architecture."
        )]);
    Some(table)
}

impl Difference<'_> {
    fn is_like(&self, other: &Difference<'_>) -> bool {
        let calls = |of: &Difference<'_>| (of.first.calls, of.other.calls, of.other.architecture);
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
    let of = |side: usize, hook: &str| Calls {
        architecture: kernel.sides[side].architecture,
        calls: calls[side].get(hook).copied().unwrap_or(0),
    };
    for side in 1..calls.len() {
        let both = calls[0].keys().chain(calls[side].keys());
        let hooks: BTreeSet<&str> = both.copied().collect();
        for hook in hooks {
            let (first, other) = (of(0, hook), of(side, hook));
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
