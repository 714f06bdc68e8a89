// SPDX-License-Identifier: GPL-2.0-or-later
//! Bars as SVG.

use super::model::{Bar, Bars, Figure};
use super::pen::{CHARACTER, COLOURS, GRID, INK, MARGIN, Sheet, WIDTH};
use super::pen::{rectangle, stroke, text, tip};
use super::scale::Scale;
use crate::format;
use crate::text::printable;

/// Most categories that are drawn.
pub(super) const CATEGORIES_LIMIT: usize = 120;
const BAR: f64 = 9.0;
const STACKED_BAR: f64 = 15.0;
const GAP: f64 = 7.0;
/// Longest label of a category, in characters.
const LABEL: usize = 34;

pub(super) fn svg(figure: &Figure, bars: &Bars) -> String {
    let categories = bars.categories.len().min(CATEGORIES_LIMIT);
    let drawn: Vec<&Bar> = bars
        .bars
        .iter()
        .filter(|bar| bar.category < categories)
        .collect();
    let mut sheet = Sheet::new(figure);
    let colour = |series: usize| COLOURS[bars.colour(series) % COLOURS.len()];
    let names = bars.series.iter().enumerate();
    let names: Vec<_> = names.map(|(at, name)| (name.clone(), colour(at))).collect();
    sheet.legend(&names);
    let labels: Vec<String> = bars.categories[..categories]
        .iter()
        .map(|label| printable(label, LABEL))
        .collect();
    let longest = labels.iter().map(|label| label.chars().count()).max();
    let left = MARGIN + 8.0 + longest.unwrap_or(0) as f64 * CHARACTER;
    let right = WIDTH - 3.0 * MARGIN;
    let (row, bar_height) = match bars.stacked {
        true => (STACKED_BAR + GAP, STACKED_BAR),
        false => (BAR * bars.series.len().max(1) as f64 + GAP, BAR),
    };
    let top = sheet.height + 4.0;
    let low = top + row * categories as f64;
    let placed = placed(&drawn, bars.stacked, categories);
    let reach = placed.iter().flat_map(|(bar, from)| {
        let [a, b] = bar.interval.unwrap_or([bar.value, bar.value]);
        [*from, from + bar.value, a, b]
    });
    let x = Scale::of(reach, left, right);
    for (figure, label) in x.ticks() {
        let at = x.place(figure);
        sheet.add(stroke([at, top], [at, low], GRID));
        sheet.add(text(&label, at, low + 15.0).set("text-anchor", "middle"));
    }
    for (at, label) in labels.iter().enumerate() {
        let middle = top + row * (at as f64 + 0.5) + 4.0;
        sheet.add(text(label, left - 6.0, middle).set("text-anchor", "end"));
    }
    for (bar, from) in placed {
        let slot = if bars.stacked { 0 } else { bar.series };
        let y = top + row * bar.category as f64 + GAP / 2.0 + BAR * slot as f64;
        let (a, b) = (x.place(from), x.place(from + bar.value));
        let mut shape = rectangle(
            [a.min(b), y],
            [(b - a).abs(), bar_height - 1.0],
            colour(bar.series),
        );
        shape = shape.add(tip(&told(bars, bar)));
        sheet.add(shape);
        if let Some([a, b]) = bar.interval.filter(|_| !bars.stacked) {
            let (a, b, y) = (x.place(a), x.place(b), y + bar_height / 2.0 - 0.5);
            sheet.add(stroke([a, y], [b, y], INK));
            for end in [a, b] {
                sheet.add(stroke([end, y - 2.5], [end, y + 2.5], INK));
            }
        }
    }
    sheet.add(stroke([x.place(0.0), top], [x.place(0.0), low], INK));
    let axis = text(&bars.axis, (left + right) / 2.0, low + 32.0);
    sheet.add(axis.set("text-anchor", "middle"));
    sheet.height = low + 40.0;
    sheet.finish(figure)
}

/// Bars, each with where it begins.
fn placed<'a>(bars: &[&'a Bar], stacked: bool, categories: usize) -> Vec<(&'a Bar, f64)> {
    let mut ends = vec![0.0; categories];
    let place = |bar: &&'a Bar| {
        let from = if stacked { ends[bar.category] } else { 0.0 };
        ends[bar.category] += bar.value;
        (*bar, from)
    };
    bars.iter().map(place).collect()
}

/// A bar in words.
fn told(bars: &Bars, bar: &Bar) -> String {
    let of = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
    let mut told = format!(
        "{}, {}: {}",
        of(&bars.categories, bar.category),
        of(&bars.series, bar.series),
        format::figure(bar.value)
    );
    if let Some([low, high]) = bar.interval {
        told += &format!(" ({} to {})", format::figure(low), format::figure(high));
    }
    told
}
