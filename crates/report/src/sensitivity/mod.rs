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

/// Checks per operation, rules of depth, predictions, repeated checks; no empty tables.
///
/// `by_hook`: show rows for single hooks too; None shows them for at most 4 operations.
pub fn sensitivity_report(document: &Document, by_hook: Option<bool>) -> Report {
    let swept = swept(document);
    let by_hook = by_hook.unwrap_or_else(|| {
        let operations = distinct(swept.iter().map(Swept::operation));
        operations.len() <= FEW_OPERATIONS
    });
    let findings = document.findings();
    let tables = [
        slopes::tables(&swept, by_hook),
        findings::rule_tables(findings, &swept, by_hook),
        findings::prediction_tables(findings),
        findings::repeated_tables(findings),
    ];
    Report::new(tables, warnings(&document.warnings))
}

#[derive(Clone, Copy)]
pub(crate) struct Swept<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) delay: &'a Delay,
    pub(crate) slope: Option<&'a Slope>,
    /// Unit of its costs or, if it has no values, the unit of other slopes in the result file.
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
        let (key, Delay { module, caches, .. }) = (&self.cell.key, self.delay);
        (&key.kernel, *module, *caches, &key.filesystem, self.unit)
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
    /// If only one hook is delayed, its slope is the total.
    pub(crate) fn new(slopes: &[&'a Swept<'a>]) -> Parted<'a> {
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
        .map(|(operation, slopes)| (operation, Parted::new(&slopes)))
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
        .column("kernel", |swept: Swept<'_>| &swept.cell.key.kernel)
        .column("release", |swept| &swept.cell.release)
        .column("module", |swept| swept.delay.module.to_string())
        .column("stack", |swept| swept.cell.key.stack.join(","))
        .column("filesystem", |swept| &swept.cell.key.filesystem)
        .column("caches", |swept| swept.delay.caches.to_string())
        .column("hooks", |swept| swept.hooks().join(","))
        .column("benchmark", |swept| swept.cell.key.benchmark())
        .column("variant", |swept| swept.cell.key.variant())
        .column("syscalls", |swept| swept.cell.syscalls.join(","))
        .column("status", |swept| swept.cell.status().to_string())
        .column("checks_per_operation", |swept| Some(swept.slope?.slope))
        .column("ci95_low", |swept| Some(swept.slope?.ci95[0]))
        .column("ci95_high", |swept| Some(swept.slope?.ci95[1]))
        .column("intercept", |swept| Some(swept.slope?.intercept))
        .column("unit", |swept| swept.unit.to_string())
        .column("r2", |swept| swept.slope?.r2)
        .column("bend", |swept| swept.slope?.bend)
        .column("residual", |swept| Some(swept.slope?.residual))
        .column("n", |swept| Some(swept.slope?.n))
        .column("dirty", |swept| Some(swept.slope?.dirty))
        .column("delays", |swept| Some(swept.slope?.points.len()))
        .column("longest_delay_ns", |swept| {
            let points = swept.slope?.points.iter();
            points.map(|point| point.delay_ns).max()
        })
        .column("counted", |swept| swept.slope?.counted)
        .column("difference", |swept| swept.slope?.difference())
        .column("explanation", |swept| swept.slope?.explanation.as_ref())
        .column("reason", |swept| swept.cell.reason())
        .column("part", |swept| swept.delay.part)
        .column("others", |swept| Some(swept.slope?.others))
        .records(swept(document))
}
