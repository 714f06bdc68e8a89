// SPDX-License-Identifier: GPL-2.0-or-later
//! Slopes for programs, one per row.

use model::Document;

use super::{Swept, swept};
use crate::column::{Columns, Records};

/// Columns: `docs/export.md`.
pub fn sensitivity_records(document: &Document) -> Records<'_> {
    Columns::new()
        .column("kernel", |of: Swept<'_>| &of.cell.key.kernel)
        .column("release", |of| &of.cell.release)
        .column("module", |of| of.delay.module.to_string())
        .column("stack", |of| of.cell.key.stack.join(","))
        .column("filesystem", |of| &of.cell.key.filesystem)
        .column("caches", |of| of.delay.caches.to_string())
        .column("hooks", |of| of.hooks().join(","))
        .column("benchmark", |of| of.cell.key.benchmark())
        .column("variant", |of| of.cell.key.variant())
        .column("syscalls", |of| of.cell.syscalls.join(","))
        .column("status", |of| of.cell.status().to_string())
        .column("checks_per_operation", |of| Some(of.slope?.slope))
        .column("ci95_low", |of| Some(of.slope?.ci95[0]))
        .column("ci95_high", |of| Some(of.slope?.ci95[1]))
        .column("intercept", |of| Some(of.slope?.intercept))
        .column("unit", |of| of.unit.to_string())
        .column("r2", |of| of.slope?.r2)
        .column("bend", |of| of.slope?.bend)
        .column("residual", |of| Some(of.slope?.residual))
        .column("n", |of| Some(of.slope?.n))
        .column("dirty", |of| Some(of.slope?.dirty))
        .column("delays", |of| Some(of.slope?.points.len()))
        .column("longest_delay_ns", |of| {
            let points = of.slope?.points.iter();
            points.map(|point| point.delay_ns).max()
        })
        .column("counted", |of| of.slope?.counted)
        .column("difference", |of| of.slope?.difference())
        .column("explanation", |of| of.slope?.explanation.as_ref())
        .column("reason", |of| of.cell.reason())
        .column("part", |of| of.delay.part)
        .column("others", |of| Some(of.slope?.others))
        .records(swept(document))
}
