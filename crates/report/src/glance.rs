// SPDX-License-Identifier: GPL-2.0-or-later
//! Summary of a run: cost of each configuration, its most expensive operation, and the hook that
//! accounts for most of it. Operations without a dominant path never come first.

use std::collections::BTreeMap;

use compare::judge::Judgements;
use model::{Cell, Document, HookCost, Status, listed, path_depth};

use crate::cells::{Configuration, Group, Operation, groups, operation_title};
use crate::column::Columns;
use crate::format;
use crate::group::grouped;
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::short;

pub(crate) struct Glance<'a, 'b> {
    pub(crate) group: &'b Group<'a>,
    pub(crate) judgements: &'b Judgements<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overhead {
    /// A fraction; for transfers the difference.
    pub(crate) value: f64,
    pub(crate) is_shown: bool,
    /// Whether the operation has a dominant path, or the metric is time.
    is_exact: bool,
}

impl Overhead {
    fn is_known(&self) -> bool {
        self.is_shown && self.is_exact
    }
}

/// Benchmarks that readers look for first.
const COMMON: [&str; 6] = ["open", "stat", "read", "write", "creat", "unlink"];

const NAMED_LIMIT: usize = 3;

const UNKNOWN_LIMIT: usize = 4;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookShare<'a> {
    pub(crate) configuration: &'a Configuration,
    pub(crate) hook: &'a str,
    /// Fraction of an operation's cost in the baseline, for transfers the difference: the mean over
    /// all operations.
    pub(crate) adds: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Depth<'a> {
    pub(crate) configuration: &'a Configuration,
    pub(crate) points: Vec<(u32, f64)>,
}

impl Depth<'_> {
    pub(crate) fn slope(&self) -> f64 {
        match (self.points.first(), self.points.last()) {
            (Some(first), Some(last)) if last.0 > first.0 => {
                (last.1 - first.1) / f64::from(last.0 - first.0)
            }
            _ => 0.0,
        }
    }
}

impl<'a, 'b> Glance<'a, 'b> {
    pub(crate) fn overhead(
        &self,
        row: Operation<'a>,
        configuration: &Configuration,
    ) -> Option<Overhead> {
        let (base, tested) = self.pair(row, configuration)?;
        let judged = self.judgements.verdict(base, tested)?;
        let value = match base.key.metric.is_of_transfers() {
            true => Some(tested.headline()? - base.headline()?),
            false => judged.overhead,
        };
        Some(Overhead {
            value: value?,
            is_shown: judged.is_clear(),
            is_exact: !base.key.metric.is_counted() || (base.is_exact() && tested.is_exact()),
        })
    }

    pub(crate) fn classes(&self) -> Vec<(&'a str, Vec<Operation<'a>>)> {
        let class = |row: &Operation<'a>| {
            let mut cells = self.group.configurations.iter();
            let class = cells.find_map(|configuration| {
                Some(self.group.cell(*row, configuration)?.class.as_str())
            });
            class.unwrap_or("")
        };
        let classes = grouped(&self.group.rows, class).into_iter();
        let copied = |rows: Vec<&Operation<'a>>| rows.into_iter().copied().collect();
        classes.map(|(class, rows)| (class, copied(rows))).collect()
    }

    /// The hooks, those that add most first; empty for a run without hooks.
    pub(crate) fn hooks(&self) -> Vec<HookShare<'b>> {
        let tested = self.group.tested();
        let shares = tested.flat_map(|configuration| self.hooks_under(configuration));
        let mut all: Vec<HookShare<'b>> = shares.collect();
        all.sort_by(|one, other| other.adds.total_cmp(&one.adds));
        all
    }

    fn hooks_under(&self, configuration: &'b Configuration) -> Vec<HookShare<'b>> {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        let mut n = 0;
        let hooks = |row: &Operation<'a>| {
            let (base, tested) = self.pair(*row, configuration)?;
            let has_one_path = base.is_exact() && tested.is_exact();
            let whole = match self.group.metric.is_of_transfers() {
                true => Some(1.0),
                false => base.headline(),
            };
            let whole = whole.filter(|whole| has_one_path && *whole > 0.0)?;
            Some((base.hooks()?, tested.hooks()?, whole))
        };
        for (without, with, whole) in self.group.rows.iter().filter_map(hooks) {
            n += 1;
            for (hook, added) in added(without, with) {
                *sums.entry(hook).or_default() += added / whole;
            }
        }
        let share = |(hook, sum): (&'b str, f64)| HookShare {
            configuration,
            hook,
            adds: sum / f64::from(n.max(1)),
        };
        sums.into_iter().map(share).collect()
    }

    /// The operation with the most depths, a line per configuration; None without two depths.
    pub(crate) fn depths(&self) -> Option<(&'a str, Vec<Depth<'b>>)> {
        let deep = |row: &&Operation<'_>| path_depth(row.1).is_some();
        let rows = self.group.rows.iter().filter(deep);
        let deep = grouped(rows, |row| row.0).into_iter().map(|(name, rows)| {
            // If several operations have equally many depths, the first.
            let rows = rows.into_iter().rev().copied();
            let depths = rows.filter_map(|row| Some((path_depth(row.1)?, row)));
            (name, BTreeMap::from_iter(depths))
        });
        let deep: Vec<(&str, BTreeMap<u32, Operation<'a>>)> = deep.collect();
        let most = deep.iter().map(|(_, depths)| depths.len()).max()?;
        let (name, rows) = deep.iter().find(|(_, depths)| depths.len() == most)?;
        let line = |configuration: &'b Configuration| {
            let point = |(depth, row): (&u32, &Operation<'a>)| {
                let cell = self.group.cell(*row, configuration)?;
                let has_one_path = !cell.key.metric.is_counted() || cell.is_exact();
                has_one_path.then_some((*depth, cell.headline()?))
            };
            let depth = Depth {
                configuration,
                points: rows.iter().filter_map(point).collect(),
            };
            (depth.points.len() > 1).then_some(depth)
        };
        let lines: Vec<Depth<'b>> = self.group.configurations.iter().filter_map(line).collect();
        (!lines.is_empty()).then_some((*name, lines))
    }

    /// Costs of common operations, each with the hook that adds most, then the mean. The sentence
    /// has no full stop. None if nothing can be compared.
    pub(crate) fn sentence(&self, configuration: &'b Configuration) -> Option<String> {
        let group = self.group;
        let overheads = { group.rows.iter() }
            .filter_map(|row| Some((*row, self.overhead(*row, configuration)?)));
        let overheads: Vec<(Operation<'a>, Overhead)> = overheads.collect();
        if overheads.is_empty() {
            return None;
        }
        let known = || overheads.iter().filter(|(_, overhead)| overhead.is_known());
        let common = COMMON.iter();
        let common =
            common.filter_map(|name| known().find(|((benchmark, _), _)| benchmark == name));
        let chosen: Vec<_> = common.take(NAMED_LIMIT).collect();
        let named = |(row, overhead): &(Operation<'a>, Overhead)| {
            let hook = self.first_hook(*row, configuration);
            let hook = hook.map(|hook| format!(" ({})", short(hook)));
            let added = format::overhead(group.metric, overhead.value);
            let title = operation_title(*row);
            format!("{title} {added}{}", hook.unwrap_or_default())
        };
        let mut parts: Vec<String> = chosen.iter().map(|one| named(one)).collect();
        let most = known().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        let most = most.filter(|most| !chosen.contains(most));
        parts.extend(most.map(|most| format!("most: {}", named(most))));
        if parts.is_empty() {
            let rows = overheads.iter().map(|(row, _)| *row);
            let hooked = rows.filter_map(|row| self.in_hooks(row, configuration));
            parts.extend(hooked.take(NAMED_LIMIT + 1));
        }
        let mean = group.mean(&group.rows, configuration);
        if let Some((mean, n)) = mean.filter(|(_, n)| *n > 1) {
            let mean = format::percent(mean);
            parts.push(format!("geometric mean over {n} operations: {mean}"));
        }
        if parts.is_empty() {
            let all = overheads.len();
            parts.push(format!("all differences may be chance (n = {all})"));
        }
        let baseline = short(&group.heading(group.baseline.as_ref()?));
        let name = short(&group.heading(configuration));
        Some(format!("{name} over {baseline}: {}", parts.join("; ")))
    }

    /// How many operations have no known overhead under some stack, and why; without a full stop.
    pub(crate) fn unknown(&self) -> Option<String> {
        let overheads = |row: &Operation<'a>| {
            let tested = self.group.tested();
            let overheads = tested.filter_map(|configuration| self.overhead(*row, configuration));
            overheads.collect::<Vec<_>>()
        };
        let is_program = |row: &Operation<'a>| {
            let counted = self.group.baseline_cell(*row).and_then(Cell::counted);
            counted.is_some_and(|counted| counted.program.is_some())
        };
        let rows = { self.group.rows.iter() }
            .filter(|row| !is_program(row))
            .map(|row| (row, overheads(row)))
            .filter(|(_, overheads)| !overheads.is_empty());
        let rows: Vec<_> = rows.collect();
        let is_unknown = |(_, all): &&(_, Vec<Overhead>)| !all.iter().all(Overhead::is_known);
        let unknown = rows.iter().filter(is_unknown);
        let names: Vec<String> = unknown.map(|(row, _)| operation_title(**row)).collect();
        let why = match self.group.metric.is_counted() {
            true => "have no dominant code path under some stack",
            false => "have a difference that may be chance",
        };
        (!names.is_empty()).then(|| {
            format!(
                "~: {} of {} operations {why}: {}",
                names.len(),
                rows.len(),
                listed(&names, UNKNOWN_LIMIT, TEXT_LIMIT)
            )
        })
    }

    fn first_hook(&self, row: Operation<'a>, configuration: &Configuration) -> Option<&'a str> {
        let (base, tested) = self.pair(row, configuration)?;
        let added = added(base.hooks()?, tested.hooks()?).into_iter();
        let most = added.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        (most.1 > 0.0).then_some(most.0)
    }

    /// What hooks add to an operation or a program, which is exact even without a dominant path.
    fn in_hooks(&self, row: Operation<'a>, configuration: &Configuration) -> Option<String> {
        let (base, tested) = self.pair(row, configuration)?;
        let added = added(base.hooks()?, tested.hooks()?);
        let sum: f64 = added.iter().map(|(_, added)| added).sum();
        let (title, unit) = (operation_title(row), self.group.metric.unit());
        let text = format!("{title}: hooks add {} {unit}", format::figure(sum));
        if self.group.metric.is_of_transfers() {
            return Some(text);
        }
        let whole = base.headline().filter(|whole| *whole > 0.0)?;
        Some(format!("{text} ({})", format::percent(sum / whole)))
    }

    pub(crate) fn pair(
        &self,
        row: Operation<'a>,
        configuration: &Configuration,
    ) -> Option<(&'a Cell, &'a Cell)> {
        let (base, cell) = (
            self.group.baseline_cell(row)?,
            self.group.cell(row, configuration)?,
        );
        let is_ok = |cell: &Cell| cell.status() == Status::Ok;
        (is_ok(base) && is_ok(cell)).then_some((base, cell))
    }
}

pub(crate) fn added<'a>(without: &'a [HookCost], with: &'a [HookCost]) -> Vec<(&'a str, f64)> {
    let mut differences: BTreeMap<&str, f64> = BTreeMap::new();
    for (hooks, sign) in [(without, -1.0), (with, 1.0)] {
        for hook in hooks {
            *differences.entry(&hook.hook).or_default() += sign * hook.outermost as f64;
        }
    }
    differences.into_iter().collect()
}

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub fn depth_tables(run: &Document) -> Vec<Table> {
    let judgements = Judgements::new(run);
    let groups = groups(run);
    let glances = groups.iter().map(|group| Glance {
        group,
        judgements: &judgements,
    });
    glances
        .filter_map(|glance| depth_table(run, &glance))
        .collect()
}

pub(crate) fn depth_table(run: &Document, glance: &Glance<'_, '_>) -> Option<Table> {
    let group = glance.group;
    let (benchmark, lines) = glance.depths()?;
    let points = lines.iter().flat_map(|line| &line.points);
    let scale = points.fold(
        [f64::INFINITY, f64::NEG_INFINITY],
        |[least, most], (_, figure)| [least.min(*figure), most.max(*figure)],
    );
    let at = |end: Option<&(u32, f64)>| {
        end.map(|(_, figure)| Value::plain(format::figure(figure.round())))
    };
    let (name, measured) = (short(benchmark), format::measured(group.metric));
    let title = format!("Depth: {name}, {}: {measured}", group.place(run));
    let table = Columns::new()
        .left("stack", |line: &Depth<'_>| {
            group.heading(line.configuration)
        })
        .left("growth", move |line| Value::plain(sparkline(line, scale)))
        .right("shallow", move |line| at(line.points.first()))
        .right("deep", move |line| at(line.points.last()))
        .right("each component", |line| {
            Value::plain(format::figure((line.slope() * 10.0).round() / 10.0))
        })
        .table(title, &lines)
        .legend([
            "growth: the value at each depth of the path, on one scale for all stacks; each \
             component: cost of one more component.",
        ]);
    Some(table)
}

fn sparkline(line: &Depth<'_>, [least, most]: [f64; 2]) -> String {
    let block = |(_, figure): &(u32, f64)| {
        let part = (figure - least) / (most - least).max(f64::MIN_POSITIVE);
        let place = (part * (BLOCKS.len() - 1) as f64).round();
        BLOCKS[(place as usize).min(BLOCKS.len() - 1)]
    };
    line.points.iter().map(block).collect()
}
