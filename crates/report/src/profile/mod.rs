// SPDX-License-Identifier: GPL-2.0-or-later
//! What LSM hooks cost, as tables.

mod coverage;
pub(crate) mod events;
mod hooks;
mod irqs;
mod operation;
mod operations;
mod records;

use model::{Cell, Document, HookedPath, Residual};

use crate::cells::{added, place, releases};
use crate::group::distinct;
use crate::table::{Report, TEXT_LIMIT, warnings};
use crate::text::{printable, short};

pub use coverage::coverage_report;
pub use records::profile_records;

const FEW_OPERATIONS: usize = 4;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProfileView {
    /// A table per kernel, file system and operation: hooks, each followed by the modules'
    /// functions, stacks next to each other.
    #[default]
    Operation,
    /// A table per kernel, stack and file system: hooks over all operations, as in LSMPMON's tables
    /// 5 to 7. With several kernels also the average cost of a call on each.
    Hooks,
    /// A table per kernel and file system, an operation per row.
    Operations,
    Coverage,
}

impl ProfileView {
    /// Hook by hook for a few operations, else an operation per row.
    pub fn suited_to(document: &Document) -> ProfileView {
        let keys = document.cells.iter().map(|cell| &cell.key);
        let operations = distinct(keys.map(|key| (&key.kernel, &key.filesystem, &key.subject)));
        if operations.len() <= FEW_OPERATIONS {
            ProfileView::Operation
        } else {
            ProfileView::Operations
        }
    }
}

pub fn profile_report(document: &Document, by: ProfileView) -> Report {
    let clock = document.environment.clock;
    let cells = &document.cells;
    let (hooks, events) = match by {
        ProfileView::Operation => (
            operation::tables(cells, clock),
            events::by_hook(cells, clock),
        ),
        ProfileView::Hooks => (hooks::tables(cells, clock), Vec::new()),
        ProfileView::Operations => (
            operations::tables(cells, clock),
            events::by_operation(cells, clock),
        ),
        ProfileView::Coverage => return coverage_report(&[document]),
    };
    let irqs = match by {
        ProfileView::Hooks => Vec::new(),
        _ => irqs::tables(cells),
    };
    Report {
        tables: [hooks, events, irqs].concat(),
        warnings: warnings(&document.warnings),
    }
}

fn path(cell: &Cell) -> Option<&HookedPath> {
    cell.counted()?.hooked.as_ref()
}

fn baseline(cell: &Cell) -> Option<&Residual> {
    path(cell).and(cell.counted()?.residual.as_ref())
}

#[derive(Default)]
struct StackNames<'a>(&'a [String]);

impl<'a> StackNames<'a> {
    /// Relative to the first profile's baseline, or to the first profile.
    fn of(profiles: &[&'a Cell]) -> StackNames<'a> {
        let mut baselines = profiles.iter().filter_map(|cell| baseline(cell));
        let first = baselines.next().map(|baseline| &baseline.stack);
        let first = first.or_else(|| profiles.first().map(|cell| &cell.key.stack));
        first.map_or_else(StackNames::default, |stack| StackNames(stack))
    }

    fn short(&self, stack: &[String]) -> String {
        match added(stack, self.0) {
            Some(added) if !self.0.is_empty() => short(&format!("+{}", added.join(","))),
            _ => full_name(stack),
        }
    }
}

pub(crate) fn full_name(stack: &[String]) -> String {
    if stack.is_empty() {
        return "no module".to_owned();
    }
    printable(&stack.join(","), 3 * TEXT_LIMIT)
}

fn configured(profile: &Cell) -> String {
    let key = &profile.key;
    let stack = full_name(&key.stack);
    let title = model::configuration_title(&stack, &key.integrity, key.policy, &key.settings);
    printable(&title, 4 * TEXT_LIMIT)
}

/// `debian:6.1 (6.1.0-56-cloud-amd64), tmpfs`.
fn where_profiled(profiles: &[&Cell]) -> String {
    let Some(Cell { key, .. }) = profiles.first() else {
        return String::new();
    };
    let releases = releases(profiles.iter().copied());
    place(&key.kernel, &releases.join(", "), &key.filesystem)
}

fn difference(tested: u64, baseline: u64) -> i128 {
    i128::from(tested) - i128::from(baseline)
}
