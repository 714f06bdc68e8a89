// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of sweeps.

use model::{Document, Unit, path_depth};

use super::Draft;
use crate::figure::model::drawable;
use crate::figure::{Chart, LINES_LIMIT, Lines, Point, Series};
use crate::group::grouped;
use crate::sensitivity::{Swept, numbers, operations, swept, where_swept};
use crate::text::{printable, short};

const POINTS_LIMIT: usize = 100;
const MICROSECONDS_FROM_NS: f64 = 10_000.0;
const DESCRIPTION: &str = "Points and fitted lines: cost of operations over the delay of \
     each policy decision. The slope of a line is the number of permission checks per \
     operation.";

pub(super) fn drafts(document: &Document) -> Vec<Draft> {
    let mut drafts = over_delay(document);
    drafts.extend(by_depth(document));
    drafts
}

/// Cost over the delay of each check, per kernel, module, cache state, file system and unit.
fn over_delay(document: &Document) -> Vec<Draft> {
    let swept = swept(document);
    let groups = grouped(&swept, Swept::place);
    let mut drafts = Vec::new();
    for ((kernel, module, caches, filesystem, unit), slopes) in groups {
        let Some((lines, notes)) = panel(&slopes) else {
            continue;
        };
        let place = where_swept(&slopes);
        let title = format!("Cost by the time of each decision: {place}");
        let lines = Chart::Lines(lines);
        let draft = Draft::new("latency-over-delay", title, DESCRIPTION, lines);
        let (module, caches) = (module.as_str(), caches.as_str());
        let subjects = [kernel, module, caches, filesystem, unit.as_str()];
        drafts.push(draft.about(&subjects).noted(notes));
    }
    drafts
}

/// The highest lines of one such combination, and notes about omissions.
fn panel<'a>(slopes: &[&'a Swept<'a>]) -> Option<(Lines, Vec<String>)> {
    let unit = slopes.first()?.unit;
    let operations = operations(slopes).into_iter();
    let mut shown: Vec<&Swept<'_>> = operations
        .filter_map(|(_, parted)| parted.wholes.first().copied())
        .collect();
    if shown.is_empty() {
        return None;
    }
    let mut notes = Vec::new();
    shown.retain(|swept| {
        let drawn = fit(swept).is_some();
        if !drawn {
            let why = match swept.slope {
                Some(_) => "not drawable",
                None => swept.cell.status().as_str(),
            };
            notes.push(format!("{}: {why}.", label(swept)));
        }
        drawn
    });
    let slopes = shown.iter().filter_map(|swept| swept.slope);
    let points = slopes.flat_map(|slope| &slope.points);
    let highest = points.map(|point| point.median).fold(0.0, f64::max);
    let scaled = unit != Unit::OpsPerS && highest >= MICROSECONDS_FROM_NS;
    let y = match unit {
        Unit::Ns if scaled => "cost of an operation (µs)",
        Unit::Ns => "cost of an operation (ns)",
        Unit::Instructions if scaled => "cost of an operation (µs of 1,000 instructions)",
        Unit::Instructions => "cost of an operation (instructions)",
        Unit::OpsPerS => "operations per second",
    };
    let unit = if scaled { 1_000.0 } else { 1.0 };
    let mut series: Vec<Series> = shown.iter().filter_map(|swept| line(swept, unit)).collect();
    let height = |line: &Series| line.fit.map_or(0.0, |fit| fit[1][1]);
    let drawn = series.len().min(LINES_LIMIT);
    series[..drawn].sort_by(|one, other| height(other).total_cmp(&height(one)));
    let lines = Lines {
        x: "delay of each decision (µs)".to_owned(),
        y: y.to_owned(),
        kind: "operation".to_owned(),
        figure: Some("checks"),
        series,
    };
    Some((lines, notes))
}

fn label(swept: &Swept<'_>) -> String {
    printable(&swept.cell.title(), 36)
}

/// Ends of the fitted line, in ns of delay; None if it or a point cannot be drawn.
fn fit(swept: &Swept<'_>) -> Option<[[f64; 2]; 2]> {
    let slope = swept.slope?;
    let delays = || slope.points.iter().map(|point| point.delay_ns);
    let ends = [delays().min()?, delays().max()?].map(f64::from);
    let ends = ends.map(|delay| [delay, slope.intercept + slope.slope * delay]);
    let drawn = slope.points.iter().all(|point| drawable(point.median))
        && ends.iter().all(|end| drawable(end[1]));
    drawn.then_some(ends)
}

fn line(swept: &Swept<'_>, unit: f64) -> Option<Series> {
    let slope = swept.slope?;
    let every = slope.points.len().div_ceil(POINTS_LIMIT).max(1);
    let last = slope.points.len().saturating_sub(1);
    let points = slope.points.iter().enumerate();
    let points = points.filter(|(at, _)| at % every == 0 || *at == last);
    let points = points.map(|(_, point)| Point {
        x: f64::from(point.delay_ns) / 1_000.0,
        y: point.median / unit,
        interval: None,
    });
    Some(Series {
        label: label(swept),
        figure: numbers::decimals(slope.slope, 3),
        points: points.collect(),
        fit: Some(fit(swept)?.map(|[delay, cost]| [delay / 1_000.0, cost / unit])),
    })
}

fn by_depth(document: &Document) -> Vec<Draft> {
    let swept = swept(document);
    let drawn = |swept: &Swept<'_>| swept.slope.is_some_and(|slope| drawable(slope.slope));
    let whole = swept
        .iter()
        .filter(|swept| swept.delay.is_whole() && drawn(swept));
    // Checks per operation have no unit, so those from instructions and times share a figure.
    let groups = grouped(whole, |swept| {
        let (kernel, module, caches, filesystem, _) = swept.place();
        (kernel, module, caches, filesystem, swept.hooks())
    });
    let mut drafts = Vec::new();
    for ((kernel, module, caches, filesystem, hooks), slopes) in groups {
        let mut series = Vec::new();
        for (benchmark, slopes) in grouped(slopes, |swept| swept.operation().0) {
            let points = slopes.iter().filter_map(|swept| {
                let slope = swept.slope?;
                Some(Point {
                    x: f64::from(path_depth(swept.operation().1)?),
                    y: slope.slope,
                    interval: Some(slope.ci95).filter(|ci| ci.iter().all(|v| drawable(*v))),
                })
            });
            let mut points: Vec<Point> = points.collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            points.dedup_by_key(|point| point.x as u32);
            if points.len() > 1 {
                series.push(Series::new(short(benchmark), points));
            }
        }
        if series.is_empty() {
            continue;
        }
        let hooks = hooks.join(",");
        let draft = Draft::new(
            "decisions-by-depth",
            format!(
                "Permission checks by the depth of the path: {}, {}, {module}, {caches} caches, hooks: {}",
                short(kernel),
                short(filesystem),
                short(&hooks)
            ),
            "Lines: permission checks per operation over the number of components of its \
             path, from the slopes of a sweep.",
            Chart::Lines(Lines {
                x: "components of the path".to_owned(),
                y: "permission checks per operation".to_owned(),
                kind: "operation".to_owned(),
                figure: None,
                series,
            }),
        );
        drafts.push(draft.about(&[kernel, module.as_str(), caches.as_str(), filesystem, &hooks]));
    }
    drafts
}
