// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of recordings and placements.

use std::cmp::Reverse;

use model::placement::SyscallPlacement;
use model::{Document, Interval, Monitoring, PlacementDocument, WatchedHook};

use super::Draft;
use crate::figure::model::drawable;
use crate::figure::{Bars, Chart, Lines, Point, Series};
use crate::group::grouped;
use crate::monitor::framework;
use crate::text::short;

const HOOKS_SHOWN: usize = 25;
const LINES_SHOWN: usize = 8;
const POINTS_LIMIT: usize = 2_000;

pub(super) fn of_recording(document: &Document, monitor: &Monitoring) -> Vec<Draft> {
    let total = document.all_intervals();
    let place = format!("{}, {}", short(&monitor.scope), short(&monitor.release));
    let calls = |hook: &WatchedHook| Some(hook.calls.count as f64);
    let time = |hook: &WatchedHook| Some(hook.calls.sum_ns? as f64 / 1_000.0);
    let in_time = ["time", "Time inside hooks", "µs in all calls"];
    let mut drafts = vec![
        bars(&total, ["calls", "Calls by hook", "calls"], &place, calls),
        bars(&total, in_time, &place, time),
    ];
    drafts.extend(over_time(document, &total, &place));
    drafts
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
        &format!("Bars: {axis} for each hook, in descending order."),
        Chart::Bars(bars),
    )
    .noted((more > 0).then(|| format!("{more} less frequent hooks are not shown.")))
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
    let line = |hook: &&WatchedHook| {
        let drawn = intervals.iter().step_by(every);
        let points = drawn.filter_map(|interval| point(interval, &hook.hook));
        Series::new(short(&hook.hook), points.collect())
    };
    let note = (every > 1).then(|| format!("One of {every} intervals is drawn."));
    let draft = Draft::new(
        "intervals",
        format!("Calls over time: {place}"),
        &format!(
            "Lines: calls per second of the {LINES_SHOWN} most frequent hooks, over the intervals of \
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

const DEPTHS: [(u32, &str); 2] = [(1, "path of 1 component"), (8, "path of 8 components")];

pub(super) fn of_placement(document: &PlacementDocument) -> Vec<Draft> {
    let version = short(&document.version);
    let mut drafts = vec![modules(document, &version)];
    for (fs, calls) in grouped(&document.syscalls, |call| call.filesystem.as_str()) {
        drafts.push(reach(&calls, fs, &version));
    }
    drafts
}

fn modules(document: &PlacementDocument, version: &str) -> Draft {
    let mut bars = Bars::new("hooks", "module", "category");
    bars.stacked = true;
    for module in &document.modules {
        bars.category(&module.module);
        for (name, hooks) in &module.categories {
            bars.add(&module.module, name, f64::from(*hooks));
        }
    }
    Draft::new(
        "modules",
        format!("Hooks that modules implement, by category: Linux {version}"),
        "Stacked bars: hooks of each category that each module of the tree implements.",
        Chart::Bars(bars),
    )
    .about(&[&document.version])
}

fn reach(calls: &[&SyscallPlacement], fs: &str, version: &str) -> Draft {
    let fs_title = short(fs);
    let mut bars = Bars::new("hook calls on the success path", "system call", "path");
    let mut unbounded = 0;
    for call in calls {
        let title = call.title();
        bars.category(&title);
        for (depth, path) in DEPTHS {
            let counts = call.hooks.iter().map(|hook| hook.success_path.at(depth, 0));
            match counts.sum::<Option<u64>>() {
                Some(sum) => {
                    bars.add(&title, path, sum as f64);
                }
                None => unbounded += 1,
            }
        }
    }
    Draft::new(
        "reach",
        format!("Hook calls on success paths: Linux {version}, {fs_title}"),
        "Bars: hook calls of each system call on its success path, for a short and a long path \
         without symbolic links, from the sources alone.",
        Chart::Bars(bars),
    )
    .about(&[fs])
    .noted((unbounded > 0).then(|| format!("{unbounded} counts have no bound and are not drawn.")))
}
