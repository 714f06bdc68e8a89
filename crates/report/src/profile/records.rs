// SPDX-License-Identifier: GPL-2.0-or-later
//! Profiles for programs, one row per hook and module function.

use model::{Cell, Counted, Document, Events, HookCost, HookedPath, Implementation, Residual};

use super::events;
use crate::column::{Columns, Records};

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
        let of = self.cell.counted().filter(|of| of.hooked.is_some());
        of.filter(|_| self.hook.is_none())
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
