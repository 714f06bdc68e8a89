// SPDX-License-Identifier: GPL-2.0-or-later
//! The hooks of a nominal path in the order of their calls.

use experiment::PlacementDocument;
use experiment::placement::{Count, SyscallPlacement, TraceEntry};

use super::{kernel, name, title};
use crate::table::{Align, Column, Row, Table, Value};
use crate::text::printable;

/// Longest call string, in characters.
const CALLS_LIMIT: usize = 400;

/// One line for each call of a hook; None if there are none.
pub(super) fn trace(document: &PlacementDocument, call: &SyscallPlacement) -> Option<Table> {
    let rows: Vec<Row> = (1u64..)
        .zip(&call.trace)
        .map(|(number, entry)| Row {
            values: vec![
                Value::plain(number.to_string()),
                name(&entry.hook),
                Value::plain(repeated(entry.times)),
                Value::plain(remark(entry)),
                Value::plain(printable(&entry.calls.join(" > "), CALLS_LIMIT)),
            ],
            summary: false,
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        title: format!(
            "{}: {}: hooks in the order of their calls",
            kernel(document),
            title(call)
        ),
        legend: Vec::new(),
        columns: vec![
            Column::figures("", None),
            Column::new("hook", Align::Left),
            Column::figures("times", None),
            Column::new("when", Align::Left),
            Column::new("called by", Align::Left),
        ],
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    })
}

/// Nothing for once.
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
        remarks.push(format!("within {}", super::names(&entry.modules)));
    }
    remarks.join(", ")
}
