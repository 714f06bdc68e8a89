// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of LSM hooks, as tables.

mod coverage;
pub(crate) mod events;
mod hooks;
mod operation;
mod operations;
mod words;

use model::{
    Cell, Counted, Document, Events, HookCost, HookedPath, Implementation, Metric, Residual,
};

use crate::cells::{added, place, releases};
use crate::column::{Columns, Records};
use crate::group::distinct;
use crate::table::{Report, TEXT_LIMIT, warnings};
use crate::text::{printable, short};

pub use coverage::coverage_report;

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
    /// A table per kernel and file system, with one operation per row.
    Operations,
    Coverage,
}

impl ProfileView {
    /// Hook by hook for a few operations, otherwise one operation per row.
    pub fn suited_to(document: &Document) -> ProfileView {
        let keys = document.cells.iter().map(|cell| &cell.key);
        let operations = distinct(keys.map(|key| (&key.kernel, &key.filesystem, &key.subject)));
        match operations.len() <= FEW_OPERATIONS {
            true => ProfileView::Operation,
            false => ProfileView::Operations,
        }
    }
}

pub fn profile_report(document: &Document, by: ProfileView) -> Report {
    let cells = &document.cells;
    let (hooks, events) = match by {
        ProfileView::Operation => (operation::tables(cells), events::by_hook(cells)),
        ProfileView::Hooks => (hooks::tables(cells), Vec::new()),
        ProfileView::Operations => (operations::tables(cells), events::by_operation(cells)),
        ProfileView::Coverage => return coverage_report(&[document]),
    };
    let irqs = match by {
        ProfileView::Hooks => Vec::new(),
        _ => events::irq_tables(cells),
    };
    let tables = [hooks, events, irqs, words::tables(cells)];
    Report::new(tables, warnings(&document.warnings))
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
    /// Names relative to the first profile's baseline, or to the first profile if it has none.
    fn new(profiles: &[&'a Cell]) -> StackNames<'a> {
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

/// What the profiles count: `guest kernel instructions`.
fn counted(profiles: &[&Cell]) -> &'static str {
    let metric = profiles.first().map(|cell| cell.key.metric);
    match metric.is_some_and(Metric::is_of_transfers) {
        true => "transfers",
        false => "guest kernel instructions",
    }
}

fn difference(tested: u64, baseline: u64) -> i128 {
    i128::from(tested) - i128::from(baseline)
}

#[derive(Clone, Copy)]
struct Line<'a> {
    cell: &'a Cell,
    hook: Option<&'a HookCost>,
    behind: Option<&'a Implementation>,
}

impl<'a> Line<'a> {
    fn level(self) -> &'static str {
        match (self.hook, self.behind) {
            (None, _) => "operation",
            (_, None) => "hook",
            (_, Some(_)) => "implementation",
        }
    }

    fn own(self) -> Option<&'a HookCost> {
        self.hook.filter(|_| self.behind.is_none())
    }

    fn operation(self) -> Option<&'a Counted> {
        let counted = self.cell.counted().filter(|_| self.hook.is_none());
        counted.filter(|counted| counted.hooked.is_some())
    }

    fn path(self) -> Option<&'a HookedPath> {
        self.operation()?.hooked.as_ref()
    }

    fn baseline(self) -> Option<&'a Residual> {
        self.operation()?.residual.as_ref()
    }

    fn function(self) -> Option<&'a String> {
        let behind = self.behind.map(|behind| &behind.function);
        behind.or(self.hook.map(|hook| &hook.function))
    }

    fn calls(self) -> Option<u64> {
        let behind = self.behind.map(|behind| behind.calls);
        behind.or(self.hook.map(|hook| hook.calls))
    }

    fn events(self) -> Option<&'a Events> {
        match (self.hook, self.behind) {
            (_, Some(behind)) => behind.events.as_ref(),
            (Some(hook), None) => hook.events.as_ref(),
            (None, None) => self.path()?.events.as_ref(),
        }
    }

    fn inclusive(self) -> Option<u64> {
        let behind = self.behind.map(|behind| behind.inclusive);
        behind.or(self.hook.map(|hook| hook.inclusive))
    }
}

pub fn profile_records(document: &Document) -> Records<'_> {
    let columns = Columns::new()
        .column("kernel", |line: Line<'_>| &line.cell.key.kernel)
        .column("release", |line| &line.cell.release)
        .column("stack", |line| line.cell.key.stack.join(","))
        .column("active_lsms", |line| line.cell.active_lsms.join(","))
        .column("filesystem", |line| &line.cell.key.filesystem)
        .column("benchmark", |line| line.cell.key.benchmark())
        .column("variant", |line| line.cell.key.variant())
        .column("status", |line| line.cell.status().to_string())
        .column("level", Line::level)
        .column("hook", |line| line.hook.map(|hook| &hook.hook))
        .column("function", Line::function)
        .column("module", |line| line.behind.map(|behind| &behind.module))
        .column("calls", Line::calls)
        .column("inclusive", Line::inclusive)
        .column("exclusive", |line| line.own().map(|hook| hook.exclusive))
        .column("dispatch", |line| line.own().map(|hook| hook.dispatch))
        .column("outermost", |line| line.own().map(|hook| hook.outermost))
        .column("total", |line| Some(line.path()?.total))
        .column("rep_iterations", |line| {
            Some(line.path()?.rep_iterations.unwrap_or_default())
        })
        .column("hooked", |line| Some(line.path()?.hooked))
        .column("residual", |line| Some(line.baseline()?.instructions))
        .column("regions", |line| Some(line.operation()?.regions()))
        .column("path_windows", |line| Some(line.path()?.regions))
        .column("dirty", |line| Some(line.operation()?.dirty()))
        .column("baseline_stack", |line| {
            Some(line.baseline()?.stack.join(","))
        })
        .column("baseline_total", |line| Some(line.baseline()?.path.total))
        .column("baseline_hooked", |line| Some(line.baseline()?.path.hooked))
        .column("reason", |line| {
            let not_compared = || line.operation()?.not_compared.as_deref();
            let without = line.cell.reason().filter(|_| line.hook.is_none());
            without.or_else(not_compared)
        });
    let columns = events::records(columns, |line: Line<'_>| line.events().copied());
    columns.records(document.cells.iter().flat_map(lines))
}

fn lines(cell: &Cell) -> impl Iterator<Item = Line<'_>> {
    let line = move |hook, behind| Line { cell, hook, behind };
    let hooks = cell.hooks().unwrap_or_default().iter();
    let hooks = hooks.flat_map(move |hook| {
        let behind = hook.implementations.iter();
        let behind = behind.map(move |behind| line(Some(hook), Some(behind)));
        std::iter::once(line(Some(hook), None)).chain(behind)
    });
    std::iter::once(line(None, None)).chain(hooks)
}
