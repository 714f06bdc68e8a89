// SPDX-License-Identifier: GPL-2.0-or-later
//! Parts of the sources that an analysis could not decide, parse or use, and its input.

use std::collections::{BTreeMap, BTreeSet};

use model::PlacementDocument;
use model::placement::{
    BoundlessCause, HookPlacement, StaleFact, SyscallPlacement, Unbounded, Undecided, Unparsed,
};

use super::syscalls::{is_nominal, shown};
use super::{kernel, names, title};
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
            .left("function", |function: &Unparsed| &function.function)
            .left("where", |function| match function.file.as_str() {
                "" => Value::default(),
                file => Value::plain(format!("{}:{}", short(file), function.line)),
            })
            .left("what", |function| Value::long(&function.reason, CODE_LIMIT))
            .table(unparsed, &document.unparsed)
            .legend(["The parsed parts of these functions are included."]),
        Columns::new()
            .left("functions", |circle: &Vec<String>| circle.len())
            .left("names", |circle| names(circle))
            .table(
                "Functions that call each other in cycles and reach hooks: calls have no bound",
                &document.circles,
            ),
        Columns::new()
            .left("function", |condition: &Undecided| &condition.function)
            .left("file", |condition| &condition.file)
            .left("condition", |condition| {
                Value::long(&condition.code, CODE_LIMIT)
            })
            .table(
                "Conditions on success paths that neither a fact nor the code decides",
                &document.undecided,
            )
            .legend(["Code that depends on them is skipped."]),
        Columns::new()
            .left("function", |fact: &StaleFact| &fact.function)
            .left("code", |fact| &fact.code)
            .left("reason", |fact| &fact.reason)
            .left("fact", |fact| Value::long(&fact.why, CODE_LIMIT))
            .table(
                "Facts about code that this tree does not have",
                &document.stale_facts,
            )
            .legend([
                "Most describe other versions. Correct those that should match: see \
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
        ("between a system call and a hook", coverage.reachable),
        ("files not in the cache", coverage.scanned),
        ("functions not in the cache", coverage.parsed),
    ];
    let figures = figures.map(|(what, n)| (what.to_owned(), n as u64));
    let step = |(step, &ms): (&String, &u64)| {
        let step = if step == "total" { "all" } else { step };
        (format!("ms: {}", short(step)), ms)
    };
    let (all, steps): (Vec<_>, Vec<_>) =
        (document.timing.iter()).partition(|step| step.0 == "total");
    let timing = steps.into_iter().chain(all).map(step);
    let rows: Vec<(String, u64)> = figures.into_iter().chain(timing).collect();
    Columns::new()
        .left("what", |(what, _): &(String, u64)| Value::plain(what))
        .column("count", |(_, n)| *n)
        .table(format!("{}: what was read", kernel(document)), &rows)
}

const CAUSE_LIMIT: usize = 80;
const FIRST: usize = 8;

/// Why maxima shown by [`super::syscalls::details`] are unbounded. `reach`: also for hooks off the
/// success path; `all`: also rare causes.
pub(super) fn causes(
    document: &PlacementDocument,
    call: &SyscallPlacement,
    reach: bool,
    all: bool,
) -> Option<Table> {
    let mut hooks: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    let mut boundless = 0;
    for hook in call.hooks.iter().filter(|hook| reach || is_nominal(hook)) {
        for (part, causes) in &hook.unbounded_by {
            if part_is_shown(hook, part, reach) {
                boundless += 1;
                for &cause in causes {
                    hooks.entry(cause).or_default().insert(&hook.hook);
                }
            }
        }
    }
    let found = hooks.into_iter().filter_map(|(cause, hooks)| {
        let hooks = hooks.into_iter().map(str::to_owned).collect();
        Some((document.unbounded.get(cause as usize)?, hooks))
    });
    let mut found: Vec<Line<'_>> = found.collect();
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|(_, hooks)| std::cmp::Reverse(hooks.len()));
    let shown = if all { usize::MAX } else { FIRST };
    let left_out = found.len().saturating_sub(shown);
    found.truncate(shown);
    let more = match left_out {
        0 => String::new(),
        n => format!("{} more: --trace shows them.", count(n as u64)),
    };
    let title = title(document, call);
    let table = Columns::new()
        .left("what", |(cause, _): &Line<'_>| word(cause.cause))
        .left("function", |(cause, _)| &cause.function)
        .left("where", |(cause, _)| {
            Value::plain(format!("{}:{}", short(&cause.file), cause.line))
        })
        .left("code", |(cause, _)| Value::long(&cause.code, CAUSE_LIMIT))
        .column("hooks", |(_, hooks)| hooks.len())
        .left("names", |(_, hooks)| names(hooks))
        .table(
            format!("{title}: causes of {} unbounded maxima", count(boundless)),
            &found,
        )
        .fixed(2)
        .legend([
            "A maximum becomes finite once each of its causes has a bound, from the code or from a \
             fact.",
            &more,
        ]);
    Some(table)
}

type Line<'a> = (&'a Unbounded, Vec<String>);

fn part_is_shown(hook: &HookPlacement, part: &str, reach: bool) -> bool {
    match part {
        "own" | "teardown" => true,
        modules => (hook.nested.get(modules)).is_some_and(|nested| shown(nested, reach)),
    }
}

fn word(cause: BoundlessCause) -> &'static str {
    match cause {
        BoundlessCause::Loop => "loop",
        BoundlessCause::Callback => "called back",
        BoundlessCause::Circle => "circle of calls",
        BoundlessCause::Large => "too large",
        BoundlessCause::Nested => "nested too deep",
    }
}
