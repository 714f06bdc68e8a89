// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures for programs.

use published::{Figure, named};

use super::tables::{configurations, ours};
use crate::column::{Columns, Records};

/// A row per published figure whose id matches `pattern`. Later versions only append columns.
///
/// - `figure`: the id; `source`, `place`, `lines`, `their_kernel`, `their_benchmark`,
///   `their_configuration`: what is published, and where.
/// - `quantity`, `unit`, `low`, `high`: the published range; both the same for a value, one empty
///   for a bound.
/// - `hooks`, separated by blanks; `per_component`: 1 if the value is per path component; `ours`:
///   our benchmarks for theirs, separated by blanks.
pub fn published_records(pattern: &str) -> Records<'_> {
    Columns::new()
        .column("figure", |figure: &Figure| &figure.id)
        .column("source", |figure| &figure.source)
        .column("place", |figure| &figure.place)
        .column("lines", |figure| &figure.lines)
        .column("their_kernel", |figure| &figure.kernel)
        .column("their_benchmark", |figure| &figure.theirs)
        .column("their_configuration", configurations)
        .column("quantity", |figure| figure.quantity.as_str())
        .column("unit", |figure| figure.quantity.unit())
        .column("low", |figure| figure.low)
        .column("high", |figure| figure.high)
        .column("hooks", |figure| figure.hooks.join(" "))
        .column("per_component", |figure| u32::from(figure.per_component))
        .column("ours", ours)
        .column("note", |figure| figure.note.as_ref())
        .records(named(pattern))
}
