// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of recordings.

use std::cmp::Reverse;

use model::{Document, Interval, Monitoring, WatchedHook};

use super::Draft;
use crate::figure::model::drawable;
use crate::figure::{Bars, Chart, Lines, Point, Series};
use crate::monitor::framework;
use crate::text::short;

const HOOKS_SHOWN: usize = 25;
const LINES_SHOWN: usize = 8;
const POINTS_LIMIT: usize = 2_000;

pub(super) fn drafts(document: &Document, monitor: &Monitoring) -> Vec<Draft> {
    let total = document.all_intervals();
    let place = format!("{}, {}", short(&monitor.scope), short(&monitor.release));
    let calls = |hook: &WatchedHook| Some(hook.calls.count as f64);
    let time = |hook: &WatchedHook| Some(hook.calls.sum_ns? as f64 / 1_000.0);
    let [calls, time] = [
        bars(&total, ["calls", "Calls by hook", "calls"], &place, calls),
        bars(
            &total,
            ["time", "Time inside hooks", "µs in all calls"],
            &place,
            time,
        ),
    ];
    let drafts = [calls, time].into_iter();
    drafts.chain(over_time(document, &total, &place)).collect()
}

fn bars(
    total: &Interval,
    [base, title, axis]: [&'static str; 3],
    place: &str,
    value: impl Fn(&WatchedHook) -> Option<f64>,
) -> Draft {
    let mut hooks: Vec<(&WatchedHook, f64)> = framework(total)
        .filter_map(|hook| Some((hook, value(hook).filter(|v| drawable(*v))?)))
        .collect();
    hooks.sort_by(|one, other| other.1.total_cmp(&one.1));
    let more = hooks.len().saturating_sub(HOOKS_SHOWN);
    let mut bars = Bars::new(axis, "hook", "what");
    for (hook, value) in hooks.iter().take(HOOKS_SHOWN) {
        bars.add(&hook.hook, axis, *value);
    }
    Draft::new(
        base,
        format!("{title}: {place}"),
        &format!("Bars: {axis} for each hook, the most first."),
        Chart::Bars(bars),
    )
    .noted((more > 0).then(|| format!("{more} more hooks were called less.")))
}

fn over_time(document: &Document, total: &Interval, place: &str) -> Option<Draft> {
    let intervals: Vec<&Interval> = document.intervals().collect();
    if intervals.len() < 2 {
        return None;
    }
    let mut hooks: Vec<&WatchedHook> = framework(total).collect();
    hooks.sort_by_key(|hook| Reverse(hook.calls.count));
    let every = intervals.len().div_ceil(POINTS_LIMIT);
    let point = |interval: &Interval, name: &str| {
        let mut own = framework(interval);
        let found = own.find(|hook| hook.hook == name);
        let calls = found.map_or(0, |hook| hook.calls.count);
        let point = Point {
            x: interval.begin_s,
            y: calls as f64 / interval.seconds,
            interval: None,
        };
        (drawable(point.x) && drawable(point.y)).then_some(point)
    };
    let line = |hook: &&WatchedHook| Series {
        label: short(&hook.hook),
        figure: String::new(),
        points: intervals
            .iter()
            .step_by(every)
            .filter_map(|interval| point(interval, &hook.hook))
            .collect(),
        fit: None,
    };
    let note = (every > 1).then(|| format!("One of {every} intervals is drawn."));
    let draft = Draft::new(
        "intervals",
        format!("Calls over time: {place}"),
        &format!(
            "Lines: calls a second of the {LINES_SHOWN} hooks called most, over the intervals of \
             the recording."
        ),
        Chart::Lines(Lines {
            x: "seconds after the start".to_owned(),
            y: "calls per second".to_owned(),
            kind: "hook".to_owned(),
            figure: None,
            series: hooks.iter().take(LINES_SHOWN).map(line).collect(),
        }),
    );
    Some(draft.noted(note))
}
