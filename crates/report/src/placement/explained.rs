// SPDX-License-Identifier: GPL-2.0-or-later
//! What an analysis could not decide, understand or use, and its input.

use model::PlacementDocument;
use model::placement::{StaleFact, Undecided, Unparsed};

use super::{kernel, names};
use crate::column::Columns;
use crate::format::{count, share};
use crate::table::{Table, Value};
use crate::text::short;

const CODE_LIMIT: usize = 120;

pub(super) fn tables(document: &PlacementDocument) -> Vec<Table> {
    let reachable = document.coverage.reachable as u64;
    let unparsed = share(document.unparsed.len() as u64, reachable).unwrap_or_default();
    let unparsed = format!(
        "Functions between system calls and hooks that did not parse in full: {} of {} ({unparsed})",
        count(document.unparsed.len() as u64),
        count(reachable)
    );
    let shown = [
        Columns::new()
            .left("function", |of: &Unparsed| &of.function)
            .left("where", |of| match of.file.as_str() {
                "" => Value::default(),
                file => Value::plain(format!("{}:{}", short(file), of.line)),
            })
            .left("what", |of| Value::long(&of.reason, CODE_LIMIT))
            .table(unparsed, &document.unparsed)
            .legend(["What was understood of them counts."]),
        Columns::new()
            .left("functions", |circle: &Vec<String>| circle.len())
            .left("names", |circle| names(circle))
            .table(
                "Functions that call each other in circles and reach hooks: without a bound",
                &document.circles,
            ),
        Columns::new()
            .left("function", |of: &Undecided| &of.function)
            .left("file", |of| &of.file)
            .left("condition", |of| Value::long(&of.code, CODE_LIMIT))
            .table(
                "Decisions on success paths that neither a fact nor the code made",
                &document.undecided,
            )
            .legend(["What depends on them is then not done."]),
        Columns::new()
            .left("function", |fact: &StaleFact| &fact.function)
            .left("code", |fact| &fact.code)
            .left("reason", |fact| &fact.reason)
            .left("what it says", |fact| Value::long(&fact.why, CODE_LIMIT))
            .table(
                "Facts that speak of code which this tree does not have",
                &document.stale_facts,
            )
            .legend([
                "Most are about other versions. One that should match is to be mended: see \
                 docs/placement.md.",
            ]),
        read(document),
    ];
    shown.into_iter().filter_map(Table::if_any).collect()
}

fn read(document: &PlacementDocument) -> Table {
    let coverage = &document.coverage;
    let figures = [
        ("files", coverage.files),
        ("functions and macros", coverage.functions),
        (
            "of them between a system call and a hook",
            coverage.reachable,
        ),
        ("files that were not in the cache", coverage.scanned),
        ("functions that were not in the cache", coverage.parsed),
    ];
    let figures = figures.map(|(what, n)| (what.to_owned(), n as u64));
    let step = |(step, &ms): (&String, &u64)| {
        let step = if step == "total" { "all" } else { step };
        (format!("ms: {}", short(step)), ms)
    };
    let (all, steps): (Vec<_>, Vec<_>) = (document.timing.iter()).partition(|of| of.0 == "total");
    let timing = steps.into_iter().chain(all).map(step);
    let rows: Vec<(String, u64)> = figures.into_iter().chain(timing).collect();
    Columns::new()
        .left("what", |(what, _): &(String, u64)| Value::plain(what))
        .column("count", |(_, n)| *n)
        .table(format!("{}: what was read", kernel(document)), &rows)
}
