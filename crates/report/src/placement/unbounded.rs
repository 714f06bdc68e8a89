// SPDX-License-Identifier: GPL-2.0-or-later
//! Causes of unbounded maxima.

use std::collections::{BTreeMap, BTreeSet};

use model::PlacementDocument;
use model::placement::{BoundlessCause, HookPlacement, SyscallPlacement, Unbounded};

use super::syscalls::{is_nominal, shown};
use super::{names, title};
use crate::column::Columns;
use crate::format::count;
use crate::table::{Table, Value};
use crate::text::short;

const CODE_LIMIT: usize = 80;
const FIRST: usize = 8;

/// Why maxima shown by [`super::syscalls::details`] are unbounded. `reach`: also of hooks off the
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
    let of = title(document, call);
    let table = Columns::new()
        .left("what", |(cause, _): &Line<'_>| word(cause.cause))
        .left("function", |(cause, _)| &cause.function)
        .left("where", |(cause, _)| {
            Value::plain(format!("{}:{}", short(&cause.file), cause.line))
        })
        .left("code", |(cause, _)| Value::long(&cause.code, CODE_LIMIT))
        .column("hooks", |(_, hooks)| hooks.len())
        .left("of", |(_, hooks)| names(hooks))
        .table(
            format!("{of}: what makes {} maxima unbounded", count(boundless)),
            &found,
        )
        .fixed(2)
        .legend([
            "A maximum is a number only once each of its causes has a bound: from the code, or by \
             a fact.",
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
