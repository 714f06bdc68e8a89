// SPDX-License-Identifier: GPL-2.0-or-later
//! A drawing before it becomes SVG: shapes and text at places. Lengths are pixels, y grows
//! downwards.

use super::model::Figure;
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
pub(super) const GRID: &str = "#dddddd";
pub(super) const PAPER: &str = "#ffffff";
pub(super) const WIDTH: f64 = 800.0;
pub(super) const MARGIN: f64 = 12.0;
pub(super) const LETTERS: f64 = 11.0;
/// Approximate width of a character of that size.
pub(super) const CHARACTER: f64 = 6.0;
const HEAD: f64 = 30.0;
const LINE: f64 = 18.0;
const WRAP: usize = 118;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawing {
    /// Letters, digits and hyphens: an identifier.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) axis: String,
    pub(super) height: f64,
    pub(super) elements: Vec<Element>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Element {
    Rectangle {
        at: [f64; 2],
        size: [f64; 2],
        fill: &'static str,
        /// A thin edge in the paper's colour separates it from its neighbours.
        edge: bool,
    },
    Strokes {
        through: Vec<Vec<[f64; 2]>>,
        colour: &'static str,
        width: f64,
        dashed: bool,
    },
    Outline {
        corners: Vec<[f64; 2]>,
        colour: &'static str,
        hollow: bool,
    },
    Text(Text),
    Group(Role, Vec<Element>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub(super) content: String,
    /// Baseline position, at the end that `anchor` names.
    pub(super) at: [f64; 2],
    pub(super) anchor: Anchor,
    pub(super) size: f64,
    pub(super) bold: bool,
    /// Rotated: reads upwards.
    pub(super) turned: bool,
    pub(super) fill: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    Legend(usize),
    Series(usize, String),
    Mark(Mark),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) interval: Option<[f64; 2]>,
    /// Start of a flame graph's frame, in the unit of `value`.
    pub(super) start: Option<f64>,
    pub(super) tip: String,
}

impl Mark {
    pub(super) fn new(
        label: String,
        value: f64,
        interval: Option<[f64; 2]>,
        mut tip: String,
    ) -> Mark {
        if let Some([low, high]) = interval.map(|ends| ends.map(format::figure)) {
            tip += &format!(" ({low} to {high})");
        }
        Mark {
            label,
            value,
            interval,
            start: None,
            tip,
        }
    }
}

impl Text {
    pub(super) fn new(content: impl Into<String>, x: f64, y: f64) -> Text {
        Text {
            content: content.into(),
            at: [x, y],
            anchor: Anchor::Start,
            size: LETTERS,
            bold: false,
            turned: false,
            fill: INK,
        }
    }

    pub(super) fn anchored(self, anchor: Anchor) -> Text {
        Text { anchor, ..self }
    }
}

impl From<Text> for Element {
    fn from(text: Text) -> Element {
        Element::Text(text)
    }
}

impl Element {
    pub(super) fn rectangle(at: [f64; 2], size: [f64; 2], fill: &'static str) -> Element {
        Element::Rectangle {
            at,
            size: size.map(|length| length.max(0.0)),
            fill,
            edge: false,
        }
    }

    pub(super) fn strokes(through: Vec<Vec<[f64; 2]>>, colour: &'static str) -> Element {
        Element::Strokes {
            through,
            colour,
            width: 1.0,
            dashed: false,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) elements: Vec<Element>,
    pub(super) height: f64,
}

impl Sheet {
    pub(super) fn add(&mut self, element: impl Into<Element>) {
        self.elements.push(element.into());
    }

    pub(super) fn heading(&mut self, title: &str) {
        self.height += 6.0;
        for line in wrapped(title, WRAP * 3 / 4) {
            self.height += LINE;
            self.add(Text {
                size: 14.0,
                bold: true,
                ..Text::new(line, MARGIN, self.height)
            });
        }
        self.height += HEAD - LINE;
    }

    pub(super) fn legend(
        &mut self,
        names: impl Iterator<Item = String>,
        sample: impl Fn(usize, [f64; 2]) -> Vec<Element>,
    ) {
        let mut x = MARGIN;
        for (at, name) in names.enumerate() {
            let name = printable(&name, 60);
            let width = name.chars().count() as f64 * CHARACTER + 36.0;
            if x > MARGIN && x + width > WIDTH - MARGIN {
                x = MARGIN;
                self.height += LINE;
            }
            let mut entry = sample(at, [x, self.height + 2.0]);
            entry.push(Text::new(name, x + 23.0, self.height + 6.0).into());
            self.add(Element::Group(Role::Legend(at), entry));
            x += width;
        }
        self.height += LINE;
    }

    pub(super) fn horizontal(&mut self, scale: &Scale, title: &str, [top, low]: [f64; 2]) {
        let ticks = scale.ticks();
        let upright = |figure: f64| vec![[scale.place(figure), top], [scale.place(figure), low]];
        let grid = ticks.iter().map(|(figure, _)| upright(*figure));
        self.add(Element::strokes(grid.collect(), GRID));
        for (figure, label) in ticks {
            let label = Text::new(label, scale.place(figure), low + 16.0);
            self.add(label.anchored(Anchor::Middle));
        }
        let [left, right] = scale.reach();
        let title = Text::new(title, (left + right) / 2.0, low + 33.0);
        self.add(title.anchored(Anchor::Middle));
        self.height = low + 41.0;
    }

    pub(super) fn vertical(&mut self, scale: &Scale, title: &str, [left, right]: [f64; 2]) {
        let ticks = scale.ticks();
        let level = |figure: f64| vec![[left, scale.place(figure)], [right, scale.place(figure)]];
        let grid = ticks.iter().map(|(figure, _)| level(*figure));
        self.add(Element::strokes(grid.collect(), GRID));
        for (figure, label) in ticks {
            let label = Text::new(label, left - 6.0, scale.place(figure) + 4.0);
            self.add(label.anchored(Anchor::End));
        }
        let [low, top] = scale.reach();
        let axes = vec![vec![[left, top], [left, low]], level(0.0)];
        self.add(Element::strokes(axes, INK));
        let title = Text::new(title, 14.0, (low + top) / 2.0).anchored(Anchor::Middle);
        self.add(Text {
            turned: true,
            ..title
        });
    }

    pub(super) fn notes<'a>(&mut self, notes: impl IntoIterator<Item = &'a String>) {
        for note in notes {
            for line in wrapped(note, WRAP) {
                self.height += LINE;
                self.add(Text::new(line, MARGIN, self.height));
            }
        }
        self.height += MARGIN;
    }

    pub(super) fn finished(self, figure: &Figure) -> Drawing {
        Drawing {
            name: figure.name.clone(),
            title: figure.title.clone(),
            description: figure.description.clone(),
            axis: figure.chart.axis().to_owned(),
            height: self.height,
            elements: self.elements,
        }
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
