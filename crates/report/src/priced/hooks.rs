// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that account for what a stack adds, over all operations.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::HookCost;
use stats::rank_correlation;

use super::{Pair, percent_of, tested};
use crate::cells::{Configuration, Group};
use crate::column::Columns;
use crate::group::sum;
use crate::table::{Table, Value};
use crate::text::short;

const DEAREST: usize = 10;

/// A row per stack, and one per hook up to nine tenths of the cost.
pub(super) fn tables(place: &str, group: &Group<'_>) -> Vec<Table> {
    let stacks: Vec<Stack<'_>> = tested(group)
        .filter_map(|of| Stack::of(of, group))
        .collect();
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
    let shown = stacks.iter().flat_map(Stack::lines);
    let shown: Vec<Line<'_>> = shown.collect();
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
    /// Sum of each hook and all more expensive ones.
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
        let rows = group.rows.iter();
        let pairs: Vec<Pair<'a>> = rows
            .filter_map(|row| Pair::of(*row, configuration, group))
            .collect();
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
        let pairs = self.hooks.iter();
        let pairs: Vec<(f64, f64)> = pairs
            .map(|hook| (hook.calls as f64, hook.inclusive as f64))
            .collect();
        rank_correlation(&pairs)
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let (shown, others) = self.hooks.split_at(self.holding());
        let mut lines = Vec::new();
        for (at, (sum, held)) in shown.iter().zip(&self.held).enumerate() {
            lines.push(Line {
                stack: self,
                nth: Some(at + 1),
                hook: short(sum.hook),
                calls: sum.calls,
                adds: sum.adds,
                cumulative: *held,
            });
        }
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

    fn hook(hook: &str, calls: u64, inclusive: u64, outermost: u64) -> HookCost {
        HookCost {
            hook: hook.to_owned(),
            calls,
            inclusive,
            outermost,
            ..HookCost::default()
        }
    }

    fn configuration() -> Configuration {
        Configuration {
            kernel: None,
            stack: vec!["smack".to_owned()],
            integrity: Vec::new(),
            policy: model::Policy::None,
            settings: model::Settings::default(),
        }
    }

    #[test]
    fn hooks_are_summed_over_operations_less_the_baseline() {
        let first = [hook("a", 2, 60, 60), hook("b", 1, 8, 0)];
        let second = [hook("a", 1, 40, 40), hook("c", 9, 12, 12)];
        let base = [hook("a", 1, 10, 10), hook("gone", 1, 99, 99)];
        let pair = |hooks, base| Pair {
            hooks,
            base,
            overhead: 100,
        };
        let of = configuration();
        let stack = Stack::new(&of, &[pair(&first, &base), pair(&second, &[])]);
        let found: Vec<_> = stack
            .hooks
            .iter()
            .map(|of| (of.hook, of.calls, of.adds))
            .collect();
        assert_eq!(found, [("a", 3, 90), ("c", 9, 12), ("b", 1, 0)]);
        assert_eq!((stack.in_hooks(), stack.overhead), (102, 200));
        // 90 of 102 is less than nine tenths.
        assert_eq!(stack.holding(), 2);
        // Calls 3, 9, 1 and inclusive 90, 12, 8: ranks 1, 2, 0 and 2, 1, 0.
        assert_eq!(stack.rank_correlation(), Some(0.5));
        let lines = stack.lines();
        let shown: Vec<_> = lines
            .iter()
            .map(|of| (&of.hook[..], of.cumulative))
            .collect();
        assert_eq!(shown, [("a", 90), ("c", 102)]);
    }

    #[test]
    fn exactly_nine_tenths_are_held_and_what_saves_is_not_counted() {
        let hooks = [
            hook("a", 1, 90, 90),
            hook("b", 1, 10, 10),
            hook("c", 1, 1, 1),
        ];
        let base = [hook("c", 1, 50, 50)];
        let pairs = [Pair {
            hooks: &hooks,
            base: &base,
            overhead: 51,
        }];
        let of = configuration();
        let stack = Stack::new(&of, &pairs);
        assert_eq!((stack.in_hooks(), stack.holding()), (100, 1));
        let lines = stack.lines();
        let last = lines.last().unwrap();
        assert_eq!(
            (&last.hook[..], last.adds, last.nth),
            ("1 others", 10, None)
        );
        assert_eq!(percent_of(stack.held_by(1), stack.in_hooks()), Some(90.0));
        assert_eq!(percent_of(1, 0), None);
    }
}
