// SPDX-License-Identifier: GPL-2.0-or-later
//! Layout of flame graphs.

use super::drawing::{CHARACTER, MARGIN, WIDTH};
use super::drawing::{Element, Mark, Role, Sheet, Text};
use super::model::{Flame, Frame};
use crate::format;
use crate::text::printable;

const ROW: f64 = 19.0;
/// Narrower frames are left out: they would be invisible.
pub(super) const NARROWEST: f64 = 1.0 / 4_000.0;
const COLOURS: [&str; 4] = ["#b8c4ce", "#f0c987", "#e8a07c", "#d98880"];
const DARK: &str = "#111111";

pub(super) fn draw(sheet: &mut Sheet, flame: &Flame) {
    let deepest = flame.frames.iter().map(|frame| frame.depth).max();
    let rows = deepest.map_or(0, |depth| depth + 1);
    let whole = flame.whole();
    let low = sheet.height + ROW * rows as f64;
    let scale = match whole > 0.0 {
        true => (WIDTH - 2.0 * MARGIN) / whole,
        false => 0.0,
    };
    let draw = |frame: &Frame| {
        let (x, width) = (MARGIN + frame.start * scale, frame.width * scale);
        let y = low - ROW * (frame.depth as f64 + 1.0);
        let mut shapes = vec![Element::Rectangle {
            at: [x, y],
            size: [width, ROW - 1.0],
            fill: COLOURS[frame.depth % COLOURS.len()],
            edge: true,
        }];
        let fits = ((width - 6.0) / CHARACTER).max(0.0) as usize;
        if fits >= 4 {
            let label = Text::new(printable(&frame.label, fits), x + 3.0, y + 13.0);
            shapes.push(Element::Text(Text {
                fill: DARK,
                ..label
            }));
        }
        Element::Group(Role::Mark(mark(flame, frame, whole)), shapes)
    };
    for depth in (0..rows).rev() {
        let own = flame.frames.iter().filter(|frame| frame.depth == depth);
        let wide = own.filter(|frame| frame.width >= whole * NARROWEST);
        let role = Role::Series(depth, format!("depth {depth}"));
        sheet.add(Element::Group(role, wide.map(draw).collect()));
    }
    sheet.height = low + 4.0;
}

fn mark(flame: &Flame, frame: &Frame, whole: f64) -> Mark {
    Mark {
        label: frame.label.clone(),
        value: frame.width,
        interval: None,
        start: Some(frame.start),
        tip: format!(
            "{}: {} {} ({})",
            frame.label,
            format::figure(frame.width),
            flame.unit,
            format::fraction(frame.width / whole)
        ),
    }
}
