// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures for programs, alone and beside ours.

use published::{Beside, Comparison, Figure, named};
use stats::Centre;

use super::tables::{configurations, ours};
use crate::column::{Columns, Records};

type Theirs<'a> = (&'a Figure, [Option<f64>; 2]);

/// What is published, and where. A bound that a figure does not have is missing.
fn theirs<'a>() -> Columns<'a, Theirs<'a>> {
    Columns::new()
        .column("figure", |(figure, _): Theirs<'_>| &figure.id)
        .column("source", |(figure, _)| &figure.source)
        .column("place", |(figure, _)| &figure.place)
        .column("lines", |(figure, _)| &figure.lines)
        .column("their_kernel", |(figure, _)| &figure.kernel)
        .column("their_benchmark", |(figure, _)| &figure.theirs)
        .column("their_configuration", |(figure, _)| configurations(figure))
        .column("quantity", |(figure, _)| figure.quantity.as_str())
        .column("unit", |(figure, _)| figure.quantity.unit())
        .column("low", |(_, [low, _])| low)
        .column("high", |(_, [_, high])| high)
}

/// A row for each comparison. A later version may append columns; it keeps these.
///
/// - `figure`: the id; `source`, `place`, `lines`, `their_kernel`, `their_benchmark`,
///   `their_configuration`: what is published, and where.
/// - `quantity`, `unit`: what all values of the row are.
/// - `low`, `high`: the published range; both the same for a value, one empty for a bound.
/// - `kernel`, `release`, `filesystem`, `configuration`, `baseline`, `benchmark`: ours.
/// - `metric`: what ours is made of. Theirs is always time, except for counts.
/// - `ours`, `difference`: in `unit`; the difference to the nearest end of their range.
/// - `verdict`: agrees, differs. `unclear`: 1 if ours may be chance.
/// - `stands_in`: in what our configuration differs; `explanations`: ids, by blanks.
/// - `note`: what to know of theirs.
/// - `layouts`: how many layouts of our kernel ours is drawn over, missing if it is not; then
///   `ours_low`, `ours_high`: its 95 % interval over them; `added_ns`, `added_ns_low`,
///   `added_ns_high`: what one operation of ours takes more than under the baseline.
pub fn beside_records(beside: &Beside) -> Records<'_> {
    Columns::new()
        .all(theirs(), |of: &Comparison| (of.figure, of.bounds))
        .column("kernel", |of| &of.kernel)
        .column("release", |of| &of.release)
        .column("filesystem", |of| &of.filesystem)
        .column("configuration", |of| &of.tested)
        .column("baseline", |of| of.baseline.as_ref())
        .column("benchmark", |of| &of.benchmark)
        .column("metric", |of| of.metric.to_string())
        .column("ours", |of| of.ours)
        .column("difference", |of| of.difference)
        .column("verdict", |of| of.verdict.to_string())
        .column("unclear", |of| u32::from(of.unclear))
        .column("stands_in", |of| of.stands_in.join("; "))
        .column("explanations", |of| {
            let ids = of.explanations.iter().map(|e| e.id.as_str());
            ids.collect::<Vec<_>>().join(" ")
        })
        .column("note", |of| of.figure.note.as_ref())
        .column("layouts", |of| {
            of.layouts.as_ref().map(|of| of.count as u64)
        })
        .column("ours_low", |of| of.layouts.as_ref().map(|of| of.ci95[0]))
        .column("ours_high", |of| of.layouts.as_ref().map(|of| of.ci95[1]))
        .column("added_ns", |of| added_ns(of).map(|of| of.value))
        .column("added_ns_low", |of| added_ns(of).map(|of| of.ci95[0]))
        .column("added_ns_high", |of| added_ns(of).map(|of| of.ci95[1]))
        .records(&beside.comparisons)
}

fn added_ns(comparison: &Comparison) -> Option<Centre> {
    comparison.layouts.as_ref()?.added_ns
}

/// A row for each published figure whose id fits `pattern`: columns as in [`beside_records`];
/// `hooks`, by blanks; `per_component`: 1 if the value is for each component of a path; `ours`:
/// our benchmarks for theirs, by blanks.
pub fn published_records(pattern: &str) -> Records<'_> {
    Columns::new()
        .all(theirs(), |figure: &Figure| {
            (figure, [figure.low, figure.high])
        })
        .column("hooks", |figure| figure.hooks.join(" "))
        .column("per_component", |figure| u32::from(figure.per_component))
        .column("ours", ours)
        .column("note", |figure| figure.note.as_ref())
        .records(named(pattern))
}
