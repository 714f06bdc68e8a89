// SPDX-License-Identifier: GPL-2.0-or-later
//! Layout of bar charts.

use super::model::{Bar, Bars};
use super::scale::Scale;
use super::sheet::{CHARACTER, COLOURS, INK, MARGIN};
use super::sheet::{Look, Mark, Sheet, rectangle, strokes, text};
use crate::format;
use crate::text::printable;

pub(super) const CATEGORIES_LIMIT: usize = 120;
const BAR: f64 = 9.0;
const STACKED_BAR: f64 = 15.0;
const GAP: f64 = 7.0;
const LABEL: usize = 44;
/// Share of the width that labels may take.
const LABELS: f64 = 0.4;

pub(super) fn draw(sheet: &mut Sheet, bars: &Bars) {
    let categories = &bars.categories[..bars.categories.len().min(CATEGORIES_LIMIT)];
    let colour = |series: usize| COLOURS[bars.colour(series) % COLOURS.len()];
    sheet.legend(bars.series.iter().cloned(), |at, [x, y]| {
        rectangle([x + 5.0, y - 6.0], [12.0, 12.0], colour(at), None)
    });
    let limit = LABEL.min((sheet.width * LABELS / CHARACTER) as usize);
    let labels = categories.iter().map(|label| printable(label, limit));
    let labels: Vec<String> = labels.collect();
    let longest = labels.iter().map(|label| label.chars().count()).max();
    let left = MARGIN + 8.0 + longest.unwrap_or(0) as f64 * CHARACTER;
    let (row, thick) = match bars.stacked {
        true => (STACKED_BAR + GAP, STACKED_BAR),
        false => (BAR * bars.series.len().max(1) as f64 + GAP, BAR),
    };
    let top = sheet.height + 4.0;
    let low = top + row * categories.len() as f64;
    let placed = placed(bars, categories.len());
    let reach = placed.iter().flat_map(|(bar, from)| {
        let [a, b] = bar.interval.unwrap_or([bar.value, bar.value]);
        [*from, from + bar.value, a, b]
    });
    let x = Scale::new(reach, left, sheet.width - 3.0 * MARGIN);
    sheet.horizontal(&x, &bars.axis, [top, low]);
    for (at, label) in labels.iter().enumerate() {
        let middle = top + row * (at as f64 + 0.5) + 4.0;
        sheet.add(text(label, [left - 6.0, middle], Look::anchored("end")));
    }
    for (at, name) in bars.series.iter().enumerate() {
        let own = placed.iter().filter(|(bar, _)| bar.series == at);
        let marks = own.map(|(bar, from)| {
            let slot = if bars.stacked { 0 } else { bar.series };
            let y = top + row * bar.category as f64 + GAP / 2.0 + BAR * slot as f64;
            let (a, b) = (x.place(*from), x.place(from + bar.value));
            let size = [(b - a).abs(), thick - 1.0];
            let mut shapes = vec![rectangle([a.min(b), y], size, colour(at), None)];
            if let Some([a, b]) = bar.interval.filter(|_| !bars.stacked) {
                let (a, b, y) = (x.place(a), x.place(b), y + thick / 2.0 - 0.5);
                let end = |at: f64| vec![[at, y - 2.5], [at, y + 2.5]];
                shapes.push(strokes(&[vec![[a, y], [b, y]], end(a), end(b)], INK));
            }
            let label = bars.categories.get(bar.category).map_or("", String::as_str);
            Mark {
                label,
                value: bar.value,
                interval: bar.interval,
                start: None,
                tip: format!("{label}, {name}: {}", format::figure(bar.value)),
            }
            .around(&shapes)
        });
        sheet.series(at, name, &marks.collect::<Vec<_>>());
    }
    let zero = vec![[x.place(0.0), top], [x.place(0.0), low]];
    sheet.add(strokes(&[zero], INK));
}

fn placed(bars: &Bars, categories: usize) -> Vec<(&Bar, f64)> {
    let mut ends = vec![0.0; categories];
    let drawn = bars.bars.iter().filter(|bar| bar.category < categories);
    let place = drawn.map(|bar| {
        let end = &mut ends[bar.category];
        let from = if bars.stacked { *end } else { 0.0 };
        *end += bar.value;
        (bar, from)
    });
    let mut placed: Vec<(&Bar, f64)> = place.collect();
    placed.sort_by_key(|(bar, _)| bar.category);
    placed
}
