// SPDX-License-Identifier: GPL-2.0-or-later
//! Summary of a run: what each configuration costs, on which operation most, and which hook
//! accounts for it. Operations without a dominant path never come first.

use std::collections::BTreeMap;

use compare::judge::Judgements;
use model::{Cell, Document, HookCost, Status, path_depth};

use crate::cells::{Configuration, Group, Operation, groups, operation_title};
use crate::column::Columns;
use crate::format;
use crate::group::grouped;
use crate::table::{Table, Value};
use crate::text::short;

pub(crate) struct Glance<'a, 'b> {
    pub(crate) group: &'b Group<'a>,
    pub(crate) judgements: &'b Judgements<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overhead {
    pub(crate) value: f64,
    pub(crate) is_shown: bool,
    /// The operation has a dominant path, or the metric is time.
    is_exact: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookShare<'a> {
    pub(crate) configuration: &'a Configuration,
    pub(crate) hook: &'a str,
    /// Fraction of an operation's cost in the baseline: the mean of all operations.
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
        Some(Overhead {
            value: judged.overhead?,
            is_shown: judged.is_clear(),
            is_exact: !base.key.metric.is_counted() || (base.is_exact() && tested.is_exact()),
        })
    }

    pub(crate) fn classes(&self) -> Vec<(&'a str, Vec<Operation<'a>>)> {
        let class = |row: &Operation<'a>| {
            let mut cells = self.group.configurations.iter();
            let class = cells.find_map(|of| Some(self.group.cell(*row, of)?.class.as_str()));
            class.unwrap_or("")
        };
        let classes = grouped(&self.group.rows, class).into_iter();
        let copied = |rows: Vec<&Operation<'a>>| rows.into_iter().copied().collect();
        classes.map(|(class, rows)| (class, copied(rows))).collect()
    }

    /// The most first; empty for a run without hooks.
    pub(crate) fn hooks(&self) -> Vec<HookShare<'b>>
    where
        'a: 'b,
    {
        let tested = self.group.tested();
        let mut all: Vec<HookShare<'b>> = tested.flat_map(|of| self.hooks_under(of)).collect();
        all.sort_by(|one, other| other.adds.total_cmp(&one.adds));
        all
    }

    fn hooks_under(&self, configuration: &'b Configuration) -> Vec<HookShare<'b>>
    where
        'a: 'b,
    {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        let mut n = 0;
        let hooks = |row: &Operation<'a>| {
            let (base, tested) = self.pair(*row, configuration)?;
            let has_one_path = base.is_exact() && tested.is_exact();
            let whole = base
                .headline()
                .filter(|whole| has_one_path && *whole > 0.0)?;
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

    /// The operation with the most depths, a line per configuration; None unless an operation has
    /// two depths.
    pub(crate) fn depths(&self) -> Option<(&'a str, Vec<Depth<'b>>)>
    where
        'a: 'b,
    {
        let deep = |row: &&Operation<'_>| path_depth(row.1).is_some();
        let rows = self.group.rows.iter().filter(deep);
        let deep = grouped(rows, |row| row.0).into_iter().map(|(name, rows)| {
            // Of equal depths the first.
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
            let points: Vec<(u32, f64)> = rows.iter().filter_map(point).collect();
            (points.len() > 1).then_some(Depth {
                configuration,
                points,
            })
        };
        let lines: Vec<Depth<'b>> = self.group.configurations.iter().filter_map(line).collect();
        (!lines.is_empty()).then_some((*name, lines))
    }

    /// Without its full stop; None if nothing can be compared.
    pub(crate) fn sentence(&self, configuration: &'b Configuration) -> Option<String>
    where
        'a: 'b,
    {
        let group = self.group;
        let all = || {
            (group.rows.iter()).filter_map(|row| Some((*row, self.overhead(*row, configuration)?)))
        };
        let baseline = short(&group.heading(group.baseline.as_ref()?));
        let name = short(&group.heading(configuration));
        let mut sentence = match group.mean(&group.rows, configuration) {
            Some((mean, n)) => format!(
                "{name} costs {} over {baseline} in {} (geometric mean of {n} operation{})",
                format::percent(mean),
                group.metric,
                if n == 1 { "" } else { "s" },
            ),
            None if all().next().is_none() => return None,
            None => format!("{name} over {baseline} in {}", group.metric),
        };
        let shown = all().filter(|(_, overhead)| overhead.is_shown && overhead.is_exact);
        let most = shown.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        if let Some((row, most)) = most {
            let (title, most) = (operation_title(row), format::percent(most.value));
            sentence += &format!("; most on {title}, {most}");
        }
        let hooks = self.hooks_under(configuration);
        let adds: f64 = hooks.iter().map(|hook| hook.adds.max(0.0)).sum();
        let by_adds =
            |one: &&HookShare<'_>, other: &&HookShare<'_>| one.adds.total_cmp(&other.adds);
        let first = hooks.iter().max_by(by_adds);
        if let Some(first) = first.filter(|first| first.adds > 0.0) {
            let (hook, part) = (short(first.hook), format::fraction(first.adds / adds));
            sentence += &format!("; {hook} holds {part} of what its hooks add");
        }
        Some(format!("{sentence}; {}", self.certainty(configuration)))
    }

    fn certainty(&self, configuration: &Configuration) -> String {
        let overheads = self.group.rows.iter();
        let overheads = overheads.filter_map(|row| self.overhead(*row, configuration));
        let all = overheads.clone().count();
        let others = overheads.filter(|of| !(of.is_shown && of.is_exact)).count();
        match (self.group.metric.is_counted(), others) {
            (true, 0) => "counted exactly".to_owned(),
            (true, _) => {
                format!("counted exactly, but {others} of {all}, which have no dominant path")
            }
            (false, 0) if all == 1 => "clear of chance".to_owned(),
            (false, _) if all == 1 => "it may be chance".to_owned(),
            (false, 0) => format!("all {all} are clear of chance"),
            (false, _) => format!("{others} of {all} may be chance"),
        }
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
    let judgements = Judgements::of(run);
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
    let at = |end: Option<&(u32, f64)>| end.map(|of| Value::plain(format::figure(of.1.round())));
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
        .table(
            format!(
                "Depth: {}, {}: {}",
                short(benchmark),
                group.place(run),
                format::measured(group.metric)
            ),
            &lines,
        )
        .legend([
            "growth: the figure at each depth of the path, on one scale for all stacks; each \
             component: what one more adds.",
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
