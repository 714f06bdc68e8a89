// SPDX-License-Identifier: GPL-2.0-or-later
//! Proposals to make LSMs cheaper (section 6 of the LSM overhead paper), judged by a run with
//! hooks: which hooks to optimise, and what caching directory checks could save.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{Cell, Document, HookCost, Metric, path_depth};
use stats::rank_correlation;

use crate::cells::{Configuration, Group, Operation, instructions};
use crate::column::Columns;
use crate::group::sum;
use crate::table::{Table, Value};
use crate::text::short;

pub(crate) fn priced(run: &Document, group: &Group<'_>) -> Vec<Table> {
    let is_counted = group.metric == Metric::Instructions && !group.of_kernels;
    if !is_counted || group.baseline.is_none() {
        return Vec::new();
    }
    let place = group.place(run);
    let mut tables = hook_tables(&place, group);
    tables.extend(walk_table(&place, group));
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

const DEAREST: usize = 10;

fn hook_tables(place: &str, group: &Group<'_>) -> Vec<Table> {
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

const CHECK: &str = "inode_permission";
/// Calls `inode_permission` for directories only (`vfs_statx` uses another hook for attributes), so
/// it gives the cost of directories for other operations on the same path.
const ONLY_DIRECTORIES: &str = "stat";
const WALKS: [&str; 2] = ["open", ONLY_DIRECTORIES];
const FEWEST_DEPTHS: usize = 3;

fn walk_table(place: &str, group: &Group<'_>) -> Option<Table> {
    let walks = group
        .tested()
        .flat_map(|of| WALKS.map(|benchmark| Walk::of(of, benchmark, group)));
    let walks: Vec<Walk<'_>> = walks.flatten().collect();
    let (shortest, longest, further) = ("shortest", "longest", "each further");
    Columns::new()
        .left("stack", |of: &Walk<'_>| of.configuration.title())
        .left("benchmark", |of| of.benchmark)
        .left("components", |of| {
            format!("{} to {}", of.first().depth, of.last().depth)
        })
        .grouped(Some(shortest), "overhead", |of| of.first().overhead)
        .grouped(Some(shortest), "directories", |of| of.first().checks)
        .grouped(Some(shortest), "left", |of| of.first().left())
        .grouped(Some(longest), "calls", |of| of.last().calls)
        .grouped(Some(longest), "overhead", |of| of.last().overhead)
        .grouped(Some(longest), "directories", |of| of.last().checks)
        .grouped(Some(longest), "left", |of| of.last().left())
        .grouped(Some(longest), "left, %", |of| {
            percent_of(of.last().left(), of.last().overhead)
        })
        .grouped(Some(further), "overhead", |of| of.each(|at| at.overhead))
        .grouped(Some(further), "directories", |of| of.each(|at| at.checks))
        .grouped(Some(further), "outside", |of| of.each(|at| at.outside))
        .column("off the line", |of| of.off_the_line())
        .table(format!("What checks of directories cost: {place}"), &walks)
        .fixed(2)
        .legend([
            "Instructions beyond the baseline, of the shortest and the longest path and for each further component of \
             it. directories: inode_permission of directories, which is all of it in stat, and in open as much as in stat \
             of the same path; calls: of these. left: the overhead without it, which is the least that a cache of \
             such checks could leave, if to look into it cost nothing. outside: in no hook. off the line: the \
             furthest that the overhead of a path between is from the line through both ends.",
        ])
        .if_any()
}

struct Walk<'a> {
    configuration: &'a Configuration,
    benchmark: &'a str,
    /// At least [`FEWEST_DEPTHS`], the shortest path first.
    points: Vec<Point>,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    depth: u32,
    overhead: i128,
    calls: u64,
    checks: i128,
    outside: i128,
}

impl Point {
    fn left(&self) -> i128 {
        self.overhead - self.checks
    }
}

fn is_check(hook: &HookCost) -> bool {
    hook.hook == CHECK
}

impl<'a> Walk<'a> {
    fn of(
        configuration: &'a Configuration,
        benchmark: &str,
        group: &Group<'a>,
    ) -> Option<Walk<'a>> {
        let rows = group.rows.iter().filter(|row| row.0 == benchmark);
        let point = |row: &Operation<'a>| {
            let depth = path_depth(row.1)?;
            let walk = Pair::of(*row, configuration, group)?;
            let directories = Pair::of((ONLY_DIRECTORIES, row.1), configuration, group)?;
            Some(Point::of(depth, &walk, &directories))
        };
        let mut points: Vec<Point> = rows.clone().filter_map(point).collect();
        points.sort_by_key(|point| point.depth);
        points.dedup_by_key(|point| point.depth);
        let benchmark = rows.clone().next()?.0;
        (points.len() >= FEWEST_DEPTHS).then_some(Walk {
            configuration,
            benchmark,
            points,
        })
    }

    fn first(&self) -> Point {
        self.points[0]
    }

    fn last(&self) -> Point {
        self.points[self.points.len() - 1]
    }

    fn each(&self, figure: impl Fn(&Point) -> i128) -> f64 {
        (self.slope(figure) * 10.0).round() / 10.0
    }

    fn slope(&self, figure: impl Fn(&Point) -> i128) -> f64 {
        let (first, last) = (self.first(), self.last());
        (figure(&last) - figure(&first)) as f64 / f64::from(last.depth - first.depth)
    }

    /// Largest distance of an overhead from the line through both ends, in instructions.
    fn off_the_line(&self) -> f64 {
        let (first, slope) = (self.first(), self.slope(|at| at.overhead));
        let off = self.points.iter().map(|at| {
            let line = first.overhead as f64 + slope * f64::from(at.depth - first.depth);
            (at.overhead as f64 - line).abs()
        });
        off.fold(0.0, f64::max).round()
    }
}

impl Point {
    /// From the operation, and one on the same path that checks directories only.
    fn of(depth: u32, walk: &Pair<'_>, directories: &Pair<'_>) -> Point {
        let calls = directories.hooks.iter().filter(|hook| is_check(hook));
        let of_check = |hook: &HookCost| if is_check(hook) { hook.outermost } else { 0 };
        Point {
            depth,
            overhead: walk.overhead,
            calls: calls.map(|hook| hook.calls).fold(0, u64::saturating_add),
            checks: directories.added(of_check),
            outside: walk.overhead - walk.added(|hook| hook.outermost),
        }
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
