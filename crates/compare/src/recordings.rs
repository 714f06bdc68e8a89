// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording's functions as items.

use std::collections::HashMap;

use experiment::comparison::Quantity;
use experiment::{AnyDocument, Interval, MonitorDocument, WatchedHook};
use stats::bootstrap::SAMPLES_MIN;

use crate::doubt::Doubts;
use crate::item::{Evidence, Item, Key, Setup};

/// Are both recordings of a command? Then their calls are counts of the same work.
pub(crate) fn are_of_commands(base: &AnyDocument, new: &AnyDocument) -> bool {
    [base, new].iter().all(|document| match document {
        AnyDocument::Monitor(recording) => recording.monitor.is_of_command(),
        _ => false,
    })
}

/// How often each function was called, and how long a call took. Calls of a command are
/// counted; those of a machine, a process or a group are a rate, as are times, with each
/// interval as a sample.
pub(crate) fn items(document: &MonitorDocument, by_command: bool) -> Vec<Item> {
    let doubts = Doubts::of(&document.warnings);
    let total = document.total();
    let intervals: Vec<ByFunction<'_>> = document.intervals.iter().map(ByFunction::of).collect();
    let mut items = Vec::new();
    for hook in &total.hooks {
        let name = (hook.hook.as_str(), hook.function.as_str());
        let (quantity, calls) = if by_command {
            (Quantity::Calls, Evidence::exact(hook.calls.count as f64))
        } else {
            (Quantity::CallRate, rate(hook, &total, &intervals, name))
        };
        let mut push = |quantity, evidence| {
            items.push(Item {
                key: key(document, hook, quantity),
                evidence,
                doubts: doubts.of_position(0, quantity, false),
                position: 0,
            });
        };
        push(quantity, calls);
        if let Some(times) = times(hook, &intervals, name) {
            push(Quantity::CallTime, times);
        }
    }
    items
}

/// An interval's functions by name.
struct ByFunction<'a> {
    seconds: f64,
    hooks: HashMap<(&'a str, &'a str), &'a WatchedHook>,
}

impl<'a> ByFunction<'a> {
    fn of(interval: &'a Interval) -> ByFunction<'a> {
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
) -> Evidence {
    let rates: Vec<f64> = (intervals.iter())
        .filter(|interval| interval.seconds > 0.0)
        .map(|interval| {
            let found = interval.hooks.get(&name);
            found.map_or(0.0, |hook| hook.calls.count as f64) / interval.seconds
        })
        .collect();
    samples(rates, hook.calls.count as f64 / total.seconds)
}

fn times(hook: &WatchedHook, intervals: &[ByFunction<'_>], name: (&str, &str)) -> Option<Evidence> {
    let means = intervals
        .iter()
        .filter_map(|interval| interval.hooks.get(&name)?.calls.mean_ns())
        .collect();
    Some(samples(means, hook.calls.mean_ns()?))
}

/// Intervals as samples, if they are enough; else the figure of the whole.
fn samples(samples: Vec<f64>, whole: f64) -> Evidence {
    let n = samples.len();
    if n >= SAMPLES_MIN {
        return Evidence::of_samples(samples);
    }
    if !whole.is_finite() {
        return Evidence::missing(experiment::Status::Failed, Some("it took no time"));
    }
    Evidence {
        exact: false,
        n: Some(n as u64),
        reason: Some(format!(
            "{n} intervals are too few: record at least {SAMPLES_MIN} (--interval)"
        )),
        ..Evidence::exact(whole)
    }
}

fn key(document: &MonitorDocument, hook: &WatchedHook, quantity: Quantity) -> Key {
    Key {
        kernel: document.monitor.release.clone(),
        configuration: Setup::of_stack(document.monitor.active_lsms.join(",")),
        filesystem: String::new(),
        benchmark: hook.function.clone(),
        variant: String::new(),
        detail: hook.module.clone().unwrap_or_default(),
        quantity,
    }
}
