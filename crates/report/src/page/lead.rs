// SPDX-License-Identifier: GPL-2.0-or-later
//! What the first screen of a page shows of a document that has no map: the one figure that answers
//! what the document was made for, and beside it the few rows that one asks for next.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};
use model::{Document, Kind, PlacementDocument, Slope};

use super::figure;
use super::rows::Rows;
use crate::figure::Figure;
use crate::format;
use crate::gather::{Content, Gathered};
use crate::group::{dearest_first, sum};
use crate::monitor::framework;
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// Most rows of bars that are drawn: what one sees at once.
const BARS_SHOWN: usize = 16;
/// Most rows beside the figure.
const ROWS_LIMIT: usize = 16;
/// Figures that lead, by what documents are of, the first that there is.
fn leading(content: &Content) -> &'static [&'static str] {
    match content {
        Content::Placement(_) => &["reach", "modules"],
        Content::Measured(document) => match document.kind {
            Kind::Profile => &["hook-shares"],
            Kind::Sensitivity => &["decisions-by-depth", "latency-over-delay"],
            Kind::Recording => &["time", "calls"],
            _ => &[],
        },
    }
}

/// Which of a document's figures leads it; None where none does.
pub(super) fn lead<'a>(
    content: &Content,
    figures: impl Iterator<Item = &'a Gathered> + Clone,
) -> Option<&'a Figure> {
    let named = |base: &&str| figures.clone().find(|of| of.base == *base);
    let found = leading(content).iter().find_map(named);
    found.map(|of| &of.figure)
}

/// The figure, and what stands beside it. `id` tells it from those of other documents.
pub(super) fn front(content: &Content, lead: &Figure, id: &str) -> Markup {
    html! {
        div.front {
            (figure::largest(lead, BARS_SHOWN))
            @if let Some(rows) = rows(content) { (rows.markup(id)) }
        }
    }
}

fn rows(content: &Content) -> Option<Rows> {
    let rows = match content {
        Content::Placement(document) => placed(document),
        Content::Measured(document) => match document.kind {
            Kind::Profile => profiled(document),
            Kind::Sensitivity => asked(document),
            Kind::Recording => recorded(document),
            _ => return None,
        },
    };
    (!rows.rows.is_empty()).then_some(rows)
}

/// The operations that ask for most decisions, and whether that is what was counted.
fn asked(document: &Document) -> Rows {
    let wholes = document.slopes().filter(|(_, delay, _)| delay.is_whole());
    let mut wholes: Vec<(String, &Slope)> = wholes
        .map(|(cell, _, slope)| (printable(&cell.title(), 36), slope))
        .collect();
    wholes.sort_by(|(_, one), (_, other)| other.slope.total_cmp(&one.slope));
    let rows = wholes.iter().take(ROWS_LIMIT).map(|(title, slope)| {
        let rounded = |value: f64| format::figure((value * 1e3).round() / 1e3);
        vec![
            title.clone(),
            rounded(slope.slope),
            slope.counted.map_or_else(|| "-".to_owned(), rounded),
            (slope.difference()).map_or_else(|| "-".to_owned(), apart),
        ]
    });
    Rows {
        title: "Who asks most",
        says: "decisions of an operation by its slope, and as they were counted.".to_owned(),
        columns: &["operation", "slope", "counted", "apart"],
        rows: rows.collect(),
        all: wholes.len(),
        left: 1,
    }
}

/// A distance of decisions; what rounds to nothing has no sign.
fn apart(distance: f64) -> String {
    match (distance * 1e4).round() == 0.0 {
        true => "0".to_owned(),
        false => format!("{distance:+.4}"),
    }
}

/// The hooks that take most, over all operations with one path.
fn profiled(document: &Document) -> Rows {
    let paths = || {
        let hooked = document.hooked();
        hooked.filter(|(_, counted, _)| counted.is_comparable())
    };
    let n = paths().count();
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for cost in paths().flat_map(|(.., path)| &path.hooks) {
        let (calls, instructions) = sums.entry(&cost.hook).or_default();
        *calls = calls.saturating_add(cost.calls);
        *instructions = instructions.saturating_add(cost.outermost);
    }
    let order = dearest_first(sums.iter().map(|(hook, (_, n))| (*hook, *n)));
    let whole = sum(sums.values().map(|(_, n)| *n));
    let row = |hook: &&str| {
        let (calls, instructions) = sums[*hook];
        Some(vec![
            printable(hook, TEXT_LIMIT),
            format::count(calls),
            format::count(instructions),
            format::share(instructions, whole)?,
        ])
    };
    Rows {
        title: "Hooks that take most",
        says: format!("over the {n} profiles of operations with one path."),
        columns: &["hook", "calls", "instructions", "of all hooks"],
        rows: order.iter().filter_map(row).take(ROWS_LIMIT).collect(),
        all: order.len(),
        left: 1,
    }
}

/// The hooks of a recording that are called most.
fn recorded(document: &Document) -> Rows {
    let total = document.all_intervals();
    let mut hooks: Vec<_> = framework(&total).collect();
    hooks.sort_by_key(|hook| Reverse(hook.calls.count));
    let rows = hooks.iter().take(ROWS_LIMIT).map(|hook| {
        let each = hook
            .calls
            .sum_ns
            .zip((hook.calls.count > 0).then_some(hook.calls.count));
        let each = each.map(|(ns, n)| (ns as f64 / n as f64).round());
        vec![
            printable(&hook.hook, TEXT_LIMIT),
            format::count(hook.calls.count),
            each.map_or_else(|| "-".to_owned(), format::figure),
        ]
    });
    Rows {
        title: "Hooks called most",
        says: "calls, and nanoseconds of each where times were taken.".to_owned(),
        columns: &["hook", "calls", "ns each"],
        rows: rows.collect(),
        all: hooks.len(),
        left: 1,
    }
}

/// The system calls of a placement that call most hooks on a long path.
fn placed(document: &PlacementDocument) -> Rows {
    let mut calls: Vec<(String, Option<u64>, Option<u64>)> = document
        .syscalls
        .iter()
        .map(|call| {
            let at = |depth| {
                let counts = call.hooks.iter().map(|hook| hook.nominal.at(depth, 0));
                counts.sum::<Option<u64>>()
            };
            let title = printable(
                &format!("{}, {}", call.title(), call.filesystem),
                TEXT_LIMIT,
            );
            (title, at(1), at(8))
        })
        .collect();
    calls.sort_by_key(|(.., long)| Reverse(long.unwrap_or(u64::MAX)));
    let bound = |of: Option<u64>| of.map_or_else(|| "no bound".to_owned(), format::count);
    let rows = calls
        .iter()
        .take(ROWS_LIMIT)
        .map(|(title, short, long)| vec![title.clone(), bound(*short), bound(*long)]);
    Rows {
        title: "What reaches most",
        says: "hook calls of a system call if all goes well, on a path of 1 and of 8 components."
            .to_owned(),
        columns: &["system call", "1 deep", "8 deep"],
        rows: rows.collect(),
        all: calls.len(),
        left: 1,
    }
}
