// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording for programs: a row per function and system call in each interval.

use model::{Calls, Document, Interval, WatchedHook, WholeSystemCall};

use crate::column::{Columns, Records};

const ALL: &str = "all";

#[derive(Clone, Copy)]
struct Line<'a> {
    interval: &'a Interval,
    hook: &'a WatchedHook,
    system_call: &'a str,
    calls: &'a Calls,
}

impl<'a> Line<'a> {
    fn whole(self) -> Option<&'a WholeSystemCall> {
        self.interval.whole(self.system_call)
    }
}

/// For each function of each interval a row for all system calls and one per system call. Columns:
/// `docs/export.md`.
pub fn monitor_records(document: &Document) -> Records<'_> {
    Columns::new()
        .column("begin_s", |line: Line<'_>| line.interval.begin_s)
        .column("seconds", |line| line.interval.seconds)
        .column("hook", |line| &line.hook.hook)
        .column("function", |line| &line.hook.function)
        .column("module", |line| line.hook.module.as_ref())
        .column("system_call", |line| line.system_call)
        .column("count", |line| line.calls.count)
        .column("errors", |line| line.calls.errors)
        .column("errnos", |line| {
            let errnos = line.hook.errnos.iter().filter(|_| line.system_call == ALL);
            let errnos: Vec<String> = errnos.map(|(name, n)| format!("{name}={n}")).collect();
            errnos.join(" ")
        })
        .column("sum_ns", |line| line.calls.sum_ns)
        .column("mean_ns", |line| line.calls.mean_ns())
        .column("min_ns", |line| line.calls.min_ns)
        .column("max_ns", |line| line.calls.max_ns)
        .column("p50_ns", |line| line.calls.percentiles_ns.map(|ns| ns.p50))
        .column("p90_ns", |line| line.calls.percentiles_ns.map(|ns| ns.p90))
        .column("p99_ns", |line| line.calls.percentiles_ns.map(|ns| ns.p99))
        .column("whole_count", |line| line.whole().map(|whole| whole.count))
        .column("whole_ns", |line| line.whole().map(|whole| whole.sum_ns))
        .records(document.intervals().flat_map(lines))
}

fn lines(interval: &Interval) -> impl Iterator<Item = Line<'_>> {
    interval.hooks.iter().flat_map(move |hook| {
        let line = move |system_call, calls| Line {
            interval,
            hook,
            system_call,
            calls,
        };
        let each = hook.system_calls.iter();
        let each = each.map(move |call| line(call.system_call.as_str(), &call.calls));
        std::iter::once(line(ALL, &hook.calls)).chain(each)
    })
}
