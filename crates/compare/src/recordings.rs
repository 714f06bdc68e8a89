// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording's functions as items.

use std::collections::HashMap;

use crate::judge::Measured;
use model::{Document, Interval, Key, Metric, Monitoring, Subject, WatchedHook};
use stats::bootstrap::SAMPLES_MIN;

use crate::doubt::doubts;
use crate::item::Item;

/// Whether both are recordings of a command, so that calls are counts of the same work.
pub(crate) fn are_of_commands(base: &Document, new: &Document) -> bool {
    let mut monitors = [base, new].into_iter().map(|document| &document.monitor);
    monitors.all(|monitor| monitor.as_ref().is_some_and(Monitoring::is_of_command))
}

/// Calls and time per call of each function. A command's calls are counts. Calls of a machine, a
/// process or a group are rates, with one sample per interval; so are times.
pub(crate) fn items(document: &Document, by_command: bool) -> Vec<Item> {
    let Some(first) = document.cells.first() else {
        return Vec::new();
    };
    let total = document.all_intervals();
    let intervals: Vec<ByFunction<'_>> = document.intervals().map(ByFunction::new).collect();
    let mut items = Vec::new();
    for hook in &total.hooks {
        let name = (hook.hook.as_str(), hook.function.as_str());
        let (metric, calls) = if by_command {
            (Metric::Calls, Measured::exact(hook.calls.count as f64))
        } else {
            (Metric::CallRate, rate(hook, &total, &intervals, name))
        };
        let mut push = |metric, measured| {
            items.push(Item {
                // All intervals are from one machine.
                key: Key {
                    subject: Subject::benchmark(&hook.function, ""),
                    metric,
                    ..first.key.clone()
                },
                detail: hook.module.clone().unwrap_or_default(),
                measured,
                doubts: doubts(&document.warnings, 0, metric, false),
                position: 0,
            });
        };
        push(metric, calls);
        if let Some(times) = times(hook, &intervals, name) {
            push(Metric::CallTime, times);
        }
    }
    items
}

struct ByFunction<'a> {
    seconds: f64,
    hooks: HashMap<(&'a str, &'a str), &'a WatchedHook>,
}

impl<'a> ByFunction<'a> {
    fn new(interval: &'a Interval) -> ByFunction<'a> {
        let hooks = interval.hooks.iter();
        ByFunction {
            seconds: interval.seconds,
            hooks: hooks
                .map(|hook| ((hook.hook.as_str(), hook.function.as_str()), hook))
                .collect(),
        }
    }
}

fn rate(
    hook: &WatchedHook,
    total: &Interval,
    intervals: &[ByFunction<'_>],
    name: (&str, &str),
) -> Measured {
    let rates: Vec<f64> = (intervals.iter())
        .filter(|interval| interval.seconds > 0.0)
        .map(|interval| {
            let found = interval.hooks.get(&name);
            found.map_or(0.0, |hook| hook.calls.count as f64) / interval.seconds
        })
        .collect();
    samples(rates, hook.calls.count as f64 / total.seconds)
}

fn times(hook: &WatchedHook, intervals: &[ByFunction<'_>], name: (&str, &str)) -> Option<Measured> {
    let means = intervals
        .iter()
        .filter_map(|interval| interval.hooks.get(&name)?.calls.mean_ns())
        .collect();
    Some(samples(means, hook.calls.mean_ns()?))
}

fn samples(samples: Vec<f64>, whole: f64) -> Measured {
    let n = samples.len();
    if n >= SAMPLES_MIN {
        return Measured::of_samples(samples);
    }
    if !whole.is_finite() {
        return Measured::missing(model::Status::Failed, Some("its calls took no time"));
    }
    Measured {
        exact: false,
        n: Some(n as u64),
        reason: Some(format!(
            "only {n} intervals: record at least {SAMPLES_MIN} (--interval)"
        )),
        ..Measured::exact(whole)
    }
}
