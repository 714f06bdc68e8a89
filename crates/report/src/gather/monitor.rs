// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of recordings.

use std::cmp::Reverse;

use model::{Document, Interval, Monitoring, WatchedHook};

use super::{Draft, bar};
use crate::figure::model::drawable;
use crate::figure::{Bars, Chart, Lines, Point, Series};
use crate::monitor::framework;
use crate::table::TEXT_LIMIT;
use crate::text::printable;

const HOOKS_SHOWN: usize = 25;
const LINES_SHOWN: usize = 8;
/// Most intervals that are drawn of each hook.
const POINTS_LIMIT: usize = 2_000;

pub(super) fn drafts(document: &Document, monitor: &Monitoring) -> Vec<Draft> {
    let total = document.all_intervals();
    let place = format!(
        "{}, {}",
        printable(&monitor.scope, TEXT_LIMIT),
        printable(&monitor.release, TEXT_LIMIT)
    );
    let mut drafts = vec![
        bars(&total, "calls", "Calls by hook", "calls", &place, |hook| {
            Some(hook.calls.count as f64)
        }),
        bars(
            &total,
            "time",
            "Time inside hooks",
            "µs in all calls",
            &place,
            |hook| Some(hook.calls.sum_ns? as f64 / 1_000.0),
        ),
    ];
    drafts.extend(over_time(document, &total, &place));
    drafts
}

fn bars(
    total: &Interval,
    base: &'static str,
    title: &str,
    axis: &str,
    place: &str,
    value: impl Fn(&WatchedHook) -> Option<f64>,
) -> Draft {
    let mut hooks: Vec<(&WatchedHook, f64)> = framework(total)
        .filter_map(|hook| Some((hook, value(hook).filter(|v| drawable(*v))?)))
        .collect();
    hooks.sort_by(|one, other| other.1.total_cmp(&one.1));
    let more = hooks.len().saturating_sub(HOOKS_SHOWN);
    hooks.truncate(HOOKS_SHOWN);
    let bars = hooks.iter().enumerate();
    let bars = bars.map(|(category, (_, value))| bar(category, 0, *value));
    let hooks = hooks.iter();
    let names = hooks.map(|(hook, _)| printable(&hook.hook, TEXT_LIMIT));
    Draft {
        base,
        subjects: Vec::new(),
        title: format!("{title}: {place}"),
        description: format!("Bars: {axis} for each hook, the most first."),
        chart: Chart::Bars(Bars {
            axis: axis.to_owned(),
            category: "hook".to_owned(),
            kind: "what".to_owned(),
            categories: names.collect(),
            series: vec![axis.to_owned()],
            colours: vec![0],
            bars: bars.collect(),
            stacked: false,
        }),
        notes: (more > 0)
            .then(|| format!("{more} more hooks were called less."))
            .into_iter()
            .collect(),
    }
}

/// Calls a second, over the intervals; None if there is only one.
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
        label: printable(&hook.hook, TEXT_LIMIT),
        figure: String::new(),
        points: intervals
            .iter()
            .step_by(every)
            .filter_map(|interval| point(interval, &hook.hook))
            .collect(),
        fit: None,
    };
    let note = (every > 1).then(|| format!("One of {every} intervals is drawn."));
    Some(Draft {
        base: "intervals",
        subjects: Vec::new(),
        title: format!("Calls over time: {place}"),
        description: format!(
            "Lines: calls a second of the {LINES_SHOWN} hooks called most, over the intervals of \
             the recording."
        ),
        chart: Chart::Lines(Lines {
            x: "seconds after the start".to_owned(),
            y: "calls per second".to_owned(),
            kind: "hook".to_owned(),
            figure: None,
            series: hooks.iter().take(LINES_SHOWN).map(line).collect(),
        }),
        notes: note.into_iter().collect(),
    })
}
