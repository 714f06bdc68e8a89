// SPDX-License-Identifier: GPL-2.0-or-later
//! What all drawings share: text, strokes, a sheet with its title, a legend.

use svg::node::Text as Content;
use svg::node::element::{
    Circle, Description, Group, Line as Stroke, Path, Rectangle, Text, Title,
};

use super::model::Figure;
use crate::text::printable;

/// Colours that the colour-blind tell apart, after Okabe and Ito and, for many series,
/// Tol; behind them lighter ones, for more than a dozen series.
pub(super) const COLOURS: [&str; 24] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#999933",
    "#332288", "#117733", "#aa4499", "#777777", "#8cc0dd", "#edb48c", "#8cd4be", "#e8c4d8",
    "#f4d28c", "#b5dcf5", "#c998b1", "#cfcf9f", "#9f98c8", "#93be9f", "#d7a8cf", "#c0c0c0",
];
/// From this series on lines are dashed.
pub(super) const DASHED_FROM: usize = COLOURS.len() / 2;
pub(super) const INK: &str = "#222222";
pub(super) const GRID: &str = "#dddddd";
pub(super) const PAPER: &str = "#ffffff";
pub(super) const WIDTH: f64 = 800.0;
pub(super) const MARGIN: f64 = 12.0;
/// Of the title.
const HEAD: f64 = 30.0;
const LINE: f64 = 18.0;
/// Of a character at 11 pixels, about.
pub(super) const CHARACTER: f64 = 6.0;
/// Characters of a line of text over the whole width.
const WRAP: usize = 118;

/// What is drawn so far, and how high it is.
pub(super) struct Sheet {
    pub(super) body: Group,
    pub(super) height: f64,
}

impl Sheet {
    /// With the figure's title on it.
    pub(super) fn new(figure: &Figure) -> Sheet {
        let mut sheet = Sheet {
            body: Group::new()
                .set("font-family", "Helvetica, Arial, sans-serif")
                .set("font-size", 11)
                .set("fill", INK),
            height: 6.0,
        };
        for line in wrapped(&figure.title, WRAP * 3 / 4) {
            sheet.height += LINE;
            let title = text(&line, MARGIN, sheet.height);
            sheet.add(title.set("font-size", 14).set("font-weight", "bold"));
        }
        sheet.height += HEAD - LINE;
        sheet
    }

    pub(super) fn add(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        self.body = std::mem::take(&mut self.body).add(node);
    }

    /// Names beside their colours, in as many lines as they need.
    pub(super) fn legend(&mut self, names: &[(String, &str)]) {
        let mut x = MARGIN;
        for (name, colour) in names {
            let name = printable(name, 60);
            let width = name.chars().count() as f64 * CHARACTER + 30.0;
            if x > MARGIN && x + width > WIDTH - MARGIN {
                x = MARGIN;
                self.height += LINE;
            }
            self.add(rectangle([x, self.height - 4.0], [12.0, 12.0], colour));
            self.add(text(&name, x + 17.0, self.height + 6.0));
            x += width;
        }
        self.height += LINE;
    }

    /// The whole drawing, with notes below it.
    pub(super) fn finish(mut self, figure: &Figure) -> String {
        for note in figure.notes.iter().chain(&figure.left_out()) {
            for line in wrapped(note, WRAP) {
                self.height += LINE;
                self.add(text(&line, MARGIN, self.height));
            }
        }
        self.height += MARGIN;
        let height = coordinate(self.height);
        let (title, desc) = (
            format!("{}-title", figure.name),
            format!("{}-desc", figure.name),
        );
        let paper = rectangle([0.0, 0.0], [WIDTH, self.height], PAPER);
        let described = Content::new(allowed(&figure.description));
        let document = svg::Document::new()
            .set("width", WIDTH)
            .set("height", height.as_str())
            .set("viewBox", format!("0 0 {WIDTH} {height}"))
            .set("role", "img")
            .set("aria-labelledby", format!("{title} {desc}"))
            .add(Title::new(allowed(&figure.title)).set("id", title))
            .add(Description::new().set("id", desc).add(described))
            .add(paper)
            .add(self.body);
        format!("{document}\n")
    }
}

pub(super) fn text(content: &str, x: f64, y: f64) -> Text {
    Text::new(allowed(content))
        .set("x", coordinate(x))
        .set("y", coordinate(y))
}

/// Without the few characters that no XML may hold, in whatever way they are written.
pub(super) fn allowed(text: &str) -> String {
    let forbidden = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.replace(forbidden, "?")
}

/// A hundredth of a pixel is enough, and the same everywhere.
pub(super) fn coordinate(place: f64) -> String {
    let text = format!("{place:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

pub(super) fn stroke([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], colour: &str) -> Stroke {
    Stroke::new()
        .set("x1", coordinate(x1))
        .set("y1", coordinate(y1))
        .set("x2", coordinate(x2))
        .set("y2", coordinate(y2))
        .set("stroke", colour)
}

pub(super) fn rectangle([x, y]: [f64; 2], [width, height]: [f64; 2], colour: &str) -> Rectangle {
    Rectangle::new()
        .set("x", coordinate(x))
        .set("y", coordinate(y))
        .set("width", coordinate(width.max(0.0)))
        .set("height", coordinate(height.max(0.0)))
        .set("fill", colour)
}

pub(super) fn dot([x, y]: [f64; 2], colour: &str) -> Circle {
    Circle::new()
        .set("cx", coordinate(x))
        .set("cy", coordinate(y))
        .set("r", "3")
        .set("fill", colour)
}

pub(super) fn through(places: &[[f64; 2]], colour: &str, dashes: &str) -> Path {
    let mut path = String::new();
    for (at, [x, y]) in places.iter().enumerate() {
        path.push(if at == 0 { 'M' } else { 'L' });
        path += &format!("{} {}", coordinate(*x), coordinate(*y));
    }
    Path::new()
        .set("d", path)
        .set("fill", "none")
        .set("stroke", colour)
        .set("stroke-width", "1.5")
        .set("stroke-dasharray", dashes)
}

/// What a pointer that rests on something is told.
pub(super) fn tip(content: &str) -> Title {
    Title::new(allowed(content))
}

/// Lines of at most `limit` characters, broken at blanks.
pub(super) fn wrapped(text: &str, limit: usize) -> Vec<String> {
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
