// SPDX-License-Identifier: GPL-2.0-or-later
//! Permission checks per operation, as tables.

mod findings;
pub(crate) mod numbers;
mod slopes;

use model::{ALL_HOOKS, Caches, Cell, Delay, DelayModule, Document, Slope, Unit};

use crate::cells::{Operation, operation, place, releases};
use crate::column::{Columns, Records};
use crate::group::{distinct, grouped, shared};
use crate::table::{Report, warnings};
use crate::text::printable;

const FEW_OPERATIONS: usize = 4;

/// Checks per operation, rules of depth, predictions, repeated checks. Tables without rows are left
/// out.
///
/// `by_hook`: rows for single hooks below those for all together; None: for at most 4 operations.
pub fn sensitivity_report(document: &Document, by_hook: Option<bool>) -> Report {
    let swept = swept(document);
    let by_hook = by_hook.unwrap_or_else(|| {
        let operations = distinct(swept.iter().map(Swept::operation));
        operations.len() <= FEW_OPERATIONS
    });
    let findings = document.findings();
    let mut tables = slopes::tables(&swept, by_hook);
    tables.extend(findings::rule_tables(findings, &swept, by_hook));
    tables.extend(findings::prediction_tables(findings));
    tables.extend(findings::repeated_tables(findings));
    Report {
        tables,
        warnings: warnings(&document.warnings),
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Swept<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) delay: &'a Delay,
    pub(crate) slope: Option<&'a Slope>,
    /// Unit of its costs; without values the unit of other slopes in the result file.
    pub(crate) unit: Unit,
}

pub(crate) fn swept(document: &Document) -> Vec<Swept<'_>> {
    let unit = document.slopes().next();
    let unit = unit.map_or(Unit::Instructions, |(.., slope)| slope.unit);
    let swept = |cell| {
        let slope = Cell::slope(cell);
        Some(Swept {
            cell,
            delay: cell.key.delay.as_ref()?,
            slope,
            unit: slope.map_or(unit, |slope| slope.unit),
        })
    };
    document.cells.iter().filter_map(swept).collect()
}

pub(crate) type Place<'a> = (&'a str, DelayModule, Caches, &'a str, Unit);

impl<'a> Swept<'a> {
    pub(crate) fn operation(&self) -> Operation<'a> {
        operation(self.cell)
    }

    pub(crate) fn place(&self) -> Place<'a> {
        let (key, delay) = (&self.cell.key, self.delay);
        (
            &key.kernel,
            delay.module,
            delay.caches,
            &key.filesystem,
            self.unit,
        )
    }

    pub(crate) fn hooks(&self) -> &'a [String] {
        &self.delay.hooks
    }
}

/// One operation's slopes: over hooks together, and over each hook alone.
pub(crate) struct Parted<'a> {
    pub(crate) wholes: Vec<&'a Swept<'a>>,
    pub(crate) parts: Vec<&'a Swept<'a>>,
}

impl<'a> Parted<'a> {
    /// Where only one hook is delayed, its slope is the whole.
    pub(crate) fn of(slopes: &[&'a Swept<'a>]) -> Parted<'a> {
        let (wholes, parts): (Vec<&Swept<'_>>, Vec<&Swept<'_>>) =
            slopes.iter().partition(|swept| swept.delay.is_whole());
        if wholes.is_empty() && shared(parts.iter().map(|part| part.hooks())).is_some() {
            return Parted {
                wholes: vec![parts[0]],
                parts: Vec::new(),
            };
        }
        Parted { wholes, parts }
    }
}

pub(crate) fn operations<'a>(slopes: &[&'a Swept<'a>]) -> Vec<(Operation<'a>, Parted<'a>)> {
    grouped(slopes.iter().copied(), Swept::operation)
        .into_iter()
        .map(|(operation, of)| (operation, Parted::of(&of)))
        .collect()
}

/// `all hooks`, or their names.
fn hooks_title(hooks: &[String]) -> String {
    match hooks {
        [hook] if hook == ALL_HOOKS => "all hooks".to_owned(),
        [] => "no hook".to_owned(),
        hooks => {
            let (named, more) = hooks.split_at(hooks.len().min(20));
            let named = printable(&named.join(", "), 200);
            match more.len() {
                0 => named,
                more => format!("{named} and {more} more"),
            }
        }
    }
}

/// `debian:6.1 (6.1.0-56-cloud-amd64), tmpfs, bpf, warm caches`.
pub(crate) fn where_swept(slopes: &[&Swept<'_>]) -> String {
    let Some(Swept { cell, delay, .. }) = slopes.first() else {
        return String::new();
    };
    let releases = releases(slopes.iter().map(|swept| swept.cell)).join(", ");
    let place = place(&cell.key.kernel, &releases, &cell.key.filesystem);
    format!("{place}, {}, {} caches", delay.module, delay.caches)
}

pub fn sensitivity_records(document: &Document) -> Records<'_> {
    Columns::new()
        .column("kernel", |of: Swept<'_>| &of.cell.key.kernel)
        .column("release", |of| &of.cell.release)
        .column("module", |of| of.delay.module.to_string())
        .column("stack", |of| of.cell.key.stack.join(","))
        .column("filesystem", |of| &of.cell.key.filesystem)
        .column("caches", |of| of.delay.caches.to_string())
        .column("hooks", |of| of.hooks().join(","))
        .column("benchmark", |of| of.cell.key.benchmark())
        .column("variant", |of| of.cell.key.variant())
        .column("syscalls", |of| of.cell.syscalls.join(","))
        .column("status", |of| of.cell.status().to_string())
        .column("checks_per_operation", |of| Some(of.slope?.slope))
        .column("ci95_low", |of| Some(of.slope?.ci95[0]))
        .column("ci95_high", |of| Some(of.slope?.ci95[1]))
        .column("intercept", |of| Some(of.slope?.intercept))
        .column("unit", |of| of.unit.to_string())
        .column("r2", |of| of.slope?.r2)
        .column("bend", |of| of.slope?.bend)
        .column("residual", |of| Some(of.slope?.residual))
        .column("n", |of| Some(of.slope?.n))
        .column("dirty", |of| Some(of.slope?.dirty))
        .column("delays", |of| Some(of.slope?.points.len()))
        .column("longest_delay_ns", |of| {
            let points = of.slope?.points.iter();
            points.map(|point| point.delay_ns).max()
        })
        .column("counted", |of| of.slope?.counted)
        .column("difference", |of| of.slope?.difference())
        .column("explanation", |of| of.slope?.explanation.as_ref())
        .column("reason", |of| of.cell.reason())
        .column("part", |of| of.delay.part)
        .column("others", |of| Some(of.slope?.others))
        .records(swept(document))
}
