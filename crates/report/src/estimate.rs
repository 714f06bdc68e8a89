// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts converted to nanoseconds, the weights used, and their errors.

use std::collections::HashMap;

use model::estimate::{EstimatedCell, EstimatedHook, LeftOutStack, Nanoseconds, Weight};
use model::{EstimateDocument, Integrity, Policy, Settings, Subject};

use crate::column::{Columns, Records};
use crate::format;
use crate::group::{distinct, grouped};
use crate::profile::full_name;
use crate::table::{Report, TEXT_LIMIT, Table, Value, warnings};
use crate::text::{printable, short};

const FEW_OPERATIONS: usize = 4;

pub fn estimate_report(document: &EstimateDocument) -> Report {
    let places = grouped(&document.cells, |cell| {
        (&cell.key.kernel, &cell.key.filesystem)
    });
    let places = places.iter();
    let added =
        places.map(|((kernel, filesystem), cells)| added(document, kernel, filesystem, cells));
    let (outside, hooks) = (outside(document), hooks(document));
    let more = [outside, hooks, Some(weights(document)), left_out(document)];
    Report::new(added.map(Some).chain(more), warnings(&document.warnings))
}

fn added(
    document: &EstimateDocument,
    kernel: &str,
    filesystem: &str,
    cells: &[&EstimatedCell],
) -> Table {
    let configurations = distinct(cells.iter().map(|cell| configured(cell)));
    let timed = cells.iter().any(|cell| cell.measured.is_some());
    let rows = cells
        .iter()
        .map(|cell| ((&cell.key.subject, configured(cell)), *cell));
    let by_row: &HashMap<(&Subject, Configured<'_>), &EstimatedCell> = &rows.collect();
    let operations = distinct(cells.iter().map(|cell| &cell.key.subject));
    let mut columns = Columns::new().left("operation", |operation: &Subject| operation.title());
    for configured in configurations {
        let name = printable(&title(configured), 2 * TEXT_LIMIT);
        let find = move |operation| by_row.get(&(operation, configured)).copied();
        columns = columns
            .grouped(Some(&name), "instructions", move |operation| {
                find(operation).map(|cell| Value::difference(cell.instructions))
            })
            .grouped(Some(&name), "ns [95 %]", move |operation| {
                find(operation).map(estimated)
            })
            .only_if(timed, |columns| {
                columns.grouped(Some(&name), "measured", move |operation| {
                    Some(signed(find(operation)?.measured?.ns))
                })
            });
    }
    let baseline = cells.first().map(|cell| full_name(&cell.baseline));
    let error = &document.weights.error;
    let title = format!(
        "{}, {}: nanoseconds that stacks add to {}, estimated for {}",
        short(kernel),
        short(filesystem),
        baseline.unwrap_or_default(),
        short(&document.weights.processor),
    );
    let of_instructions = error.median_points_of_instructions.map(|points| {
        format!(
            "The median distance between overheads in instructions and in ns is {points:.2} \
             percentage points."
        )
    });
    let table = columns.table(title, operations).legend([
        format!(
            "ns: weighted counts, see below; the interval covers 95 % of the errors against \
             measurements. For benchmarks left out of the fit: rank correlation of {} \
             {:.3} (instructions alone: {:.3}), median error {:.1} ns or {:.2} percentage points.",
            match document.weights.differences {
                0 => "whole operations",
                _ => "overheads",
            },
            error.rank_correlation,
            error.rank_correlation_of_instructions,
            error.median_ns,
            error.median_points
        ),
        match document.weights.differences {
            0 => "Cost in the timed kernel, minus that of getppid: docs/estimate.md.",
            _ => "Cost in the kernel, without entry and exit, on one processor: docs/estimate.md.",
        }
        .to_owned(),
    ]);
    table.legend(of_instructions)
}

type Configured<'a> = (&'a [String], &'a [Integrity], Policy, &'a Settings);

fn configured(cell: &EstimatedCell) -> Configured<'_> {
    let key = &cell.key;
    (&key.stack, &key.integrity, key.policy, &key.settings)
}

fn title((stack, integrity, policy, settings): Configured<'_>) -> String {
    model::configuration_title(&full_name(stack), integrity, policy, settings)
}

fn signed(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "+" };
    format!("{sign}{}", tenths(ns.abs()))
}

fn tenths(ns: f64) -> String {
    match ns < 100.0 {
        true => format!("{ns:.1}"),
        false => format::count(ns.round() as u64),
    }
}

fn range(nanoseconds: Nanoseconds) -> String {
    let [low, high] = nanoseconds.ci95.map(signed);
    format!("{} [{low}, {high}]", signed(nanoseconds.ns))
}

fn estimated(cell: &EstimatedCell) -> Value {
    match cell.estimate {
        Some(estimate) => Value::plain(range(estimate)),
        None => Value::dash().noted(cell.refused.as_deref().map(|why| printable(why, 200))),
    }
}

fn outside(document: &EstimateDocument) -> Option<Table> {
    let distance = |cell: &EstimatedCell| cell.estimate?.gap(&cell.measured?);
    let cells = document.cells.iter();
    let off = cells
        .clone()
        .filter_map(|cell| Some((distance(cell)?, cell)));
    let mut off: Vec<(f64, &EstimatedCell)> = off.collect();
    off.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let compared = cells.filter(|cell| cell.estimate.is_some() && cell.measured.is_some());
    let (n, all) = (off.len(), compared.count());
    let title = format!("Estimates that measurements contradict: {n} of {all}");
    cell_columns()
        .right("instructions", |cell| Value::difference(cell.instructions))
        .right("ns [95 %]", estimated)
        .right("measured [95 %]", |cell| cell.measured.map(range))
        .table(title, off.into_iter().map(|(_, cell)| cell))
        .fixed(2)
        .legend(["Disjoint intervals, the furthest apart first."])
        .if_any()
}

fn cell_columns<'a>() -> Columns<'a, &'a EstimatedCell> {
    Columns::new()
        .left("operation", |cell: &EstimatedCell| cell.key.subject.title())
        .left("stack", |cell| {
            printable(&title(configured(cell)), 2 * TEXT_LIMIT)
        })
}

type HookLine<'a> = (&'a EstimatedCell, &'a EstimatedHook);

fn hooks(document: &EstimateDocument) -> Option<Table> {
    let cells = document.cells.iter();
    let operations = distinct(cells.clone().map(|cell| &cell.key.subject));
    if operations.len() > FEW_OPERATIONS {
        return None;
    }
    let lines = cells.flat_map(|cell| cell.hooks.iter().map(move |hook| (cell, hook)));
    let lines: Vec<HookLine<'_>> = lines.collect();
    Columns::new()
        .all(cell_columns(), |(cell, _): &HookLine<'_>| *cell)
        .left("hook", |(_, hook)| &hook.hook)
        .right("instructions", |(_, hook)| {
            Value::difference(hook.instructions)
        })
        .right("ns [95 %]", |(_, hook)| range(hook.estimate))
        .table("Cost in hooks", &lines)
        .legend(["With everything that they call: nested hooks also count in the outer ones."])
        .if_any()
}

fn weights(document: &EstimateDocument) -> Table {
    let weights = &document.weights;
    let [timed, counted] = &weights.releases;
    Columns::new()
        .left("event", |weight: &Weight| {
            printable(&weight.event.replace('_', " "), 40)
        })
        .right("ns", |weight| format!("{:.4}", weight.ns))
        .right("95 % interval", |weight| {
            let [low, high] = weight.ci95;
            format!("{low:.4} to {high:.4}")
        })
        .right("at most", |weight| weight.most)
        .table("Weights", &weights.terms)
        .legend([
            format!(
                "Fitted to {} differences between stacks and to {} whole operations of the \
                 baseline: times from {}, counts from {}.",
                weights.differences,
                weights.operations,
                short(timed),
                short(counted)
            ),
            "at most: largest number in one fitted operation. Operations with more than twice \
             as many are not estimated."
                .to_owned(),
        ])
}

fn left_out(document: &EstimateDocument) -> Option<Table> {
    Columns::new()
        .left("stack", |stack: &LeftOutStack| full_name(&stack.stack))
        .right("operations", |stack| u64::from(stack.operations))
        .right("ns per instruction", |stack| {
            format!("{:.3}", stack.ns_per_instruction)
        })
        .right("measured / estimated", |stack| {
            format!("{:.2}", stack.ratio)
        })
        .right("rank correlation", |stack| {
            stack.rank_correlation.map(|rank| format!("{rank:.3}"))
        })
        .table(
            "Each stack, estimated with weights fitted without it",
            &document.weights.left_out,
        )
        .legend([
            "Medians over operations to which the stack adds at least 20 instructions. ns per \
             instruction: as measured; it would be the same for all stacks if only the number of \
             instructions mattered.",
        ])
        .legend(document.weights.left_out_rank_correlation.map(|rank| {
            format!("Rank correlation of the overheads of all stacks together: {rank:.3}.")
        }))
        .if_any()
}

#[derive(Clone, Copy)]
struct Line<'a> {
    cell: &'a EstimatedCell,
    hook: Option<&'a EstimatedHook>,
}

impl Line<'_> {
    fn estimate(self) -> Option<Nanoseconds> {
        self.hook
            .map_or(self.cell.estimate, |hook| Some(hook.estimate))
    }

    fn measured(self) -> Option<Nanoseconds> {
        self.cell.measured.filter(|_| self.hook.is_none())
    }
}

/// A row per operation and stack, followed by one per hook that differs. Columns: `docs/export.md`.
pub fn estimate_records(document: &EstimateDocument) -> Records<'_> {
    let rows = document.cells.iter().flat_map(|cell| {
        let hooks = [None].into_iter().chain(cell.hooks.iter().map(Some));
        hooks.map(move |hook| Line { cell, hook })
    });
    Columns::new()
        .column("kernel", |line: Line<'_>| &line.cell.key.kernel)
        .column("stack", |line| line.cell.key.stack.join(","))
        .column("baseline", |line| line.cell.baseline.join(","))
        .column("filesystem", |line| &line.cell.key.filesystem)
        .column("benchmark", |line| line.cell.key.benchmark())
        .column("variant", |line| line.cell.key.variant())
        .column("hook", |line| line.hook.map(|hook| &hook.hook))
        .column("instructions", |line| {
            line.hook
                .map_or(line.cell.instructions, |hook| hook.instructions)
        })
        .column("ns", |line| line.estimate().map(|estimate| estimate.ns))
        .column("ns_low", |line| Some(line.estimate()?.ci95[0]))
        .column("ns_high", |line| Some(line.estimate()?.ci95[1]))
        .column("measured_ns", |line| Some(line.measured()?.ns))
        .column("measured_low", |line| Some(line.measured()?.ci95[0]))
        .column("measured_high", |line| Some(line.measured()?.ci95[1]))
        .column("refused", |line| {
            let refused = line.cell.refused.as_ref();
            refused.filter(|_| line.hook.is_none())
        })
        .records(rows)
}
