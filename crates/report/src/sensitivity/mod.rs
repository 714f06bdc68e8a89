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

use experiment::{ALL_HOOKS, SensitivityDocument, Slope, Status};

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
pub fn sensitivity_report(document: &SensitivityDocument, options: &SensitivityOptions) -> Report {
    let by_hook = options.by_hook.unwrap_or_else(|| {
        let operations: HashSet<_> = document.slopes.iter().map(operation_of).collect();
        operations.len() <= FEW_OPERATIONS
    });
    let mut tables = slopes::tables(document, by_hook);
    tables.extend(beside::table(document));
    tables.extend(rules::tables(document, by_hook));
    tables.extend(predictions::tables(document));
    tables.extend(repeated::tables(document));
    Report {
        tables,
        warnings: warnings(&document.warnings),
    }
}

/// A slope's operation.
pub(crate) fn operation_of(slope: &Slope) -> (&str, &str) {
    (&slope.benchmark, &slope.variant)
}

pub(crate) fn has_figures(slope: &Slope) -> bool {
    slope.status == Status::Ok
}

/// One operation's slopes: over hooks together, and over each hook alone.
pub(crate) struct Parted<'a> {
    pub(crate) wholes: Vec<&'a Slope>,
    pub(crate) parts: Vec<&'a Slope>,
}

impl<'a> Parted<'a> {
    /// Where only one hook is delayed, its slope is the whole.
    pub(crate) fn of(slopes: &[&'a Slope]) -> Parted<'a> {
        let (wholes, parts): (Vec<&Slope>, Vec<&Slope>) =
            slopes.iter().partition(|slope| slope.is_whole());
        match parts.as_slice() {
            [first, rest @ ..]
                if wholes.is_empty() && rest.iter().all(|part| part.hooks == first.hooks) =>
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
pub(crate) fn operations<'a>(slopes: &[&'a Slope]) -> Vec<((&'a str, &'a str), Parted<'a>)> {
    grouped(slopes.iter().copied(), operation_of)
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
pub(crate) fn where_swept(slopes: &[&Slope]) -> String {
    let Some(first) = slopes.first() else {
        return String::new();
    };
    let mut text = printable(&first.kernel, TEXT_LIMIT);
    let mut releases: Vec<&str> = Vec::new();
    let mut seen = HashSet::new();
    for slope in slopes.iter().filter(|slope| !slope.release.is_empty()) {
        if seen.insert(slope.release.as_str()) {
            releases.push(&slope.release);
        }
    }
    if !releases.is_empty() {
        text += &format!(" ({})", printable(&releases.join(", "), 200));
    }
    text + &format!(
        ", {}, {}, {} caches",
        printable(&first.filesystem, TEXT_LIMIT),
        first.module,
        first.caches
    )
}
