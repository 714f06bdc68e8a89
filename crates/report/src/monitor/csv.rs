// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording as CSV (RFC 4180): a row for each function and system call in each interval.

use std::io::Write;

use experiment::{Calls, Interval, MonitorDocument, WatchedHook};

use crate::csv::{CsvError, text};

/// The columns, in order. A later version may append some; it keeps these.
///
/// - `begin_s`, `seconds`: of the interval.
/// - `hook`, `function`, `module`: what was called; `module` is empty for the framework's.
/// - `system_call`: in which; `all` for all of them together.
/// - `count`, `errors`: calls, and those that returned an error.
/// - `errnos`: which errors, in rows of all system calls: `EACCES=3 ENOENT=1`.
/// - `sum_ns`, `mean_ns`, `min_ns`, `max_ns`, `p50_ns`, `p90_ns`, `p99_ns`: times; empty
///   where they are not known.
/// - `whole_count`, `whole_ns`: of the system call from entry to exit, where it was timed.
pub const MONITOR_CSV_COLUMNS: [&str; 18] = [
    "begin_s",
    "seconds",
    "hook",
    "function",
    "module",
    "system_call",
    "count",
    "errors",
    "errnos",
    "sum_ns",
    "mean_ns",
    "min_ns",
    "max_ns",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "whole_count",
    "whole_ns",
];

/// Writes a heading line, then for each function of each interval a line for all system
/// calls and one for each.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn monitor_csv(document: &MonitorDocument, writer: impl Write) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(MONITOR_CSV_COLUMNS)
        .map_err(CsvError::from)?;
    for interval in &document.intervals {
        for hook in &interval.hooks {
            out.write_record(record(interval, hook, "all", &hook.calls))?;
            for call in &hook.system_calls {
                out.write_record(record(interval, hook, &call.system_call, &call.calls))?;
            }
        }
    }
    out.flush().map_err(::csv::Error::from)?;
    Ok(())
}

fn record(
    interval: &Interval,
    hook: &WatchedHook,
    system_call: &str,
    calls: &Calls,
) -> [String; 18] {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let whole = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let errnos: Vec<String> = match system_call {
        "all" => hook
            .errnos
            .iter()
            .map(|(name, n)| format!("{name}={n}"))
            .collect(),
        _ => Vec::new(),
    };
    let percentiles = calls.percentiles_ns;
    let timed = interval.whole(system_call);
    [
        interval.begin_s.to_string(),
        interval.seconds.to_string(),
        text(&hook.hook),
        text(&hook.function),
        text(hook.module.as_deref().unwrap_or_default()),
        text(system_call),
        calls.count.to_string(),
        calls.errors.to_string(),
        text(&errnos.join(" ")),
        calls.sum_ns.map(|ns| ns.to_string()).unwrap_or_default(),
        number(calls.mean_ns()),
        whole(calls.min_ns),
        whole(calls.max_ns),
        number(percentiles.map(|p| p.p50)),
        number(percentiles.map(|p| p.p90)),
        number(percentiles.map(|p| p.p99)),
        whole(timed.map(|timed| timed.count)),
        timed
            .map(|timed| timed.sum_ns.to_string())
            .unwrap_or_default(),
    ]
}
