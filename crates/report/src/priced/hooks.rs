// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that account for what a stack adds, over all operations.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::HookCost;
use stats::rank_correlation;

use super::{Pair, percent_of};
use crate::cells::{Configuration, Group, Operation};
use crate::column::Columns;
use crate::group::sum;
use crate::table::{Table, Value};
use crate::text::short;

const DEAREST: usize = 10;

pub(super) fn tables(place: &str, group: &Group<'_>) -> Vec<Table> {
    let stacks = group.tested().filter_map(|of| Stack::of(of, group));
    let stacks: Vec<Stack<'_>> = stacks.collect();
    let summary = Columns::new()
        .left("stack", |of: &Stack<'_>| of.configuration.title())
        .column("operations", |of| of.operations)
        .column("overhead", |of| of.overhead)
        .column("in hooks", |of| of.in_hooks())
        .column("hooks", |of| of.hooks.len())
        .column("implemented", |of| of.implemented())
        .column("hold 90 %", |of| of.holding())
        .column(format!("{DEAREST} dearest, %"), |of| {
            percent_of(of.held_by(DEAREST), of.in_hooks())
        })
        .column("rank correlation", |of| {
            of.rank_correlation().map(|of| (of * 100.0).round() / 100.0)
        })
        .table(format!("How many hooks hold what a stack adds: {place}"), &stacks)
        .fixed(1)
        .legend([
            "Instructions beyond the baseline, each operation once, of operations that have one path under the stack and \
             in the baseline; these are not the same ones for all stacks. in hooks: what those hooks add that add \
             something; implemented: hooks that called a module's implementation; hold 90 %: so many of the dearest \
             hooks. rank correlation (Spearman's) of a hook's calls with what it adds: 1 if the hook that is called \
             more is the dearer one, 0 if calls say nothing.",
        ])
        .if_any();
    let shown: Vec<Line<'_>> = stacks.iter().flat_map(Stack::lines).collect();
    let hooks = Columns::new()
        .left("stack", |line: &Line<'_>| line.stack.configuration.title())
        .column("nth", |line| line.nth)
        .left("hook", |line| Value::plain(&line.hook))
        .column("calls", |line| line.calls)
        .column("adds", |line| line.adds)
        .column("part, %", |line| {
            percent_of(line.adds, line.stack.in_hooks())
        })
        .column("cumulative, %", |line| {
            percent_of(line.cumulative, line.stack.in_hooks())
        })
        .table(format!("Hooks by what they add: {place}"), &shown)
        .fixed(3)
        .legend([
            "Instructions beyond the baseline in the operations of the table above, until nine tenths are held. What is \
             called from inside another hook is part of that one.",
        ])
        .if_any();
    [summary, hooks].into_iter().flatten().collect()
}

#[derive(Debug, Default)]
struct Sum<'a> {
    hook: &'a str,
    calls: u64,
    /// Instructions beyond the baseline's, without nested hooks.
    adds: i128,
    inclusive: i128,
    implemented: bool,
}

struct Stack<'a> {
    configuration: &'a Configuration,
    operations: usize,
    overhead: i128,
    hooks: Vec<Sum<'a>>,
    held: Vec<i128>,
}

struct Line<'a> {
    stack: &'a Stack<'a>,
    nth: Option<usize>,
    hook: String,
    calls: u64,
    adds: i128,
    cumulative: i128,
}

impl<'a> Stack<'a> {
    fn of(configuration: &'a Configuration, group: &Group<'a>) -> Option<Stack<'a>> {
        let pair = |row: &Operation<'a>| Pair::of(*row, configuration, group);
        let pairs: Vec<Pair<'a>> = group.rows.iter().filter_map(pair).collect();
        let stack = Stack::new(configuration, &pairs);
        (stack.in_hooks() > 0).then_some(stack)
    }

    fn new(configuration: &'a Configuration, pairs: &[Pair<'a>]) -> Stack<'a> {
        let hooks = summed(pairs);
        let held = hooks.iter().scan(0, |held, hook| {
            *held += hook.adds.max(0);
            Some(*held)
        });
        Stack {
            configuration,
            operations: pairs.len(),
            overhead: pairs.iter().map(|pair| pair.overhead).sum(),
            held: held.collect(),
            hooks,
        }
    }

    fn in_hooks(&self) -> i128 {
        self.held.last().copied().unwrap_or(0)
    }

    fn held_by(&self, dearest: usize) -> i128 {
        let nth = self.held.get(dearest.saturating_sub(1));
        nth.copied().unwrap_or_else(|| self.in_hooks())
    }

    fn holding(&self) -> usize {
        let nine = 9 * self.in_hooks();
        self.held.partition_point(|held| 10 * held < nine) + 1
    }

    fn implemented(&self) -> usize {
        self.hooks.iter().filter(|hook| hook.implemented).count()
    }

    fn rank_correlation(&self) -> Option<f64> {
        let pair = |hook: &Sum<'_>| (hook.calls as f64, hook.inclusive as f64);
        rank_correlation(&self.hooks.iter().map(pair).collect::<Vec<_>>())
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let (shown, others) = self.hooks.split_at(self.holding());
        let shown = shown.iter().zip(&self.held).enumerate();
        let mut lines: Vec<Line<'_>> = shown
            .map(|(at, (sum, held))| Line {
                stack: self,
                nth: Some(at + 1),
                hook: short(sum.hook),
                calls: sum.calls,
                adds: sum.adds,
                cumulative: *held,
            })
            .collect();
        let others: Vec<&Sum<'_>> = others.iter().filter(|sum| sum.adds > 0).collect();
        if !others.is_empty() {
            lines.push(Line {
                stack: self,
                nth: None,
                hook: format!("{} others", others.len()),
                calls: sum(others.iter().map(|sum| sum.calls)),
                adds: others.iter().map(|sum| sum.adds).sum(),
                cumulative: self.in_hooks(),
            });
        }
        lines
    }
}

fn summed<'a>(pairs: &[Pair<'a>]) -> Vec<Sum<'a>> {
    let mut sums: BTreeMap<&str, Sum<'a>> = BTreeMap::new();
    for hook in pairs.iter().flat_map(|pair| pair.hooks) {
        let sum = sums.entry(&hook.hook).or_default();
        sum.hook = &hook.hook;
        sum.calls = sum.calls.saturating_add(hook.calls);
        sum.implemented |= !hook.implementations.is_empty();
        sum.add(hook, 1);
    }
    for hook in pairs.iter().flat_map(|pair| pair.base) {
        if let Some(sum) = sums.get_mut(hook.hook.as_str()) {
            sum.add(hook, -1);
        }
    }
    let mut sums: Vec<Sum<'a>> = sums.into_values().collect();
    sums.sort_by_key(|sum| Reverse(sum.adds));
    sums
}

impl Sum<'_> {
    fn add(&mut self, hook: &HookCost, times: i128) {
        self.adds += times * i128::from(hook.outermost);
        self.inclusive += times * i128::from(hook.inclusive);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_nine_tenths_are_held_and_what_saves_is_not_counted() {
        let hook = |name: &str, outermost| HookCost {
            hook: name.to_owned(),
            calls: 1,
            inclusive: outermost,
            outermost,
            ..HookCost::default()
        };
        let hooks = [hook("a", 90), hook("b", 10), hook("c", 1)];
        let base = [hook("c", 50)];
        let pairs = [Pair {
            hooks: &hooks,
            base: &base,
            overhead: 51,
        }];
        let of = Configuration {
            kernel: None,
            stack: Vec::new(),
            integrity: Vec::new(),
            policy: model::Policy::None,
            settings: model::Settings::default(),
        };
        let stack = Stack::new(&of, &pairs);
        assert_eq!((stack.in_hooks(), stack.holding()), (100, 1));
        let lines = stack.lines();
        let last = lines.last().unwrap();
        assert_eq!(
            (&last.hook[..], last.adds, last.nth),
            ("1 others", 10, None)
        );
    }
}
