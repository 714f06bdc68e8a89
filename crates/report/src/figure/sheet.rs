// SPDX-License-Identifier: GPL-2.0-or-later
//! A drawing as self-contained SVG. Lengths are pixels, y grows downwards.
//!
//! Marks have the attributes `data-label`, `data-value`, `data-lower`, `data-upper`, and
//! `data-start` in a flame graph. Groups of marks have `data-series`, which `data-legend` refers
//! to.

use std::borrow::Cow;

use maud::{Markup, html};

use super::scale::Scale;
use crate::format;
use crate::text::printable;

/// A palette for the colour-blind (Okabe and Ito; Tol for more series), then lighter variants.
pub(super) const COLOURS: [&str; 24] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#999933",
    "#332288", "#117733", "#aa4499", "#777777", "#8cc0dd", "#edb48c", "#8cd4be", "#e8c4d8",
    "#f4d28c", "#b5dcf5", "#c998b1", "#cfcf9f", "#9f98c8", "#93be9f", "#d7a8cf", "#c0c0c0",
];
pub(super) const INK: &str = "#222222";
const GRID: &str = "#dddddd";
pub(super) const PAPER: &str = "#ffffff";
const WIDTH: f64 = 800.0;
pub(super) const MARGIN: f64 = 12.0;
const LETTERS: f64 = 11.0;
/// Approximate width of a character of that size.
pub(super) const CHARACTER: f64 = 6.0;
const HEAD: f64 = 30.0;
const LINE: f64 = 18.0;
const MM: f64 = 96.0 / 25.4;

#[derive(Default)]
pub(super) struct Look {
    pub(super) anchor: Option<&'static str>,
    pub(super) size: Option<f64>,
    pub(super) weight: Option<&'static str>,
    pub(super) turned: bool,
    pub(super) fill: Option<&'static str>,
}

impl Look {
    pub(super) fn anchored(anchor: &'static str) -> Look {
        Look {
            anchor: Some(anchor),
            ..Look::default()
        }
    }
}

pub(super) fn text(content: &str, at: [f64; 2], look: Look) -> Markup {
    let [x, y] = at.map(place);
    let turned = look.turned.then(|| format!("rotate(-90 {x} {y})"));
    html! {
        text x=(x) y=(y) text-anchor=[look.anchor] transform=[turned] font-size=[look.size]
            font-weight=[look.weight] fill=[look.fill] { (allowed(content)) }
    }
}

/// `edge` is the colour of a thin edge that separates the rectangle from its neighbours.
pub(super) fn rectangle(
    at: [f64; 2],
    size: [f64; 2],
    fill: &str,
    edge: Option<&'static str>,
) -> Markup {
    let size = size.map(|length| length.max(0.0));
    html! {
        rect x=(place(at[0])) y=(place(at[1])) width=(place(size[0])) height=(place(size[1]))
            fill=(fill) stroke=[edge] stroke-width=[edge.map(|_| "0.5")] {}
    }
}

pub(super) fn strokes(through: &[Vec<[f64; 2]>], colour: &str) -> Markup {
    let path: String = through.iter().map(|places| path(places)).collect();
    html! { path d=(path) fill="none" stroke=(colour) {} }
}

pub(super) fn path(places: &[[f64; 2]]) -> String {
    let step = |(at, [x, y]): (usize, &[f64; 2])| {
        let letter = if at == 0 { 'M' } else { 'L' };
        format!("{letter}{} {}", place(*x), place(*y))
    };
    places.iter().enumerate().map(step).collect()
}

pub(super) struct Mark<'a> {
    pub(super) label: &'a str,
    pub(super) value: f64,
    pub(super) interval: Option<[f64; 2]>,
    /// Start of a flame graph's frame, in the unit of `value`.
    pub(super) start: Option<f64>,
    pub(super) tip: String,
}

impl Mark<'_> {
    pub(super) fn around(self, shapes: &[Markup]) -> Markup {
        let [lower, upper] = [0, 1].map(|end| self.interval.map(|ends| ends[end]));
        let ends = self.interval.map(|ends| ends.map(format::figure));
        let ends = ends.map(|[low, high]| format!(" ({low} to {high})"));
        let tip = self.tip + &ends.unwrap_or_default();
        html! {
            g data-label=(allowed(self.label)) data-value=(self.value) data-lower=[lower]
                data-upper=[upper] data-start=[self.start] {
                title { (allowed(&tip)) }
                @for shape in shapes { (shape) }
            }
        }
    }
}

pub(super) struct Sheet {
    elements: Vec<Markup>,
    pub(super) width: f64,
    pub(super) height: f64,
    is_for_paper: bool,
}

impl Sheet {
    pub(super) fn screen() -> Sheet {
        Sheet {
            elements: Vec::new(),
            width: WIDTH,
            height: 0.0,
            is_for_paper: false,
        }
    }

    /// Letters are 8 points high.
    pub(super) fn paper(width_mm: f64) -> Sheet {
        Sheet {
            width: width_mm * MM,
            height: MARGIN,
            is_for_paper: true,
            ..Sheet::screen()
        }
    }

    fn letters(&self) -> usize {
        ((self.width - 2.0 * MARGIN) / CHARACTER * 0.91) as usize
    }

    pub(super) fn add(&mut self, element: Markup) {
        self.elements.push(element);
    }

    pub(super) fn series(&mut self, at: usize, name: &str, marks: &[Markup]) {
        self.add(html! {
            g data-series=(at) data-name=(allowed(name)) { @for mark in marks { (mark) } }
        });
    }

    pub(super) fn heading(&mut self, title: &str) {
        self.height += 6.0;
        for line in wrapped(title, self.letters() * 3 / 4) {
            self.height += LINE;
            let look = Look {
                size: Some(14.0),
                weight: Some("bold"),
                ..Look::default()
            };
            self.add(text(&line, [MARGIN, self.height], look));
        }
        self.height += HEAD - LINE;
    }

    pub(super) fn legend(
        &mut self,
        names: impl Iterator<Item = String>,
        sample: impl Fn(usize, [f64; 2]) -> Markup,
    ) {
        let mut x = MARGIN;
        for (at, name) in names.enumerate() {
            let name = printable(&name, 60);
            let width = name.chars().count() as f64 * CHARACTER + 36.0;
            if x > MARGIN && x + width > self.width - MARGIN {
                x = MARGIN;
                self.height += LINE;
            }
            let name = text(&name, [x + 23.0, self.height + 6.0], Look::default());
            let sample = sample(at, [x, self.height + 2.0]);
            self.add(html! { g data-legend=(at) { (sample) (name) } });
            x += width;
        }
        self.height += LINE;
    }

    pub(super) fn horizontal(&mut self, scale: &Scale, title: &str, [top, low]: [f64; 2]) {
        let ticks = scale.ticks();
        let upright = |figure: f64| vec![[scale.place(figure), top], [scale.place(figure), low]];
        let grid: Vec<_> = ticks.iter().map(|(figure, _)| upright(*figure)).collect();
        self.add(strokes(&grid, GRID));
        for (figure, label) in ticks {
            let at = [scale.place(figure), low + 16.0];
            self.add(text(&label, at, Look::anchored("middle")));
        }
        let [left, right] = scale.reach();
        let at = [(left + right) / 2.0, low + 33.0];
        self.add(text(title, at, Look::anchored("middle")));
        self.height = low + 41.0;
    }

    pub(super) fn vertical(&mut self, scale: &Scale, title: &str, [left, right]: [f64; 2]) {
        let ticks = scale.ticks();
        let level = |figure: f64| vec![[left, scale.place(figure)], [right, scale.place(figure)]];
        let grid: Vec<_> = ticks.iter().map(|(figure, _)| level(*figure)).collect();
        self.add(strokes(&grid, GRID));
        for (figure, label) in ticks {
            let at = [left - 6.0, scale.place(figure) + 4.0];
            self.add(text(&label, at, Look::anchored("end")));
        }
        let [low, top] = scale.reach();
        self.add(strokes(&[vec![[left, top], [left, low]], level(0.0)], INK));
        let fits = (low - top).abs() / (title.chars().count() as f64 * CHARACTER);
        let look = Look {
            turned: true,
            size: (fits < 1.0).then_some(LETTERS * fits),
            ..Look::anchored("middle")
        };
        self.add(text(title, [14.0, (low + top) / 2.0], look));
    }

    pub(super) fn notes<'a>(&mut self, notes: impl IntoIterator<Item = &'a String>) {
        for note in notes {
            for line in wrapped(note, self.letters()) {
                self.height += LINE;
                self.add(text(&line, [MARGIN, self.height], Look::default()));
            }
        }
        self.height += MARGIN;
    }

    /// `name`: letters, digits and hyphens, an identifier.
    pub(super) fn svg(self, name: &str, title: &str, description: &str, axis: &str) -> String {
        let (width, height) = (place(self.width), place(self.height));
        let size = |pixels: f64| match self.is_for_paper {
            true => place(pixels / MM) + "mm",
            false => place(pixels),
        };
        let svg = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(size(self.width)) height=(size(self.height))
                viewBox={ "0 0 " (width) " " (height) } role="img"
                aria-labelledby={ (name) "-title " (name) "-desc" } data-axis=(allowed(axis)) {
                title id={ (name) "-title" } { (allowed(title)) }
                desc id={ (name) "-desc" } { (allowed(description)) }
                rect width=(width) height=(height) fill=(PAPER) {}
                g font-family="Helvetica, Arial, sans-serif" font-size=(LETTERS) fill=(INK) {
                    @for element in &self.elements { (element) }
                }
            }
        };
        svg.into_string() + "\n"
    }
}

fn wrapped(text: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = printable(word, limit);
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= limit => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// The text without characters that XML cannot contain, even escaped.
fn allowed(text: &str) -> Cow<'_, str> {
    let forbidden = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    match text.contains(forbidden) {
        true => text.replace(forbidden, "?").into(),
        false => text.into(),
    }
}

/// To 0.01 pixel.
fn place(at: f64) -> String {
    let text = format!("{at:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}
