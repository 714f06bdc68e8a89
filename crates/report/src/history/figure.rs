// SPDX-License-Identifier: GPL-2.0-or-later
//! Series as figures: how far each is from its first run, level by level.

use experiment::{History, Series};

use super::{groups, run_name, title};
use crate::figure::model::drawable;
use crate::figure::{Chart, Figure, Lines, Point, Series as Line};
use crate::format::percent;
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// One figure for each kernel, file system, metric and machine: each series that changed
/// (or every one) in per cent of its first figure, a line for each level. None for a group
/// without any.
pub fn history_figures(history: &History, unchanged: bool) -> Vec<Figure> {
    let groups = groups(history);
    let figures = groups.iter().enumerate();
    figures
        .filter_map(|(position, (_, series))| {
            let name = match groups.len() {
                1 => "history".to_owned(),
                _ => format!("history-{}", position + 1),
            };
            figure(history, series, unchanged, name)
        })
        .collect()
}

fn figure(history: &History, series: &[&Series], unchanged: bool, name: String) -> Option<Figure> {
    let shown = series
        .iter()
        .filter(|series| unchanged || !series.changes.is_empty());
    let lines: Vec<Line> = shown.flat_map(|series| levels(history, series)).collect();
    if lines.is_empty() {
        return None;
    }
    let last = history.runs.len();
    Some(Figure {
        name,
        title: title(series),
        description: "Each series in per cent of its first figure, in the order of runs. Between \
                      two changes of level the points lie about a line at their median; each \
                      level is named by the run with which it began."
            .to_owned(),
        chart: Chart::Lines(Lines {
            x: format!("run, 1 to {last}"),
            y: "cost against the first run (%), more is worse".to_owned(),
            kind: "operation and configuration".to_owned(),
            figure: Some("level"),
            series: lines,
        }),
        notes: Vec::new(),
    })
}

/// A line for each level of a series.
fn levels(history: &History, series: &Series) -> Vec<Line> {
    let Some(first) = series.points.first().map(|point| point.figure) else {
        return Vec::new();
    };
    let direction = series.metric.direction();
    let cost = |figure: f64| {
        let cost = stats::overhead(figure, first, direction)? * 100.0;
        drawable(cost).then_some(cost)
    };
    let changes = series.changes.iter().map(|change| change.point as usize);
    let mut starts: Vec<usize> = std::iter::once(0).chain(changes).collect();
    starts.push(series.points.len());
    let mut lines = Vec::new();
    for (level, bounds) in starts.windows(2).enumerate() {
        let points: Vec<Point> = series.points[bounds[0]..bounds[1]]
            .iter()
            .filter_map(|point| {
                let interval = point.interval.and_then(|[low, high]| {
                    let (low, high) = (cost(low)?, cost(high)?);
                    Some([low.min(high), low.max(high)])
                });
                Some(Point {
                    x: f64::from(point.run) + 1.0,
                    y: cost(point.figure)?,
                    interval,
                })
            })
            .collect();
        let median = match level {
            0 => series.changes.first().map(|change| change.before),
            _ => series.changes.get(level - 1).map(|change| change.after),
        };
        let median = median.or_else(|| series.points.first().map(|point| point.figure));
        let ends = points.first().zip(points.last());
        let fit = ends
            .zip(median.and_then(cost))
            .map(|((from, to), height)| [[from.x, height], [to.x, height]]);
        let mut label = printable(&series.title(), TEXT_LIMIT);
        label += &format!(", {}", printable(&series.configuration, TEXT_LIMIT));
        if level > 0 {
            let since = u32::try_from(bounds[0]).unwrap_or(u32::MAX);
            label += &format!(", since {}", run_name(history, series, since));
        }
        lines.push(Line {
            label,
            figure: fit.map_or_else(String::new, |fit| percent(fit[0][1] / 100.0)),
            points,
            fit,
        });
    }
    lines
}
