// SPDX-License-Identifier: GPL-2.0-or-later
//! What makes maxima unbounded.

use std::collections::{BTreeMap, BTreeSet};

use experiment::PlacementDocument;
use experiment::placement::{BoundlessCause, HookPlacement, SyscallPlacement, Unbounded};

use super::syscalls::{is_nominal, shown};
use super::{kernel, name, names, title};
use crate::format::count;
use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// Longest piece of code, in characters.
const CODE_LIMIT: usize = 80;
/// Causes that are shown without `--trace`, those of most hooks first.
const FIRST: usize = 8;

/// What makes the maxima of a system call unbounded that [`super::syscalls::details`] shows;
/// None if none is. `reach`: also of hooks that are not on the nominal path; `all`: also
/// the causes of few.
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
    let mut found: Vec<(&Unbounded, Vec<String>)> = hooks
        .into_iter()
        .filter_map(|(cause, hooks)| {
            let hooks = hooks.into_iter().map(str::to_owned).collect();
            Some((document.unbounded.get(cause as usize)?, hooks))
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|(_, hooks)| std::cmp::Reverse(hooks.len()));
    let left_out = if all {
        0
    } else {
        found.len().saturating_sub(FIRST)
    };
    found.truncate(found.len() - left_out);
    let mut legend = vec![
        "A maximum is a number only once each of its causes has a bound: from the code, or by a \
         fact."
            .to_owned(),
    ];
    if left_out > 0 {
        legend.push(format!(
            "{} more: --trace shows them.",
            count(left_out as u64)
        ));
    }
    let rows = found.iter().map(|(cause, hooks)| row(cause, hooks));
    Some(Table {
        title: format!(
            "{}: {}: what makes {} maxima unbounded",
            kernel(document),
            title(call),
            count(boundless)
        ),
        legend,
        columns: vec![
            Column::new("what", Align::Left),
            Column::new("function", Align::Left),
            Column::new("where", Align::Left),
            Column::new("code", Align::Left),
            Column::figures("hooks", None),
            Column::new("of", Align::Left),
        ],
        fixed_columns: 2,
        rows: rows.collect(),
        footnotes: Vec::new(),
    })
}

/// Is a maximum among those that are printed?
fn part_is_shown(hook: &HookPlacement, part: &str, reach: bool) -> bool {
    match part {
        "own" | "teardown" => true,
        modules => hook
            .nested
            .get(modules)
            .is_some_and(|nested| shown(nested, reach)),
    }
}

fn row(cause: &Unbounded, hooks: &[String]) -> Row {
    let place = format!("{}:{}", printable(&cause.file, TEXT_LIMIT), cause.line);
    Row {
        values: vec![
            Value::plain(word(cause.cause)),
            name(&cause.function),
            Value::plain(place),
            Value::plain(printable(&cause.code, CODE_LIMIT)),
            Value::plain(count(hooks.len() as u64)),
            Value::plain(names(hooks)),
        ],
        summary: false,
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
