// SPDX-License-Identifier: GPL-2.0-or-later
//! Flame graphs as SVG.

use super::model::{Figure, Flame, Frame};
use super::pen::{CHARACTER, MARGIN, PAPER, Sheet, WIDTH};
use super::pen::{rectangle, text, tip};
use crate::format;
use crate::text::printable;

const ROW: f64 = 19.0;
/// Frames narrower than this share of the whole are left out: nobody would see them.
pub(super) const NARROWEST: f64 = 1.0 / 4_000.0;
/// Depths are told apart by colour as well.
const COLOURS: [&str; 4] = ["#b8c4ce", "#f0c987", "#e8a07c", "#d98880"];

pub(super) fn svg(figure: &Figure, flame: &Flame) -> String {
    let mut sheet = Sheet::new(figure);
    let deepest = flame.frames.iter().map(|frame| frame.depth).max();
    let rows = deepest.map_or(0, |depth| depth + 1);
    let whole = flame.whole();
    let low = sheet.height + ROW * rows as f64;
    let scale = match whole > 0.0 {
        true => (WIDTH - 2.0 * MARGIN) / whole,
        false => 0.0,
    };
    for frame in &flame.frames {
        let width = frame.width * scale;
        if frame.width < whole * NARROWEST {
            continue;
        }
        let place = [
            MARGIN + frame.start * scale,
            low - ROW * (frame.depth as f64 + 1.0),
        ];
        let colour = COLOURS[frame.depth % COLOURS.len()];
        let shape = rectangle(place, [width, ROW - 1.0], colour)
            .set("stroke", PAPER)
            .set("stroke-width", "0.5")
            .add(tip(&told(flame, frame, whole)));
        sheet.add(shape);
        let fits = ((width - 6.0) / CHARACTER).max(0.0) as usize;
        if fits >= 4 {
            let label = printable(&frame.label, fits);
            // On a coloured frame the ink stays dark, whatever the paper.
            let label = text(&label, place[0] + 3.0, place[1] + 13.0);
            sheet.add(label.set("fill", "#111111"));
        }
    }
    sheet.height = low + 4.0;
    sheet.finish(figure)
}

fn told(flame: &Flame, frame: &Frame, whole: f64) -> String {
    format!(
        "{}: {} {} ({})",
        frame.label,
        format::figure(frame.width),
        flame.unit,
        format::fraction(frame.width / whole)
    )
}
