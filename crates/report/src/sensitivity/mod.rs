// SPDX-License-Identifier: GPL-2.0-or-later
//! How often operations ask for authorisation, as tables.

pub(crate) mod beside;
pub(crate) mod numbers;
mod predictions;
mod records;
mod repeated;
mod rules;
mod slopes;

use std::collections::HashSet;

use experiment::{ALL_HOOKS, Caches, Cell, Delay, DelayModule, Document, Slope, Unit};

use crate::group::grouped;
use crate::table::{Report, TEXT_LIMIT, warnings};
use crate::text::printable;

pub use records::sensitivity_records;

/// Most operations that are shown hook by hook unless asked for.
const FEW_OPERATIONS: usize = 4;

/// What a report of a sweep shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SensitivityOptions {
    /// Rows for single hooks below those for all hooks together; None: if there are at
    /// most 4 operations.
    pub by_hook: Option<bool>,
}

/// All tables of a sweep: slopes, the paper's Table 6 beside ours, rules of depth,
/// predictions, questions asked more than once. A table without rows is left out.
pub fn sensitivity_report(document: &Document, options: &SensitivityOptions) -> Report {
    let swept = swept(document);
    let by_hook = options.by_hook.unwrap_or_else(|| {
        let operations: HashSet<_> = swept.iter().map(Swept::operation).collect();
        operations.len() <= FEW_OPERATIONS
    });
    let findings = document.findings();
    let mut tables = slopes::tables(&swept, document.environment.clock, by_hook);
    tables.extend(beside::table(&swept));
    tables.extend(rules::tables(findings, &swept, by_hook));
    tables.extend(predictions::tables(findings));
    tables.extend(repeated::tables(findings));
    Report {
        tables,
        warnings: warnings(&document.warnings),
    }
}

/// A cell of a sweep.
#[derive(Clone, Copy)]
pub(crate) struct Swept<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) delay: &'a Delay,
    /// None if it has no figures.
    pub(crate) slope: Option<&'a Slope>,
    /// Unit of its costs; of one without figures that of others in the document.
    pub(crate) unit: Unit,
}

/// All cells of a sweep, in the document's order.
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

/// Kernel, module, state of the caches, file system and unit: what one table or figure is of.
pub(crate) type Place<'a> = (&'a str, DelayModule, Caches, &'a str, Unit);

impl<'a> Swept<'a> {
    pub(crate) fn operation(&self) -> (&'a str, &'a str) {
        (self.cell.key.benchmark(), self.cell.key.variant())
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
        match parts.as_slice() {
            [first, rest @ ..]
                if wholes.is_empty() && rest.iter().all(|part| part.hooks() == first.hooks()) =>
            {
                Parted {
                    wholes: vec![first],
                    parts: Vec::new(),
                }
            }
            _ => Parted { wholes, parts },
        }
    }
}

/// Operations in the document's order, each with its slopes.
pub(crate) fn operations<'a>(slopes: &[&'a Swept<'a>]) -> Vec<((&'a str, &'a str), Parted<'a>)> {
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
            let names: Vec<&str> = hooks.iter().take(20).map(String::as_str).collect();
            let more = if hooks.len() > names.len() {
                format!(" and {} more", hooks.len() - names.len())
            } else {
                String::new()
            };
            printable(&names.join(", "), 200) + &more
        }
    }
}

/// `debian:6.1 (6.1.0-56-cloud-amd64), tmpfs, bpf, warm caches`: what slopes of one
/// kernel, file system, module and state of the caches are of.
pub(crate) fn where_swept(slopes: &[&Swept<'_>]) -> String {
    let Some(first) = slopes.first() else {
        return String::new();
    };
    let mut text = printable(&first.cell.key.kernel, TEXT_LIMIT);
    let mut releases: Vec<&str> = Vec::new();
    let mut seen = HashSet::new();
    for release in slopes.iter().map(|swept| swept.cell.release.as_str()) {
        if !release.is_empty() && seen.insert(release) {
            releases.push(release);
        }
    }
    if !releases.is_empty() {
        text += &format!(" ({})", printable(&releases.join(", "), 200));
    }
    text + &format!(
        ", {}, {}, {} caches",
        printable(&first.cell.key.filesystem, TEXT_LIMIT),
        first.delay.module,
        first.delay.caches
    )
}
