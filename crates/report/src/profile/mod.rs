// SPDX-License-Identifier: GPL-2.0-or-later
//! What LSM hooks cost, as tables.

mod hooks;
mod operation;
mod operations;
mod records;
mod residual;

use std::collections::HashSet;

use experiment::{Cell, Counted, Document, HookCost, HookedPath, Residual};

use crate::cells::added;
use crate::group::grouped;
use crate::table::{Report, TEXT_LIMIT, warnings};
use crate::text::printable;

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
}

impl ProfileView {
    /// The view that shows most of a document without growing long: hook by hook for a
    /// few operations, else an operation in each row.
    pub fn suited_to(document: &Document) -> ProfileView {
        let key = |cell: &Cell| {
            let key = &cell.key;
            (key.kernel.clone(), key.filesystem.clone(), key.title())
        };
        let operations: HashSet<_> = document.cells.iter().map(key).collect();
        if operations.len() <= FEW_OPERATIONS {
            ProfileView::Operation
        } else {
            ProfileView::Operations
        }
    }
}

/// What a report of profiles shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProfileOptions {
    /// What its tables are about.
    pub by: ProfileView,
}

/// All tables of a profile document, in its order. Figures are guest kernel
/// instructions per operation.
pub fn profile_report(document: &Document, options: &ProfileOptions) -> Report {
    let clock = document.environment.clock;
    let profiles = profiles(document);
    let tables = match options.by {
        ProfileView::Operation => operation::tables(&profiles, clock),
        ProfileView::Hooks => hooks::tables(&profiles, clock),
        ProfileView::Operations => operations::tables(&profiles, clock),
    };
    Report {
        tables,
        warnings: warnings(&document.warnings),
    }
}

/// A cell that was profiled.
#[derive(Clone, Copy)]
struct Profile<'a> {
    cell: &'a Cell,
    /// Its figures, if it has any.
    figures: Option<(&'a Counted, &'a HookedPath)>,
}

fn profiles(document: &Document) -> Vec<Profile<'_>> {
    let profile = |cell| Profile {
        cell,
        figures: Cell::counted(cell).and_then(|of| Some((of, of.hooked.as_ref()?))),
    };
    document.cells.iter().map(profile).collect()
}

impl<'a> Profile<'a> {
    fn path(self) -> Option<&'a HookedPath> {
        Some(self.figures?.1)
    }

    fn hooks(self) -> &'a [HookCost] {
        self.path().map_or(&[], |path| &path.hooks)
    }

    fn total(self) -> u64 {
        self.path().map_or(0, |path| path.total)
    }

    fn hooked(self) -> u64 {
        self.path().map_or(0, |path| path.hooked)
    }

    /// What it was compared with, and what differs outside hooks.
    fn residual(self) -> Option<&'a Residual> {
        self.figures?.0.residual.as_ref()
    }

    fn kernel(self) -> &'a str {
        &self.cell.key.kernel
    }

    fn filesystem(self) -> &'a str {
        &self.cell.key.filesystem
    }

    fn stack(self) -> &'a [String] {
        &self.cell.key.stack
    }

    fn operation(self) -> (&'a str, &'a str) {
        (self.cell.key.benchmark(), self.cell.key.variant())
    }
}

/// Stacks in few characters: those that only add to the first by what they add.
struct StackNames<'a> {
    first: &'a [String],
}

impl<'a> StackNames<'a> {
    /// Names for the stacks of these profiles, beside the first one's baseline or the
    /// first one.
    fn of(profiles: &[&Profile<'a>]) -> StackNames<'a> {
        let mut baselines = profiles.iter().filter_map(|p| p.residual());
        let first = baselines.next().map(|baseline| baseline.stack.as_slice());
        let first = first.or_else(|| profiles.first().map(|p| p.stack()));
        StackNames {
            first: first.unwrap_or_default(),
        }
    }

    fn short(&self, stack: &[String]) -> String {
        match added(stack, self.first) {
            Some(added) if !self.first.is_empty() => {
                printable(&format!("+{}", added.join(",")), TEXT_LIMIT)
            }
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
fn configured(profile: &Profile<'_>) -> String {
    let key = &profile.cell.key;
    let stack = full_name(&key.stack);
    let title = experiment::configuration_title(&stack, &key.integrity, key.policy, &key.tuning);
    printable(&title, 4 * TEXT_LIMIT)
}

/// `debian:6.1 (6.1.0-56-cloud-amd64), tmpfs`.
fn where_profiled(profiles: &[&Profile<'_>]) -> String {
    let Some(first) = profiles.first() else {
        return String::new();
    };
    let mut text = printable(first.kernel(), TEXT_LIMIT);
    let mut releases: Vec<&str> = Vec::new();
    for profile in profiles {
        let release = profile.cell.release.as_str();
        if !release.is_empty() && !releases.contains(&release) {
            releases.push(release);
        }
    }
    if !releases.is_empty() {
        text += &format!(" ({})", printable(&releases.join(", "), 200));
    }
    text += &format!(", {}", printable(first.filesystem(), TEXT_LIMIT));
    text
}

/// A sum that a lying document cannot overflow.
fn sum(figures: impl IntoIterator<Item = u64>) -> u64 {
    figures.into_iter().fold(0, u64::saturating_add)
}

/// `tested - baseline`.
fn difference(tested: u64, baseline: u64) -> i128 {
    i128::from(tested) - i128::from(baseline)
}
