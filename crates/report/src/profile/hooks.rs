// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks over a set of operations, as in LSMPMON's tables 5 to 7.

use std::collections::{BTreeMap, HashMap};

use model::{Cell, HookCost};

use super::{configured, counted, path, where_profiled};
use crate::cells::reason;
use crate::column::Columns;
use crate::format::{count, listed, share};
use crate::group::{distinct, grouped, most_expensive_first};
use crate::table::{Table, Value};
use crate::text::{printable, short};

const OPERATIONS_NAMED: usize = 10;

pub(super) fn tables(profiles: &[Cell]) -> Vec<Table> {
    let places = grouped(profiles, |Cell { key, .. }| {
        (&key.kernel, &key.stack, &key.filesystem)
    });
    let stacks = grouped(profiles, |Cell { key, .. }| (&key.stack, &key.filesystem));
    let places = places.iter().map(|(_, cells)| table(cells));
    let stacks = stacks.iter().filter_map(|(_, cells)| kernels(cells));
    places.chain(stacks).collect()
}

#[derive(Default)]
struct Sum<'a> {
    operations: u64,
    calls: u64,
    inclusive: u64,
    dispatch: u64,
    modules: HashMap<&'a str, u64>,
}

#[derive(Default)]
struct Sums<'a> {
    hooks: HashMap<&'a str, Sum<'a>>,
    operations: u64,
    calls: u64,
    hooked: u64,
    total: u64,
}

impl<'a> Sums<'a> {
    fn new(profiles: &[&'a Cell]) -> Sums<'a> {
        let mut sums = Sums::default();
        for path in profiles.iter().filter_map(|cell| path(cell)) {
            sums.operations += 1;
            sums.hooked = sums.hooked.saturating_add(path.hooked);
            sums.total = sums.total.saturating_add(path.total);
            for hook in path.hooks.iter().filter(|hook| hook.calls > 0) {
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

    fn share(&self) -> String {
        share(self.hooked, self.total).unwrap_or_else(|| "n/a".to_owned())
    }

    fn per_operation(&self, count: u64) -> Value {
        match self.operations {
            0 => Value::plain("n/a"),
            operations => Value::from(count as f64 / operations as f64),
        }
    }
}

impl Sum<'_> {
    fn average(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.inclusive as f64 / self.calls as f64)
    }
}

fn table(profiles: &[&Cell]) -> Table {
    let sums = Sums::new(profiles);
    let hooks = most_expensive_first(sums.hooks.iter().map(|(hook, sum)| (*hook, sum.inclusive)));
    let lines = hooks.into_iter().map(|hook| (hook, &sums.hooks[hook]));
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
    let operations = Value::from(sums.operations).noted(without_figures(profiles));
    let [calls, hooked, total] = [sums.calls, sums.hooked, sums.total].map(Value::from);
    let [nested, part] = ["hooks, nested once", "share of hooks"].map(Value::plain);
    let all = Value::plain(format!("all {}", profiles[0].key.metric.unit()));
    let summaries = [
        vec![nested, operations, calls, hooked],
        vec![all, none(), none(), total],
        vec![part, none(), none(), Value::plain(sums.share())],
    ];
    let title = format!(
        "{}, deterministic clock: hooks with {} over {} operation{}: {}",
        where_profiled(profiles),
        configured(profiles[0]),
        count(sums.operations),
        if sums.operations == 1 { "" } else { "s" },
        counted(profiles)
    );
    columns.summed_up(title, lines, summaries).legend([
        "operations: number that call the hook; calls, sum: totals for one run of each operation; \
         sum: instructions from call to return; average: sum per call; dispatch: sum minus the \
         modules' functions, which have a column per module.",
        "nested once: the sum counts a hook inside a hook with the outer one.",
    ])
}

fn modules<'a>(profiles: &[&'a Cell], sums: &Sums<'a>) -> Vec<&'a str> {
    let active = profiles.iter().flat_map(|cell| &cell.active_lsms);
    let active = distinct(active.map(String::as_str)).into_iter().enumerate();
    let order: HashMap<&str, usize> = active.map(|(at, module)| (module, at)).collect();
    let behind = sums.hooks.values().flat_map(|sum| sum.modules.keys());
    let mut modules = distinct(behind.copied());
    modules.sort_by_key(|module| (order.get(module).copied().unwrap_or(usize::MAX), *module));
    modules
}

fn without_figures(profiles: &[&Cell]) -> Option<String> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cell in profiles.iter().filter(|cell| path(cell).is_none()) {
        reasons.entry(reason(cell)).or_default().push(cell.title());
    }
    let text = |(why, titles): (&String, &Vec<String>)| {
        format!("{} ({why})", listed(titles, OPERATIONS_NAMED))
    };
    let texts: Vec<String> = reasons.iter().map(text).collect();
    (!texts.is_empty()).then(|| format!("without figures: {}", texts.join("; ")))
}

fn kernels(profiles: &[&Cell]) -> Option<Table> {
    let by_kernel = grouped(profiles.iter().copied(), |cell| &cell.key.kernel);
    if by_kernel.len() < 2 {
        return None;
    }
    let sums = by_kernel.iter().map(|(_, cells)| Sums::new(cells));
    let sums: Vec<Sums<'_>> = sums.collect();
    let mut columns = Columns::new().left("hook", |hook: &str| hook);
    for ((kernel, _), sums) in by_kernel.iter().zip(&sums) {
        columns = columns.right(short(kernel), move |hook| {
            let sum = sums.hooks.get(hook);
            sum.map_or_else(|| Value::plain("-"), |sum| sum.average().into())
        });
    }
    let mut totals: HashMap<&str, u64> = HashMap::new();
    for (hook, sum) in sums.iter().flat_map(|sums| &sums.hooks) {
        let cost = totals.entry(hook).or_default();
        *cost = cost.saturating_add(sum.inclusive);
    }
    let summary = |label: &str, value: fn(&Sums<'_>) -> Value| {
        let label = [Value::plain(label)].into_iter();
        label.chain(sums.iter().map(value)).collect()
    };
    let summaries = [
        summary("operations", |sums| sums.operations.into()),
        summary("calls per operation", |all| all.per_operation(all.calls)),
        summary("hooks per operation", |all| all.per_operation(all.hooked)),
        summary("share of hooks", |sums| Value::plain(sums.share())),
    ];
    let title = format!(
        "{}, deterministic clock: hooks with {} on each kernel: {} per call",
        short(&profiles[0].key.filesystem),
        configured(profiles[0]),
        counted(profiles)
    );
    let table = columns.summed_up(title, most_expensive_first(totals), summaries).legend([
        "Figures: the average from call to return over all operations; -: never called. hooks per \
         operation: instructions, a hook inside a hook counted with the outer one.",
    ]);
    Some(table)
}
