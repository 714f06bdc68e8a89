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
        .right("times", |(_, entry)| repeated(entry.times))
        .left("when", |(_, entry)| Value::plain(remark(entry)))
        .left("called by", |(_, entry)| calls(&entry.calls))
        .table(
            format!("{of}: hooks in the order of their calls"),
            (1..).zip(&call.trace),
        )
        .fixed(2)
        .if_any()
}

pub(super) fn repeated(times: Count) -> String {
    if times == Count::ONE {
        String::new()
    } else {
        format!("×{times}")
    }
}

/// `teardown`, `within ima`.
pub(super) fn remark(entry: &TraceEntry) -> String {
    let mut remarks = Vec::new();
    if entry.teardown {
        remarks.push("teardown".to_owned());
    }
    if !entry.modules.is_empty() {
        remarks.push(format!("within {}", names(&entry.modules).text()));
    }
    remarks.join(", ")
}
