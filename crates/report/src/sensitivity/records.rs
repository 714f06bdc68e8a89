// SPDX-License-Identifier: GPL-2.0-or-later
//! Slopes for programs, one row for each.

use experiment::{SensitivityDocument, Slope};

use super::has_figures;
use crate::column::{Columns, Records};

/// A row for each slope, in the document's order. A later version may append columns; it keeps
/// these.
///
/// - `kernel`, `release`, `module`, `stack`, `filesystem`, `caches`, `hooks`,
///   `benchmark`, `variant`, `syscalls`, `status`: of the slope, as in the document;
///   lists are joined by commas. `hooks` is `all` or those delayed together.
/// - `slope`, `ci95_low`, `ci95_high`: decisions per operation.
/// - `intercept`, `residual`: in `unit`; `r2`, `bend`: fractions.
/// - `n`, `dirty`: operations; `delays`: points that the line goes through;
///   `longest_delay_ns`: of them.
/// - `counted`, `difference`: calls of the hooks per operation, and the slope less them.
/// - `explanation`: why they differ; `reason`: why there are no figures.
/// - `part`: one hook's part of another row's slope; `others`: operations off the line.
pub fn sensitivity_records(document: &SensitivityDocument) -> Records<'_> {
    let ok = |slope| Some(slope).filter(|slope: &&Slope| has_figures(slope));
    Columns::new()
        .column("kernel", |slope: &Slope| &slope.kernel)
        .column("release", |slope| &slope.release)
        .column("module", |slope| slope.module.to_string())
        .column("stack", |slope| slope.stack.join(","))
        .column("filesystem", |slope| &slope.filesystem)
        .column("caches", |slope| slope.caches.to_string())
        .column("hooks", |slope| slope.hooks.join(","))
        .column("benchmark", |slope| &slope.benchmark)
        .column("variant", |slope| &slope.variant)
        .column("syscalls", |slope| slope.syscalls.join(","))
        .column("status", |slope| slope.status.to_string())
        .column("slope", move |slope| Some(ok(slope)?.slope))
        .column("ci95_low", move |slope| Some(ok(slope)?.ci95[0]))
        .column("ci95_high", move |slope| Some(ok(slope)?.ci95[1]))
        .column("intercept", move |slope| Some(ok(slope)?.intercept))
        .column("unit", |slope| slope.unit.to_string())
        .column("r2", move |slope| ok(slope)?.r2)
        .column("bend", move |slope| ok(slope)?.bend)
        .column("residual", move |slope| Some(ok(slope)?.residual))
        .column("n", move |slope| Some(ok(slope)?.n))
        .column("dirty", move |slope| Some(ok(slope)?.dirty))
        .column("delays", move |slope| Some(ok(slope)?.points.len()))
        .column("longest_delay_ns", move |slope| {
            let points = ok(slope)?.points.iter();
            points.map(|point| point.delay_ns).max()
        })
        .column("counted", move |slope| ok(slope)?.counted)
        .column("difference", move |slope| ok(slope)?.difference())
        .column("explanation", |slope| slope.explanation.as_ref())
        .column("reason", |slope| slope.reason.as_ref())
        .column("part", |slope| slope.part)
        .column("others", move |slope| Some(ok(slope)?.others))
        .records(&document.slopes)
}
