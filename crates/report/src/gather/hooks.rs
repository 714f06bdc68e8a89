// SPDX-License-Identifier: GPL-2.0-or-later
//! The hooks of operations: as stacked bars, and as a flame graph.

use std::collections::HashMap;

use model::{Cell, Document, HookCost, HookedPath, Metric};

use super::Draft;
use crate::cells::{operation, operation_title};
use crate::figure::{Bar, Bars, Chart, Flame, Frame};
use crate::group::{grouped, most_expensive_first};
use crate::table::TEXT_LIMIT;
use crate::text::{printable, short};

const HOOKS_SHOWN: usize = 11;
const FRAMES_LIMIT: usize = 5_000;

pub(super) struct Operation<'a> {
    pub(super) title: String,
    pub(super) total: u64,
    pub(super) hooks: &'a [HookCost],
}

pub(super) fn drafts(
    operations: &[Operation<'_>],
    place: &str,
    stack: &str,
    metric: Metric,
    subjects: &[&str],
) -> Vec<Draft> {
    let unit = metric.unit();
    if operations
        .iter()
        .all(|operation| operation.hooks.is_empty())
    {
        return Vec::new();
    }
    let subjects = [subjects, &[stack]].concat();
    let stack = printable(stack, 3 * TEXT_LIMIT);
    let (flame, left_out) = flame(operations, unit);
    let draft = |base, title: &str, description: &str, chart| {
        let title = format!("{title}: {stack}, {place}");
        Draft::new(base, title, description, chart).about(&subjects)
    };
    vec![
        draft(
            "hooks",
            &format!("{} inside LSM hooks by operation", capitalised(unit)),
            &format!(
                "Stacked bars: {unit} of each hook, by operation; calls from inside other hooks not \
                 counted again."
            ),
            Chart::Bars(stacked(operations, unit, false)),
        ),
        draft(
            "hook-shares",
            "Share of operations inside LSM hooks",
            &format!(
                "Stacked bars: share of the {unit} in each hook, by operation; calls from inside \
                 other hooks are not counted again."
            ),
            Chart::Bars(stacked(operations, unit, true)),
        ),
        draft(
            "flame",
            &format!("{} of operations, by hook", capitalised(unit)),
            "Flame graph, from bottom to top: all operations, each operation, its hooks, and the \
             modules' functions. A frame without another above it is the operation's cost outside hooks, \
             or the hook's own cost.",
            Chart::Flame(flame),
        )
        .noted(["Modules are shown for hooks that no other hook called.".to_owned()])
        .noted((left_out > 0).then(|| format!("{left_out} more operations are left out."))),
    ]
}

fn capitalised(unit: &str) -> String {
    let (first, rest) = unit.split_at(1);
    first.to_uppercase() + rest
}

fn stacked(operations: &[Operation<'_>], unit: &str, shares: bool) -> Bars {
    let mut totals: HashMap<&str, u64> = HashMap::new();
    for hook in operations.iter().flat_map(|operation| operation.hooks) {
        let total = totals.entry(hook.hook.as_str()).or_default();
        *total = total.saturating_add(hook.outermost);
    }
    let mut hooks = most_expensive_first(totals.into_iter().filter(|(_, n)| *n > 0));
    let others = hooks.len() > HOOKS_SHOWN;
    hooks.truncate(HOOKS_SHOWN);
    let mut series: Vec<String> = hooks.iter().map(|hook| short(hook)).collect();
    series.extend(others.then(|| "all other hooks".to_owned()));
    let mut bars = Vec::new();
    for (category, operation) in operations.iter().enumerate() {
        let mut values = vec![0u64; series.len()];
        for hook in operation.hooks {
            let at = hooks.iter().position(|name| *name == hook.hook);
            if let Some(value) = values.get_mut(at.unwrap_or(HOOKS_SHOWN)) {
                *value = value.saturating_add(hook.outermost);
            }
        }
        let parts = values.into_iter().enumerate().filter(|(_, n)| *n > 0);
        let whole = operation.total.max(1) as f64;
        let length = |n: u64| match shares {
            true => 100.0 * n as f64 / whole,
            false => n as f64,
        };
        bars.extend(parts.map(|(series, n)| Bar::new(category, series, length(n), None)));
    }
    let axis = match shares {
        true => format!("% of the operation's {unit}"),
        false => format!("{unit} inside hooks"),
    };
    let titles = operations.iter().map(|operation| operation.title.clone());
    Bars {
        categories: titles.collect(),
        series,
        bars,
        stacked: true,
        ..Bars::new(&axis, "operation", "hook")
    }
}

fn flame(operations: &[Operation<'_>], unit: &str) -> (Flame, usize) {
    let mut room = FRAMES_LIMIT;
    let fits = |operation: &&Operation<'_>| {
        let own = |hook: &HookCost| 1 + hook.implementations.len();
        let frames = 1 + operation.hooks.iter().map(own).sum::<usize>();
        let fits = frames <= room;
        room = room.saturating_sub(frames);
        fits
    };
    let shown: Vec<&Operation<'_>> = operations.iter().take_while(fits).collect();
    let whole: f64 = shown.iter().map(|operation| operation.total as f64).sum();
    let frame = |label: &str, depth, start, width: f64| Frame {
        label: short(label),
        depth,
        start,
        width,
    };
    let mut frames = vec![frame("all operations", 0, 0.0, whole)];
    let mut start = 0.0;
    for operation in &shown {
        frames.push(frame(&operation.title, 1, start, operation.total as f64));
        let mut from = start;
        for hook in operation.hooks.iter().filter(|hook| hook.outermost > 0) {
            frames.push(frame(&hook.function, 2, from, hook.outermost as f64));
            let mut above = from;
            let inner = hook.implementations.iter();
            let inner: u128 = inner.map(|own| u128::from(own.inclusive)).sum();
            // For nested calls the implementing modules are unknown.
            if hook.outermost == hook.inclusive && inner <= u128::from(hook.inclusive) {
                for own in hook.implementations.iter().filter(|own| own.inclusive > 0) {
                    frames.push(frame(&own.function, 3, above, own.inclusive as f64));
                    above += own.inclusive as f64;
                }
            }
            from += hook.outermost as f64;
        }
        start += operation.total as f64;
    }
    let flame = Flame {
        unit: unit.to_owned(),
        frames,
    };
    (flame, operations.len() - shown.len())
}

pub(super) fn of_profiles(document: &Document) -> Vec<Draft> {
    // Without a dominant path, the hooks have little meaning.
    let titled = { document.hooked() }
        .filter(|(_, counted, _)| counted.is_comparable())
        .map(|(cell, _, path)| (cell.configuration_title(), cell, path));
    let titled: Vec<(String, &Cell, &HookedPath)> = titled.collect();
    let groups = grouped(&titled, |(title, cell, _)| {
        let key = &cell.key;
        (key.kernel.as_str(), key.filesystem.as_str(), title.as_str())
    });
    let mut of_profiles = Vec::new();
    for ((kernel, filesystem, stack), cells) in groups {
        let operations = cells.iter().map(|(_, cell, path)| Operation {
            title: operation_title(operation(cell)),
            total: path.total,
            hooks: &path.hooks,
        });
        let operations: Vec<Operation<'_>> = operations.collect();
        let place = format!("{}, {}", short(kernel), short(filesystem));
        let (metric, subjects) = (cells[0].1.key.metric, [kernel, filesystem]);
        of_profiles.extend(drafts(&operations, &place, stack, metric, &subjects));
    }
    of_profiles
}
