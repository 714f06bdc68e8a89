// SPDX-License-Identifier: GPL-2.0-or-later
//! One kernel on several architectures in one run: overheads, hook calls, and cost of a call.

mod dispatch;
mod hooks;

use std::collections::BTreeSet;

use compare::judge::{GETPPID, Judgements};
use model::{Architecture, Document};
use stats::{Direction, rank_correlation};

use crate::cells::{Configuration, Group, Operation, cost, instructions, operation_title};
use crate::column::Columns;
use crate::format;
use crate::group::{distinct, grouped};
use crate::run::overhead;
use crate::table::{Table, Value};
use crate::text::short;

#[derive(Clone, Copy)]
struct Side<'a, 'g> {
    architecture: Architecture,
    group: &'g Group<'a>,
}

struct Kernel<'a, 'g> {
    name: String,
    sides: Vec<Side<'a, 'g>>,
}

pub(crate) fn architectures<'a>(
    run: &Document,
    groups: &[Group<'a>],
    judgements: &Judgements<'a>,
) -> Vec<Table> {
    let kernels = kernels(groups);
    if kernels.is_empty() {
        return Vec::new();
    }
    let overall: Vec<Stack<'_, '_, '_>> = kernels.iter().flat_map(stacks).collect();
    let tables = [
        summary(&overall),
        hooks::differences(&kernels),
        dispatch::by_modules(&kernels),
    ];
    let single = kernels
        .iter()
        .map(|kernel| side_by_side(run, kernel, judgements));
    tables.into_iter().flatten().chain(single).collect()
}

fn kernels<'a, 'g>(groups: &'g [Group<'a>]) -> Vec<Kernel<'a, 'g>> {
    // Tables whose columns are kernels already compare them.
    let counted = |group: &&Group<'_>| !group.of_kernels && group.metric.is_counted();
    let sides = groups.iter().filter(counted).filter_map(|group| {
        let architecture = group.cells().next()?.key.architecture;
        Some(Side {
            architecture,
            group,
        })
    });
    let sides: Vec<Side<'a, 'g>> = sides.collect();
    let alike = grouped(&sides, |side| {
        let group = side.group;
        let name = group
            .subject
            .strip_suffix(&format!("/{}", side.architecture));
        let name = name.unwrap_or(&group.subject).to_owned();
        (name, group.filesystem, group.metric)
    });
    let kernels = alike.into_iter().map(|((name, ..), sides)| Kernel {
        name,
        sides: sides.into_iter().copied().collect(),
    });
    let mut kernels: Vec<Kernel<'a, 'g>> = kernels.collect();
    kernels.retain(|kernel| {
        let distinct: BTreeSet<_> = kernel.sides.iter().map(|side| side.architecture).collect();
        distinct.len() > 1 && distinct.len() == kernel.sides.len()
    });
    kernels
}

impl<'g> Kernel<'_, 'g> {
    fn tested(&self) -> impl Iterator<Item = &'g Configuration> {
        self.sides[0].group.tested()
    }
}

struct Stack<'a, 'g, 'k> {
    kernel: &'k Kernel<'a, 'g>,
    configuration: &'g Configuration,
    overheads: Vec<Vec<f64>>,
    rows: Vec<Operation<'a>>,
}

fn stacks<'a, 'g, 'k>(kernel: &'k Kernel<'a, 'g>) -> Vec<Stack<'a, 'g, 'k>> {
    let stack = |configuration: &'g Configuration| {
        let mut stack = Stack {
            kernel,
            configuration,
            overheads: vec![Vec::new(); kernel.sides.len()],
            rows: Vec::new(),
        };
        let rows = kernel.sides[0].group.rows.iter();
        for &row in rows.filter(|row| row.0 != GETPPID) {
            let overheads = kernel.sides.iter().map(|side| {
                let group = side.group;
                let (cell, base) = (group.cell(row, configuration)?, group.baseline_cell(row)?);
                instructions(cell).and(instructions(base))?;
                Some(cost(cell, base)?.0)
            });
            if let Some(overheads) = overheads.collect::<Option<Vec<f64>>>() {
                for (all, overhead) in stack.overheads.iter_mut().zip(overheads) {
                    all.push(overhead);
                }
                stack.rows.push(row);
            }
        }
        stack
    };
    kernel.tested().map(stack).collect()
}

impl Stack<'_, '_, '_> {
    fn mean(&self, side: usize) -> Value {
        let ratios = self.overheads[side].iter().map(|overhead| 1.0 + overhead);
        let mean = Direction::LowerIsBetter.mean_overhead(ratios);
        mean.map_or_else(Value::dash, |(mean, _)| Value::plain(format::percent(mean)))
    }

    fn correlation(&self) -> Value {
        let rank = rank_correlation(&self.pairs().collect::<Vec<_>>());
        rank.map_or_else(Value::dash, |rank| Value::plain(format!("{rank:.3}")))
    }

    fn pairs(&self) -> impl Iterator<Item = (f64, f64)> {
        let last = &self.overheads[self.overheads.len() - 1];
        self.overheads[0].iter().copied().zip(last.iter().copied())
    }

    /// The differences of overheads between the first architecture and the last, in points.
    fn points(&self) -> Vec<(f64, usize)> {
        let points = self.pairs().enumerate();
        points.map(|(at, (a, b))| (100.0 * (b - a), at)).collect()
    }

    fn median_points(&self) -> Value {
        let points = self.points().into_iter();
        let points: Vec<f64> = points.map(|(points, _)| points.abs()).collect();
        match points.is_empty() {
            true => Value::dash(),
            false => Value::plain(format!("{:.1}", stats::median(points))),
        }
    }

    fn furthest(&self) -> String {
        let points = self.points().into_iter();
        let furthest = points.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        furthest.map_or_else(String::new, |(points, at)| {
            format!("{} {points:+.1}", operation_title(self.rows[at]))
        })
    }
}

fn summary(stacks: &[Stack<'_, '_, '_>]) -> Option<Table> {
    let sides = stacks.iter().flat_map(|stack| &stack.kernel.sides);
    let sides = distinct(sides.map(|side| side.architecture));
    let mut columns = Columns::new()
        .left("kernel", |stack: &Stack<'_, '_, '_>| &stack.kernel.name)
        .left("stack", |stack| {
            let baseline = stack.kernel.sides[0].group.baseline.as_ref();
            short(&stack.configuration.short_title(baseline))
        })
        .column("operations", |stack| stack.rows.len());
    for architecture in sides {
        columns = columns.right(
            architecture.to_string(),
            move |stack: &Stack<'_, '_, '_>| {
                let mut sides = stack.kernel.sides.iter();
                let at = sides.position(|side| side.architecture == architecture);
                at.map_or_else(Value::dash, |at| stack.mean(at))
            },
        );
    }
    columns
        .right("rank correlation", Stack::correlation)
        .right("median points apart", Stack::median_points)
        .left("furthest apart, points", Stack::furthest)
        .table("What modules add on each architecture", stacks)
        .fixed(2)
        .legend([
            "Architectures: geometric mean of the overheads of operations with a dominant path in \
             all measurements, without getppid. Other columns: overheads of single operations on \
             the first architecture compared with those on the last (points: percentage points).",
        ])
        .if_any()
}

fn side_by_side<'a>(run: &Document, kernel: &Kernel<'a, '_>, judgements: &Judgements<'a>) -> Table {
    let mut columns = Columns::new().left("benchmark", operation_title);
    for side in &kernel.sides {
        let group = side.group;
        columns = columns.right(side.architecture.to_string(), move |row: Operation<'a>| {
            let cell = group.baseline_cell(row);
            cell.and_then(format::headline)
                .map_or_else(Value::dash, Value::plain)
        });
    }
    for configuration in kernel.tested() {
        for side in &kernel.sides {
            let group = side.group;
            let title = short(&configuration.short_title(group.baseline.as_ref()));
            let added = move |row: Operation<'a>| {
                let cells = group.cell(row, configuration).zip(group.baseline_cell(row));
                let added = cells.and_then(|(cell, base)| overhead(cell, base, judgements));
                added.unwrap_or_else(Value::dash)
            };
            columns = columns.grouped(Some(&title), side.architecture.to_string(), added);
        }
    }
    let (name, first) = (short(&kernel.name), kernel.sides[0].group);
    let title = format!("{name} on each architecture: {}", first.place(run));
    columns.table(title, first.rows.iter().copied()).legend([
        "Guest kernel instructions of the dominant path under the baseline, then what each \
             stack adds on each architecture. ~: the difference may be chance, see `lsmeter \
             compare`.",
    ])
}
