// SPDX-License-Identifier: GPL-2.0-or-later
//! The hooks of a success path in call order.

use model::PlacementDocument;
use model::placement::{Count, SyscallPlacement, TraceEntry};

use super::{calls, names, title};
use crate::column::Columns;
use crate::table::{Table, Value};

pub(super) fn trace(document: &PlacementDocument, call: &SyscallPlacement) -> Option<Table> {
    let of = title(document, call);
    Columns::new()
        .right("", |(number, _): (usize, &TraceEntry)| number.to_string())
        .left("hook", |(_, entry)| &entry.hook)
        .right("times", |(_, entry)| {
            (entry.times != Count::ONE).then(|| format!("×{}", entry.times))
        })
        .left("when", |(_, entry)| Value::plain(remark(entry)))
        .left("called by", |(_, entry)| calls(&entry.calls))
        .table(
            format!("{of}: hooks in the order of their calls"),
            (1..).zip(&call.trace),
        )
        .fixed(2)
        .if_any()
}

/// `teardown`, `within ima`.
fn remark(entry: &TraceEntry) -> String {
    let within = (!entry.modules.is_empty()).then(|| names(&entry.modules).text());
    let within = within.map(|modules| format!("within {modules}"));
    let teardown = entry.teardown.then(|| "teardown".to_owned());
    teardown
        .into_iter()
        .chain(within)
        .collect::<Vec<_>>()
        .join(", ")
}
