// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that system calls can reach, as tables and CSV.

mod agreement;
mod checks;
mod difference;
mod explained;
mod modules;
mod records;
mod syscalls;
mod unbounded;

use model::PlacementDocument;
use model::placement::{Count, NameChanges, SyscallPlacement, TraceEntry};

use crate::column::Columns;
use crate::format::{count, share};
use crate::table::{Report, Table, Value};
use crate::text::short;

pub use agreement::agreement_report;
pub use checks::{ChecksOptions, checks_records, checks_report};
pub use difference::{DifferenceOptions, difference_records, difference_report};
pub use records::{agreement_records, placement_records};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlacementOptions {
    pub details: bool,
    pub reach: bool,
    pub trace: bool,
    pub explain: bool,
}

pub fn placement_report(document: &PlacementDocument, options: &PlacementOptions) -> Report {
    let mut tables = Vec::new();
    if options.details {
        for call in &document.syscalls {
            tables.push(syscalls::details(document, call, options.reach));
            let trace = options.trace;
            tables.extend(unbounded::causes(document, call, options.reach, trace));
        }
    } else {
        tables.push(modules::modules(document));
        tables.extend(modules::categories(document));
        tables.extend(syscalls::overview(document));
    }
    if options.trace {
        let calls = document.syscalls.iter();
        tables.extend(calls.filter_map(|call| trace(document, call)));
    }
    if options.explain {
        tables.extend(explained::tables(document));
    }
    let (unparsed, reachable) = (
        document.unparsed.len() as u64,
        document.coverage.reachable as u64,
    );
    let warning = (unparsed > 0 && !options.explain).then(|| {
        format!(
            "{} of {} functions between system calls and hooks did not parse in full ({}): \
             hooks may be missing. Advice: --explain lists them.",
            count(unparsed),
            count(reachable),
            share(unparsed, reachable).unwrap_or_default()
        )
    });
    Report {
        tables,
        warnings: warning.into_iter().collect(),
    }
}

fn kernel(document: &PlacementDocument) -> String {
    format!("Linux {}", short(&document.version))
}

/// `Linux 6.12.117: open (missing) on ext4`.
fn title(document: &PlacementDocument, call: &SyscallPlacement) -> String {
    format!(
        "{}: {}",
        kernel(document),
        on(&call.title(), &call.filesystem)
    )
}

fn on(call: &str, filesystem: &str) -> String {
    let [call, filesystem] = [call, filesystem].map(short);
    format!("{call} on {filesystem}")
}

fn names(texts: &[String]) -> Value {
    Value::long(&texts.join(", "), 200)
}

/// `+new_hook, -old_hook`.
fn renamed(changes: &NameChanges) -> Value {
    let signed = |sign: char| move |name: &String| format!("{sign}{name}");
    let added = changes.added.iter().map(signed('+'));
    let removed = changes.removed.iter().map(signed('-'));
    names(&added.chain(removed).collect::<Vec<_>>())
}

fn calls(calls: &[String]) -> Value {
    Value::long(&calls.join(" > "), 400)
}

/// Empty for 0, so that other counts are visible.
fn times(count: Count) -> Value {
    if count.is_zero() {
        Value::default()
    } else {
        Value::plain(count.to_string())
    }
}

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
