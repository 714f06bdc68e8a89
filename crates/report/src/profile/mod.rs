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

/// Most operations that are shown hook by hook unless asked for.
const FEW_OPERATIONS: usize = 4;

/// What the tables of a profile document are about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProfileView {
    /// A table for each kernel, file system and operation: its hooks and behind them
    /// the modules' functions, stacks beside each other.
    #[default]
    Operation,
    /// A table for each kernel, stack and file system: the hooks over all operations,
    /// as in LSMPMON's tables 5 to 7. With several kernels also the average cost of a
    /// call on each.
    Hooks,
    /// A table for each kernel and file system: an operation in each row.
    Operations,
    /// See [`coverage_report`].
    Coverage,
}

impl ProfileView {
    /// The view that shows most of a document without growing long: hook by hook for a
    /// few operations, else an operation in each row.
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

/// All tables of a profile document, in its order. Figures are guest kernel
/// instructions per operation.
pub fn profile_report(document: &Document, by: ProfileView) -> Report {
    let clock = document.environment.clock;
    let mut tables = match by {
        ProfileView::Operation => operation::tables(&document.cells, clock),
        ProfileView::Hooks => hooks::tables(&document.cells, clock),
        ProfileView::Operations => operations::tables(&document.cells, clock),
        ProfileView::Coverage => return coverage_report(&[document]),
    };
    tables.extend(match by {
        ProfileView::Operation => events::by_hook(&document.cells, clock),
        ProfileView::Hooks | ProfileView::Coverage => Vec::new(),
        ProfileView::Operations => events::by_operation(&document.cells, clock),
    });
    if by != ProfileView::Hooks {
        tables.extend(irqs::tables(&document.cells));
    }
    Report {
        tables,
        warnings: warnings(&document.warnings),
    }
}

/// The path that was profiled; None of a cell without figures.
fn path(cell: &Cell) -> Option<&HookedPath> {
    cell.counted()?.hooked.as_ref()
}

/// What a profile was compared with, and what differs outside hooks.
fn baseline(cell: &Cell) -> Option<&Residual> {
    path(cell).and(cell.counted()?.residual.as_ref())
}

/// Stacks in few characters: those that only add to the first by what they add.
struct StackNames<'a> {
    first: &'a [String],
}

impl<'a> StackNames<'a> {
    /// Names for the stacks of these profiles, beside the first one's baseline or the
    /// first one.
    fn of(profiles: &[&'a Cell]) -> StackNames<'a> {
        let mut baselines = profiles.iter().filter_map(|cell| baseline(cell));
        let first = baselines.next().map(|baseline| &baseline.stack);
        let first = first.or_else(|| profiles.first().map(|cell| &cell.key.stack));
        StackNames {
            first: first.map_or(&[], Vec::as_slice),
        }
    }

    fn short(&self, stack: &[String]) -> String {
        match added(stack, self.first) {
            Some(added) if !self.first.is_empty() => short(&format!("+{}", added.join(","))),
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

/// A profile's stack in full, with the state of its policies and integrity subsystems.
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

/// `tested - baseline`.
fn difference(tested: u64, baseline: u64) -> i128 {
    i128::from(tested) - i128::from(baseline)
}
