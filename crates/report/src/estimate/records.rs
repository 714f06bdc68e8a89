// SPDX-License-Identifier: GPL-2.0-or-later
//! Estimates for programs: a row per operation and stack, and per hook.

use model::EstimateDocument;
use model::estimate::{EstimatedCell, EstimatedHook, Nanoseconds};

use crate::column::{Columns, Records};

#[derive(Clone, Copy)]
struct Line<'a> {
    cell: &'a EstimatedCell,
    hook: Option<&'a EstimatedHook>,
}

impl Line<'_> {
    fn estimate(self) -> Option<Nanoseconds> {
        match self.hook {
            Some(hook) => Some(hook.estimate),
            None => self.cell.estimate,
        }
    }

    fn measured(self) -> Option<Nanoseconds> {
        self.cell.measured.filter(|_| self.hook.is_none())
    }
}

/// A row per operation and stack, followed by one per hook that differs. Columns: `docs/export.md`.
pub fn estimate_records(document: &EstimateDocument) -> Records<'_> {
    let rows = document.cells.iter().flat_map(|cell| {
        let hooks = cell.hooks.iter().map(Some);
        std::iter::once(None)
            .chain(hooks)
            .map(move |hook| Line { cell, hook })
    });
    Columns::new()
        .column("kernel", |line: Line<'_>| &line.cell.key.kernel)
        .column("stack", |line| line.cell.key.stack.join(","))
        .column("baseline", |line| line.cell.baseline.join(","))
        .column("filesystem", |line| &line.cell.key.filesystem)
        .column("benchmark", |line| line.cell.key.benchmark())
        .column("variant", |line| line.cell.key.variant())
        .column("hook", |line| line.hook.map(|hook| &hook.hook))
        .column("instructions", |line| {
            line.hook
                .map_or(line.cell.instructions, |hook| hook.instructions)
        })
        .column("ns", |line| line.estimate().map(|of| of.ns))
        .column("ns_low", |line| line.estimate().map(|of| of.ci95[0]))
        .column("ns_high", |line| line.estimate().map(|of| of.ci95[1]))
        .column("measured_ns", |line| line.measured().map(|of| of.ns))
        .column("measured_low", |line| line.measured().map(|of| of.ci95[0]))
        .column("measured_high", |line| line.measured().map(|of| of.ci95[1]))
        .column("refused", |line| {
            let of = line.cell.refused.as_ref();
            of.filter(|_| line.hook.is_none())
        })
        .records(rows)
}
