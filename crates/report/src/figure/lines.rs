// SPDX-License-Identifier: GPL-2.0-or-later
//! Layout of line charts.

use maud::{Markup, html};

use super::model::{Lines, Series};
use super::scale::Scale;
use super::sheet::{COLOURS, MARGIN, PAPER};
use super::sheet::{Mark, Sheet, path, strokes};
use crate::format;

pub(crate) const SERIES_LIMIT: usize = COLOURS.len();
/// From this series on, lines are dashed and points hollow.
const DASHED_FROM: usize = COLOURS.len() / 2;
const PLOT_SHARE: f64 = 0.375;
const PLOT_LEAST: f64 = 210.0;
const LEFT: f64 = 74.0;

/// Shapes of points, so that lines are distinguishable without colours.
const MARKERS: [&[[f64; 2]]; 6] = [
    &[[-3.2, -3.2], [3.2, -3.2], [3.2, 3.2], [-3.2, 3.2]],
    &[[0.0, -4.2], [3.9, 3.0], [-3.9, 3.0]],
    &[[0.0, -4.4], [4.4, 0.0], [0.0, 4.4], [-4.4, 0.0]],
    &[[0.0, 4.2], [3.9, -3.0], [-3.9, -3.0]],
    &[[-4.2, 0.0], [3.0, 3.9], [3.0, -3.9]],
    &[[4.2, 0.0], [-3.0, 3.9], [-3.0, -3.9]],
];

pub(super) fn draw(sheet: &mut Sheet, lines: &Lines) {
    let shown = &lines.series[..lines.series.len().min(SERIES_LIMIT)];
    let names = shown.iter().map(|line| legend(lines, line));
    sheet.legend(names, |at, [x, y]| {
        html! { (stroke(at, &[[x, y], [x + 20.0, y]])) (marker(at, [x + 10.0, y])) }
    });
    let right = sheet.width - 3.0 * MARGIN;
    let top = sheet.height + 6.0;
    let low = top + (sheet.width * PLOT_SHARE).max(PLOT_LEAST);
    let points = || shown.iter().flat_map(|line| &line.points);
    let fits = || shown.iter().filter_map(|line| line.fit).flatten();
    let widths = points().map(|point| point.x);
    let x = Scale::new(widths.chain(fits().map(|end| end[0])), LEFT, right);
    let heights = points().flat_map(|point| {
        let [a, b] = point.interval.unwrap_or([point.y; 2]);
        [point.y, a, b]
    });
    let y = Scale::new(heights.chain(fits().map(|end| end[1])), low, top);
    sheet.horizontal(&x, &lines.x, [top, low]);
    sheet.vertical(&y, &lines.y, [LEFT, right]);
    let place = |[a, b]: [f64; 2]| [x.place(a), y.place(b)];
    for (at, line) in shown.iter().enumerate() {
        let mut own = Vec::new();
        let path: Vec<[f64; 2]> = match line.fit {
            Some(fit) => fit.map(place).into(),
            None => line.points.iter().map(|p| place([p.x, p.y])).collect(),
        };
        if path.len() > 1 {
            own.push(stroke(at, &path));
        }
        own.extend(line.points.iter().map(|point| {
            let whisker = |ends: [f64; 2]| ends.map(|end| place([point.x, end])).to_vec();
            let whisker = point
                .interval
                .map(|ends| strokes(&[whisker(ends)], COLOURS[at]));
            let mut shapes = Vec::from_iter(whisker);
            shapes.push(marker(at, place([point.x, point.y])));
            let label = format::figure(point.x);
            Mark {
                label: &label,
                value: point.y,
                interval: point.interval,
                start: None,
                tip: format!("{}: {} at {label}", line.label, format::figure(point.y)),
            }
            .around(&shapes)
        }));
        sheet.series(at, &line.label, &own);
    }
}

fn stroke(series: usize, through: &[[f64; 2]]) -> Markup {
    let dashes = (series >= DASHED_FROM).then_some("6 4");
    html! {
        path d=(path(through)) fill="none" stroke=(COLOURS[series]) stroke-width="1.5"
            stroke-dasharray=[dashes] {}
    }
}

fn marker(series: usize, [x, y]: [f64; 2]) -> Markup {
    let outline = MARKERS[series % MARKERS.len()].iter();
    let corners: Vec<[f64; 2]> = outline.map(|[dx, dy]| [x + dx, y + dy]).collect();
    let colour = COLOURS[series];
    let fill = if series >= DASHED_FROM { PAPER } else { colour };
    html! { path d={ (path(&corners)) "Z" } fill=(fill) stroke=(colour) {} }
}

fn legend(lines: &Lines, line: &Series) -> String {
    match lines.figure {
        Some(what) if !line.figure.is_empty() => {
            format!("{}: {what} {}", line.label, line.figure)
        }
        _ => line.label.clone(),
    }
}
