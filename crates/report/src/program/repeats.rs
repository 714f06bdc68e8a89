// SPDX-License-Identifier: GPL-2.0-or-later
//! What causes a `±`: hooks that differ between a program's runs.

use model::DifferingHook;

use super::{ENTRIES, Line, subject};
use crate::column::Columns;
use crate::format;
use crate::table::Table;

pub(super) fn differing(place: &str, lines: &[Line<'_>], all: bool) -> Option<Table> {
    let limit = if all { usize::MAX } else { ENTRIES };
    let rows = lines.iter().flat_map(|line| {
        let mut hooks: Vec<&DifferingHook> = line.program.differing.iter().collect();
        hooks.sort_by_key(|hook| std::cmp::Reverse(spread(hook)));
        hooks.into_iter().take(limit).map(move |hook| (line, hook))
    });
    Columns::new()
        .all(subject(), |(line, _): (&Line<'_>, &DifferingHook)| line)
        .left("hook", |(_, hook)| &hook.hook)
        .column("calls, least", |(_, hook)| hook.calls_min)
        .column("most", |(_, hook)| hook.calls_max)
        .column("instructions, least", |(_, hook)| hook.instructions_min)
        .column("most", |(_, hook)| hook.instructions_max)
        .right("of those in hooks", |(line, hook)| {
            format::share(spread(hook), line.hooked.hooked)
        })
        .table(format!("Hooks that runs differ in: {place}"), rows)
        .fixed(3)
        .legend([
            "least, most: in one run; of those in hooks: the difference as part of all \
             instructions in hooks. Where calls differ, the program did otherwise; where only \
             instructions do, the kernel.",
        ])
        .if_any()
}

pub(super) fn spread(hook: &DifferingHook) -> u64 {
    hook.instructions_max.saturating_sub(hook.instructions_min)
}
