// SPDX-License-Identifier: GPL-2.0-or-later
//! Layout of flame graphs.

use super::model::Flame;
use super::sheet::{CHARACTER, MARGIN, PAPER};
use super::sheet::{Look, Mark, Sheet, rectangle, text};
use crate::format;
use crate::text::printable;

const ROW: f64 = 19.0;
/// Narrower frames are left out because they would be invisible.
pub(super) const NARROWEST: f64 = 1.0 / 4_000.0;
const COLOURS: [&str; 4] = ["#b8c4ce", "#f0c987", "#e8a07c", "#d98880"];
const DARK: &str = "#111111";

pub(super) fn draw(sheet: &mut Sheet, flame: &Flame) {
    let deepest = flame.frames.iter().map(|frame| frame.depth).max();
    let rows = deepest.map_or(0, |depth| depth + 1);
    let whole = flame.whole();
    let low = sheet.height + ROW * rows as f64;
    let scale = match whole > 0.0 {
        true => (sheet.width - 2.0 * MARGIN) / whole,
        false => 0.0,
    };
    for depth in (0..rows).rev() {
        let own = flame.frames.iter().filter(|frame| frame.depth == depth);
        let wide = own.filter(|frame| frame.width >= whole * NARROWEST);
        let frames = wide.map(|frame| {
            let (x, width) = (MARGIN + frame.start * scale, frame.width * scale);
            let y = low - ROW * (depth as f64 + 1.0);
            let fill = COLOURS[depth % COLOURS.len()];
            let mut shapes = vec![rectangle([x, y], [width, ROW - 1.0], fill, Some(PAPER))];
            let fits = ((width - 6.0) / CHARACTER).max(0.0) as usize;
            if fits >= 4 {
                let look = Look {
                    fill: Some(DARK),
                    ..Look::default()
                };
                let label = printable(&frame.label, fits);
                shapes.push(text(&label, [x + 3.0, y + 13.0], look));
            }
            let figure = format::figure(frame.width);
            let part = format::fraction(frame.width / whole);
            Mark {
                label: &frame.label,
                value: frame.width,
                interval: None,
                start: Some(frame.start),
                tip: format!("{}: {figure} {} ({part})", frame.label, flame.unit),
            }
            .around(&shapes)
        });
        let frames: Vec<_> = frames.collect();
        sheet.series(depth, &format!("depth {depth}"), &frames);
    }
    sheet.height = low + 4.0;
}
