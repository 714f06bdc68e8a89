// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of loading policies.

use model::{Clock, Document, Metric, PolicyPart, PolicyProof};

use crate::column::Columns;
use crate::format;
use crate::table::{TEXT_LIMIT, Table};
use crate::text::printable;

/// A row per policy and configuration, with the clock that counts instructions; None without data.
pub(crate) fn setup(run: &Document, details: bool) -> Option<Table> {
    let is_of_memory = |cell: &model::Cell| cell.key.metric == Metric::Memory;
    if !details && !run.cells.iter().any(is_of_memory)
        || run.environment.clock != Clock::Deterministic
    {
        return None;
    }
    let parts = run.setups.iter();
    let parts = parts.flat_map(|proof| proof.took.iter().map(move |part| (proof, part)));
    Columns::new()
        .left("kernel", |(proof, _): (&PolicyProof, &PolicyPart)| {
            &proof.kernel
        })
        .left("configuration", |(proof, _)| {
            printable(&proof.configuration.title(), 2 * TEXT_LIMIT)
        })
        .left("module", |(_, part)| &part.module)
        .left("what", |(_, part)| &part.part)
        .right("instructions", |(_, part)| format::count(part.busy_ns))
        .table("What bringing policies into force takes", parts)
        .fixed(4)
        .legend([
            "instructions: of the task that loads, on the processor; user mode, interrupts and \
             iterations of REP instructions included. \
             Once in a boot.",
        ])
        .if_any()
}
