// SPDX-License-Identifier: GPL-2.0-or-later
//! Instructions that a hook call costs outside the modules, which shows what static calls save on
//! architectures that have them.

use std::collections::{BTreeMap, BTreeSet};

use model::{Architecture, HookCost};

use super::Kernel;
use crate::column::Columns;
use crate::format;
use crate::table::{Table, Value};

const MOST: u64 = 4;

struct Dispatch {
    kernel: String,
    architecture: Architecture,
    /// Instructions of the cheapest call of each hook, by the number of functions that it calls.
    by_functions: BTreeMap<u64, BTreeMap<String, u64>>,
}

pub(super) fn by_modules(kernels: &[Kernel<'_, '_>]) -> Option<Table> {
    let mut all = Vec::new();
    for kernel in kernels {
        for side in &kernel.sides {
            let hooks = side.group.cells().filter_map(|cell| cell.hooks());
            let mut by_functions: BTreeMap<u64, BTreeMap<String, u64>> = BTreeMap::new();
            for hook in hooks.flatten() {
                if let Some((functions, instructions)) = each_call(hook) {
                    let figures = by_functions.entry(functions).or_default();
                    let least = figures.entry(hook.hook.clone()).or_insert(instructions);
                    *least = instructions.min(*least);
                }
            }
            all.push(Dispatch {
                kernel: kernel.name.clone(),
                architecture: side.architecture,
                by_functions,
            });
        }
    }
    all.retain(|dispatch| !dispatch.by_functions.is_empty());
    let mut columns = Columns::new()
        .left("kernel", |dispatch: &Dispatch| &dispatch.kernel)
        .left("architecture", |dispatch| dispatch.architecture.to_string());
    for functions in 0..=MOST {
        let hooks = common(&all, functions);
        if hooks.is_empty() {
            continue;
        }
        let n = ["no", "1", "2", "3", "4"][functions as usize];
        let plural = if functions > 1 { "s" } else { "" };
        let title = format!("{n} function{plural} (n={})", hooks.len());
        columns = columns.right(title, move |dispatch: &Dispatch| {
            dispatch.median(functions, &hooks)
        });
    }
    columns
        .table(
            "Cost of calling a hook, by number of called functions",
            &all,
        )
        .fixed(2)
        .legend([
            "Instructions of the cheapest call without the modules' functions: median over the n \
             hooks that call this many functions in every row. Each column is for different hooks.",
        ])
        .if_any()
}

impl Dispatch {
    fn median(&self, functions: u64, hooks: &BTreeSet<String>) -> Value {
        let figures = self.by_functions.get(&functions).into_iter().flatten();
        let figures = figures.filter(|(hook, _)| hooks.contains(*hook));
        let figures: Vec<f64> = figures.map(|(_, figure)| *figure as f64).collect();
        match figures.is_empty() {
            true => Value::dash(),
            false => Value::plain(format::figure(stats::median(figures))),
        }
    }
}

fn common(all: &[Dispatch], functions: u64) -> BTreeSet<String> {
    let hooks = |dispatch: &Dispatch| -> BTreeSet<String> {
        let figures = dispatch.by_functions.get(&functions).into_iter().flatten();
        figures.map(|(hook, _)| hook.clone()).collect()
    };
    let every = all.iter().map(hooks);
    every.reduce(|one, other| &one & &other).unwrap_or_default()
}

/// The number of functions that a call of the hook calls, and the call's instructions outside them.
/// None if the sums show that calls of the hook differ.
fn each_call(hook: &HookCost) -> Option<(u64, u64)> {
    if hook.calls == 0 || !hook.function.starts_with("security_") {
        return None;
    }
    let functions = hook.implementations.iter();
    let functions: u64 = functions.map(|function| function.calls).sum();
    let whole = functions.is_multiple_of(hook.calls) && hook.dispatch.is_multiple_of(hook.calls);
    whole.then(|| (functions / hook.calls, hook.dispatch / hook.calls))
}
