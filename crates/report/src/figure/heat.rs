// SPDX-License-Identifier: GPL-2.0-or-later
//! How maps of tiles are drawn.

use super::drawing::{Anchor, CHARACTER, MARGIN, WIDTH};
use super::drawing::{Element, Mark, Role, Sheet, Text};
use super::model::{Heat, Tile};
use crate::format;
use crate::text::printable;

/// Most rows that are drawn.
pub(super) const ROWS_LIMIT: usize = 400;
const ROW: f64 = 14.0;
/// Longest label of a row, in characters.
const LABEL: usize = 34;
/// From little to much, each step four times the one before: light enough for dark letters, then
/// dark enough for light ones.
const STEPS: [(&str, &str); 5] = [
    ("#dbe9f6", "1 to 3"),
    ("#a6cbe3", "4 to 15"),
    ("#5ba3cf", "16 to 63"),
    ("#1f6eb3", "64 to 255"),
    ("#083a7a", "256 and more"),
];
/// The first step on which letters are light.
const LIGHT_FROM: usize = 3;
/// Of letters on light tiles, which stay dark whatever the paper.
const DARK: &str = "#111111";
const LIGHT: &str = "#fefefe";

pub(super) fn draw(sheet: &mut Sheet, heat: &Heat) {
    key(sheet);
    let rows = &heat.rows[..heat.rows.len().min(ROWS_LIMIT)];
    let labels: Vec<String> = rows
        .iter()
        .map(|row| printable(&row.label, LABEL))
        .collect();
    let longest = labels.iter().map(|label| label.chars().count()).max();
    let left = MARGIN + 8.0 + longest.unwrap_or(0) as f64 * CHARACTER;
    let width = (WIDTH - MARGIN - left) / heat.columns.len().max(1) as f64;
    for (at, name) in heat.columns.iter().enumerate() {
        let middle = left + width * (at as f64 + 0.5);
        let name = printable(name, (width / CHARACTER) as usize);
        sheet.add(Text::new(name, middle, sheet.height + 8.0).anchored(Anchor::Middle));
    }
    let top = sheet.height + 14.0;
    for (at, (row, label)) in rows.iter().zip(labels).enumerate() {
        let base = top + ROW * at as f64 + 10.5;
        sheet.add(Text::new(label, left - 6.0, base).anchored(Anchor::End));
        if !row.note.is_empty() {
            let fits = ((WIDTH - MARGIN - left) / CHARACTER) as usize;
            sheet.add(Text::new(printable(&row.note, fits), left + 4.0, base));
        }
    }
    for (at, name) in heat.columns.iter().enumerate() {
        let own = heat
            .tiles
            .iter()
            .filter(|tile| tile.column == at && tile.row < rows.len());
        let tiles = own.map(|tile| {
            let corner = [left + width * at as f64, top + ROW * tile.row as f64];
            drawn(heat, tile, corner, width)
        });
        sheet.add(Element::Group(
            Role::Series(at, name.clone()),
            tiles.collect(),
        ));
    }
    sheet.height = top + ROW * rows.len() as f64 + 4.0;
}

/// What the colours mean. No legend of series: columns have their names above.
fn key(sheet: &mut Sheet) {
    let mut x = MARGIN;
    for (colour, name) in STEPS {
        sheet.add(Element::rectangle(
            [x + 5.0, sheet.height - 4.0],
            [12.0, 12.0],
            colour,
        ));
        sheet.add(Text::new(name, x + 23.0, sheet.height + 6.0));
        x += name.chars().count() as f64 * CHARACTER + 36.0;
    }
    sheet.height += 18.0;
}

fn drawn(heat: &Heat, tile: &Tile, [x, y]: [f64; 2], width: f64) -> Element {
    let step = step_of(tile.value);
    let text = format::figure(tile.value);
    let fill = if step < LIGHT_FROM { DARK } else { LIGHT };
    let label = Text::new(text, x + width / 2.0, y + 10.5).anchored(Anchor::Middle);
    let shapes = vec![
        Element::Rectangle {
            at: [x + 0.5, y],
            size: [width - 1.0, ROW - 1.0],
            fill: STEPS[step].0,
            edge: false,
        },
        Element::Text(Text { fill, ..label }),
    ];
    Element::Group(Role::Mark(mark(heat, tile)), shapes)
}

/// The step of a value, each of which is four times the one before.
fn step_of(value: f64) -> usize {
    let mut above = 4.0;
    let mut step = 0;
    while value >= above && step + 1 < STEPS.len() {
        step += 1;
        above *= 4.0;
    }
    step
}

fn mark(heat: &Heat, tile: &Tile) -> Mark {
    let label = heat.rows.get(tile.row).map_or("", |row| &row.label);
    let column = heat.columns.get(tile.column).map_or("", String::as_str);
    let tip = format!("{label}, {column}: {}", format::figure(tile.value));
    Mark::new(label.to_owned(), tile.value, None, tip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_what_the_legend_says() {
        let steps = [1.0, 3.0, 4.0, 15.0, 16.0, 63.0, 64.0, 255.0, 256.0, 1e9].map(step_of);
        assert_eq!(steps, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    }
}
