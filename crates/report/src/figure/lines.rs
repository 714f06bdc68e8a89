// SPDX-License-Identifier: GPL-2.0-or-later
//! Lines through points as SVG.

use super::model::{Figure, Lines, Point, Series};
use super::pen::{COLOURS, DASHED_FROM, GRID, INK, MARGIN, Sheet, WIDTH};
use super::pen::{dot, stroke, text, through, tip};
use super::scale::Scale;
use crate::format;

/// Most lines that differ from each other at a glance.
pub(super) const SERIES_LIMIT: usize = COLOURS.len();
const PLOT: f64 = 300.0;
const LEFT: f64 = 74.0;

pub(super) fn svg(figure: &Figure, lines: &Lines) -> String {
    let shown = &lines.series[..lines.series.len().min(SERIES_LIMIT)];
    let mut sheet = Sheet::new(figure);
    let colour = |at: usize| COLOURS[at % COLOURS.len()];
    let names: Vec<(String, &str)> = shown
        .iter()
        .enumerate()
        .map(|(at, line)| (legend(lines, line), colour(at)))
        .collect();
    sheet.legend(&names);
    let (top, low) = (sheet.height + 6.0, sheet.height + 6.0 + PLOT);
    let right = WIDTH - 3.0 * MARGIN;
    let points = || shown.iter().flat_map(|line| &line.points);
    let fits = || shown.iter().filter_map(|line| line.fit).flatten();
    let x = points()
        .map(|point| point.x)
        .chain(fits().map(|end| end[0]));
    let x = Scale::of(x, LEFT, right);
    let heights = points().flat_map(|point| {
        let [a, b] = point.interval.unwrap_or([point.y; 2]);
        [point.y, a, b]
    });
    let y = Scale::of(heights.chain(fits().map(|end| end[1])), low, top);
    for (figure, label) in x.ticks() {
        let at = x.place(figure);
        sheet.add(stroke([at, top], [at, low], GRID));
        sheet.add(text(&label, at, low + 16.0).set("text-anchor", "middle"));
    }
    for (figure, label) in y.ticks() {
        let at = y.place(figure);
        sheet.add(stroke([LEFT, at], [right, at], GRID));
        sheet.add(text(&label, LEFT - 6.0, at + 4.0).set("text-anchor", "end"));
    }
    sheet.add(stroke([LEFT, top], [LEFT, low], INK));
    sheet.add(stroke([LEFT, y.place(0.0)], [right, y.place(0.0)], INK));
    let below = text(&lines.x, (LEFT + right) / 2.0, low + 34.0);
    sheet.add(below.set("text-anchor", "middle"));
    let beside = text(&lines.y, 0.0, 0.0).set("text-anchor", "middle");
    let turned = format!("translate(14 {}) rotate(-90)", (low + top) / 2.0);
    sheet.add(beside.set("transform", turned));
    for (at, line) in shown.iter().enumerate() {
        let place = |[a, b]: [f64; 2]| [x.place(a), y.place(b)];
        let path: Vec<[f64; 2]> = match line.fit {
            Some(fit) => fit.map(place).into(),
            None => line.points.iter().map(|p| place([p.x, p.y])).collect(),
        };
        if path.len() > 1 {
            let dashes = if at < DASHED_FROM { "none" } else { "6 4" };
            sheet.add(through(&path, colour(at), dashes));
        }
        for point in &line.points {
            if let Some([a, b]) = point.interval {
                sheet.add(stroke(place([point.x, a]), place([point.x, b]), colour(at)));
            }
            let shape = dot(place([point.x, point.y]), colour(at));
            sheet.add(shape.add(tip(&told(line, point))));
        }
    }
    sheet.height = low + 42.0;
    sheet.finish(figure)
}

fn legend(lines: &Lines, line: &Series) -> String {
    match lines.figure {
        Some(what) if !line.figure.is_empty() => {
            format!("{}: {what} {}", line.label, line.figure)
        }
        _ => line.label.clone(),
    }
}

fn told(line: &Series, point: &Point) -> String {
    format!(
        "{}: {} at {}",
        line.label,
        format::figure(point.y),
        format::figure(point.x)
    )
}
