// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks over a whole set of operations: LSMPMON's tables 5 to 7.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use experiment::{Clock, HookCost};

use super::{Profile, configured, full_name, grouped, where_profiled};
use crate::cells::reason;
use crate::column::Columns;
use crate::format::{count, share};
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// Most operations that a footnote names.
const OPERATIONS_NAMED: usize = 10;

pub(super) fn tables(profiles: &[Profile<'_>], clock: Clock) -> Vec<Table> {
    let clock = format!("{clock} clock");
    let mut tables: Vec<Table> = grouped(profiles, |profile| {
        (profile.kernel(), profile.stack(), profile.filesystem())
    })
    .into_iter()
    .map(|(_, profiles)| table(&profiles, &clock))
    .collect();
    tables.extend(
        grouped(profiles, |profile| (profile.stack(), profile.filesystem()))
            .into_iter()
            .filter_map(|((stack, _), profiles)| kernels(stack, &profiles, &clock)),
    );
    tables
}

/// A hook over several operations.
#[derive(Default)]
struct Sum<'a> {
    operations: u64,
    calls: u64,
    inclusive: u64,
    dispatch: u64,
    /// Inclusive, by module.
    modules: HashMap<&'a str, u64>,
}

/// All operations of one kernel, stack and file system.
#[derive(Default)]
struct Sums<'a> {
    hooks: HashMap<&'a str, Sum<'a>>,
    operations: u64,
    calls: u64,
    hooked: u64,
    total: u64,
}

impl<'a> Sums<'a> {
    fn of(profiles: &[&'a Profile<'a>]) -> Sums<'a> {
        let mut sums = Sums::default();
        for profile in profiles.iter().filter(|profile| profile.figures.is_some()) {
            sums.operations += 1;
            sums.hooked = sums.hooked.saturating_add(profile.hooked());
            sums.total = sums.total.saturating_add(profile.total());
            for hook in profile.hooks().iter().filter(|hook| hook.calls > 0) {
                sums.add(hook);
            }
        }
        sums
    }

    fn add(&mut self, hook: &'a HookCost) {
        self.calls = self.calls.saturating_add(hook.calls);
        let sum = self.hooks.entry(&hook.hook).or_default();
        sum.operations += 1;
        sum.calls = sum.calls.saturating_add(hook.calls);
        sum.inclusive = sum.inclusive.saturating_add(hook.inclusive);
        sum.dispatch = sum.dispatch.saturating_add(hook.dispatch);
        for behind in &hook.implementations {
            let of_module = sum.modules.entry(&behind.module).or_default();
            *of_module = of_module.saturating_add(behind.inclusive);
        }
    }

    /// Hooks, the dearest first.
    fn hooks(&self) -> Vec<&'a str> {
        let mut hooks: Vec<(Reverse<u64>, &str)> = self
            .hooks
            .iter()
            .map(|(hook, sum)| (Reverse(sum.inclusive), *hook))
            .collect();
        hooks.sort_unstable();
        hooks.into_iter().map(|(_, hook)| hook).collect()
    }

    fn share(&self) -> String {
        share(self.hooked, self.total).unwrap_or_else(|| "n/a".to_owned())
    }
}

impl Sum<'_> {
    fn average(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.inclusive as f64 / self.calls as f64)
    }
}

fn table(profiles: &[&Profile<'_>], clock: &str) -> Table {
    let sums = Sums::of(profiles);
    let hooks = sums.hooks();
    let lines = hooks
        .iter()
        .filter_map(|&hook| Some((hook, sums.hooks.get(hook)?)));
    let mut columns = Columns::new()
        .left("hook", |(hook, _): (&str, &Sum<'_>)| hook)
        .column("operations", |(_, sum)| sum.operations)
        .column("calls", |(_, sum)| sum.calls)
        .column("sum", |(_, sum)| sum.inclusive)
        .column("average", |(_, sum)| sum.average())
        .column("dispatch", |(_, sum)| sum.dispatch);
    for module in modules(profiles, &sums) {
        columns = columns.right(printable(module, 30), move |(_, sum)| {
            let of_module = sum.modules.get(module).copied();
            of_module.map_or_else(|| Value::plain("-"), Value::from)
        });
    }
    let none = Value::default;
    let summaries = [
        vec![
            Value::plain("hooks, nested once"),
            Value::from(sums.operations).noted(without_figures(profiles)),
            sums.calls.into(),
            sums.hooked.into(),
        ],
        vec![
            Value::plain("all instructions"),
            none(),
            none(),
            sums.total.into(),
        ],
        vec![
            Value::plain("share of hooks"),
            none(),
            none(),
            Value::plain(sums.share()),
        ],
    ];
    let stack = profiles.first().map_or_else(String::new, |p| configured(p));
    let title = format!(
        "{}, {clock}: hooks with {} over {}: guest kernel instructions",
        where_profiled(profiles),
        stack,
        of_operations(sums.operations)
    );
    columns.summed_up(title, lines, summaries).legend([
        "operations: that call the hook; calls, sum: over one run of each; sum: from call to \
         return; average: sum per call; dispatch: sum less the modules' functions, which have a \
         column per module.",
        "nested once: the sum counts a hook inside a hook with the outer one.",
    ])
}

fn of_operations(n: u64) -> String {
    match n {
        1 => "1 operation".to_owned(),
        n => format!("{} operations", count(n)),
    }
}

/// Modules behind hooks: first those of the stack in its order, then the others.
fn modules<'a>(profiles: &[&'a Profile<'a>], sums: &Sums<'a>) -> Vec<&'a str> {
    let mut order: HashMap<&str, usize> = HashMap::new();
    for profile in profiles {
        for module in &profile.cell.active_lsms {
            let next = order.len();
            order.entry(module).or_insert(next);
        }
    }
    let mut modules: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for module in sums.hooks.values().flat_map(|sum| sum.modules.keys()) {
        if seen.insert(*module) {
            modules.push(module);
        }
    }
    modules.sort_by_key(|module| (order.get(module).copied().unwrap_or(usize::MAX), *module));
    modules
}

/// Operations that have no figures, by reason.
fn without_figures(profiles: &[&Profile<'_>]) -> Option<String> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for profile in profiles.iter().filter(|profile| profile.figures.is_none()) {
        let why = reason(profile.cell.status(), profile.cell.reason());
        let titles = reasons.entry(why).or_default();
        titles.push(printable(&profile.cell.title(), TEXT_LIMIT));
    }
    let texts: Vec<String> = reasons
        .iter()
        .map(|(why, titles)| {
            let mut text = titles[..titles.len().min(OPERATIONS_NAMED)].join(", ");
            if titles.len() > OPERATIONS_NAMED {
                text += &format!(" and {} more", titles.len() - OPERATIONS_NAMED);
            }
            format!("{text} ({why})")
        })
        .collect();
    (!texts.is_empty()).then(|| format!("without figures: {}", texts.join("; ")))
}

/// The average cost of a call on each kernel; None for a single kernel.
fn kernels(stack: &[String], profiles: &[&Profile<'_>], clock: &str) -> Option<Table> {
    let by_kernel = grouped(profiles.iter().copied(), |p| p.kernel());
    if by_kernel.len() < 2 {
        return None;
    }
    let sums: Vec<Sums<'_>> = by_kernel.iter().map(|(_, of)| Sums::of(of)).collect();
    let mut columns = Columns::new().left("hook", |hook: &str| hook);
    for ((kernel, _), sums) in by_kernel.iter().zip(&sums) {
        columns = columns.right(printable(kernel, TEXT_LIMIT), move |hook| {
            let sum = sums.hooks.get(hook);
            sum.map_or_else(|| Value::plain("-"), |sum| sum.average().into())
        });
    }
    let mut dearest: HashMap<&str, u64> = HashMap::new();
    for (hook, sum) in sums.iter().flat_map(|sums| &sums.hooks) {
        let cost = dearest.entry(hook).or_default();
        *cost = cost.saturating_add(sum.inclusive);
    }
    let mut hooks: Vec<(Reverse<u64>, &str)> = dearest
        .into_iter()
        .map(|(hook, cost)| (Reverse(cost), hook))
        .collect();
    hooks.sort_unstable();
    let hooks = hooks.into_iter().map(|(_, hook)| hook);
    let summary = |label: &str, of: fn(&Sums<'_>) -> Value| {
        let figures = sums.iter().map(of);
        std::iter::once(Value::plain(label))
            .chain(figures)
            .collect()
    };
    let summaries = [
        summary("operations", |sums| sums.operations.into()),
        summary("calls per operation", |sums| {
            per_operation(sums.calls, sums)
        }),
        summary("hooks per operation", |sums| {
            per_operation(sums.hooked, sums)
        }),
        summary("share of hooks", |sums| Value::plain(sums.share())),
    ];
    let first = profiles.first();
    let filesystem = first.map_or("", |p| p.filesystem());
    let title = format!(
        "{}, {clock}: hooks with {} on each kernel: guest kernel instructions per call",
        printable(filesystem, TEXT_LIMIT),
        first.map_or_else(|| full_name(stack), |p| configured(p))
    );
    let table = columns.summed_up(title, hooks, summaries).legend([
        "Figures: the average from call to return over all operations; -: never called. hooks per \
         operation: instructions, a hook inside a hook counted with the outer one.",
    ]);
    Some(table)
}

fn per_operation(of: u64, sums: &Sums<'_>) -> Value {
    match sums.operations {
        0 => Value::plain("n/a"),
        operations => Value::from(of as f64 / operations as f64),
    }
}
