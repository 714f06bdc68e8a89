// SPDX-License-Identifier: GPL-2.0-or-later
//! Panels as SVG.

use svg::node::Text as Content;
use svg::node::element::{Description, Group, Line as Stroke, Path, Rectangle, Text, Title};

use super::scale::Scale;
use super::{Line, Panel, Style};

/// Colours that the colour-blind tell apart too, after Okabe and Ito; without yellow,
/// which is hard to see on white.
pub(super) const COLOURS: [&str; 7] = [
    "#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];
/// Lengths of dashes and gaps.
pub(super) const DASHES: [&str; 4] = ["none", "6 4", "2 3", "9 3 2 3"];

const WIDTH: f64 = 800.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 498.0;
/// Where the legend begins.
const LEGEND: f64 = 514.0;
const MARGIN: f64 = 12.0;
/// Of the figure's title.
const HEAD: f64 = 36.0;
/// Of a panel's title, and of the text below its horizontal axis.
const ABOVE: f64 = 28.0;
const BELOW: f64 = 52.0;
const PLOT_MIN: f64 = 280.0;
const LEGEND_LINE: f64 = 19.0;
const NOTE_LINE: f64 = 18.0;
/// Longest title of a panel and note, in characters.
const TEXT_LIMIT: usize = 110;

const INK: &str = "#222222";
const GRID: &str = "#dddddd";

pub(super) fn svg(panels: &[Panel], notes: &[String]) -> String {
    let mut height = HEAD;
    let mut body = Group::new()
        .set("font-family", "Helvetica, Arial, sans-serif")
        .set("font-size", 12)
        .set("fill", INK);
    body = body.add(
        text(
            "What an operation costs by the time of each decision",
            MARGIN,
            24.0,
        )
        .set("font-size", 16)
        .set("font-weight", "bold"),
    );
    for panel in panels {
        let (group, used) = draw(panel, height);
        body = body.add(group);
        height += used;
    }
    for note in notes {
        height += NOTE_LINE;
        body = body.add(text(&limited(note, TEXT_LIMIT), MARGIN, height));
    }
    height += MARGIN;
    let paper = Rectangle::new()
        .set("width", WIDTH)
        .set("height", height)
        .set("fill", "#ffffff");
    let document = svg::Document::new()
        .set("width", WIDTH)
        .set("height", height)
        .set("viewBox", format!("0 0 {WIDTH} {height}"))
        .set("role", "img")
        .set("aria-labelledby", "title desc")
        .add(Title::new("What an operation costs by the time of each decision").set("id", "title"))
        .add(
            Description::new()
                .set("id", "desc")
                .add(Content::new(described(panels))),
        )
        .add(paper)
        .add(body);
    format!("{document}\n")
}

/// The figure for those who cannot see it.
fn described(panels: &[Panel]) -> String {
    let mut text = "Points and fitted lines: the cost of operations over how much longer each \
                    decision of a policy takes. The slope of a line is the number of decisions \
                    that the operation asks for."
        .to_owned();
    for panel in panels {
        let lines: Vec<String> = panel
            .lines
            .iter()
            .map(|line| format!("{} {}", line.label, line.slope))
            .collect();
        text += &format!(
            " {}: {}.",
            limited(&panel.title, TEXT_LIMIT),
            lines.join(", ")
        );
    }
    allowed(&text)
}

/// A panel whose upper edge is at `top`, and its height.
fn draw(panel: &Panel, top: f64) -> (Group, f64) {
    let legend = LEGEND_LINE * (panel.lines.len() as f64 + 1.0);
    let (high, low) = (top + ABOVE, top + ABOVE + legend.max(PLOT_MIN));
    let drawn = || panel.lines.iter().filter_map(|line| line.drawn.as_ref());
    let places = || drawn().flat_map(|drawn| drawn.points.iter().chain(&drawn.ends));
    let x = Scale::of(places().map(|place| place[0]), LEFT, RIGHT);
    let y = Scale::of(places().map(|place| place[1]), low, high);
    let mut group = Group::new().add(
        text(&limited(&panel.title, TEXT_LIMIT), MARGIN, top + 16.0).set("font-weight", "bold"),
    );
    for (figure, label) in x.ticks() {
        let at = x.place(figure);
        group = group.add(stroke([at, high], [at, low], GRID));
        let label = text(&label, at, low + 17.0).set("text-anchor", "middle");
        group = group.add(label);
    }
    for (figure, label) in y.ticks() {
        let at = y.place(figure);
        group = group.add(stroke([LEFT, at], [RIGHT, at], GRID));
        group = group.add(text(&label, LEFT - 7.0, at + 4.0).set("text-anchor", "end"));
    }
    group = group
        .add(stroke([LEFT, high], [LEFT, low], INK))
        .add(stroke([LEFT, y.place(0.0)], [RIGHT, y.place(0.0)], INK))
        .add(
            text(
                "delay of each decision (µs)",
                (LEFT + RIGHT) / 2.0,
                low + 36.0,
            )
            .set("text-anchor", "middle"),
        )
        .add(text(panel.axis, 0.0, 0.0).set("text-anchor", "middle").set(
            "transform",
            format!("translate(18 {}) rotate(-90)", (low + high) / 2.0),
        ));
    // Dashed ones last, so that a solid line below them is seen through their gaps.
    let mut lines: Vec<&Line> = panel.lines.iter().collect();
    lines.sort_by_key(|line| (line.style.dash, line.style.position));
    for line in lines {
        if let Some(drawn) = &line.drawn {
            let place = |[delay, cost]: [f64; 2]| [x.place(delay), y.place(cost)];
            let [from, to] = drawn.ends.map(place);
            group = group.add(of_style(from, to, line.style));
            for point in &drawn.points {
                group = group.add(marker(place(*point), line.style));
            }
        }
    }
    let heading = text("slope", WIDTH - MARGIN, high + 10.0);
    group = group.add(
        heading
            .set("text-anchor", "end")
            .set("font-style", "italic"),
    );
    for (row, line) in panel.lines.iter().enumerate() {
        let at = high + 10.0 + LEGEND_LINE * (row as f64 + 1.0);
        if line.drawn.is_some() {
            let sample = [[LEGEND, at - 4.0], [LEGEND + 30.0, at - 4.0]];
            group = group
                .add(of_style(sample[0], sample[1], line.style))
                .add(marker([LEGEND + 15.0, at - 4.0], line.style));
        }
        let slope = text(&line.slope, WIDTH - MARGIN, at).set("text-anchor", "end");
        group = group
            .add(text(&line.label, LEGEND + 37.0, at).set("font-size", 11))
            .add(slope);
    }
    (group, low + BELOW - top)
}

fn text(content: &str, x: f64, y: f64) -> Text {
    Text::new(allowed(content))
        .set("x", coordinate(x))
        .set("y", coordinate(y))
}

/// Without the few characters that no XML may hold, in whatever way they are written.
fn allowed(text: &str) -> String {
    let forbidden = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.replace(forbidden, "?")
}

fn limited(text: &str, limit: usize) -> String {
    crate::text::printable(text, limit)
}

/// A hundredth of a pixel is enough, and the same everywhere.
fn coordinate(place: f64) -> String {
    let text = format!("{place:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

fn stroke([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], colour: &str) -> Stroke {
    Stroke::new()
        .set("x1", coordinate(x1))
        .set("y1", coordinate(y1))
        .set("x2", coordinate(x2))
        .set("y2", coordinate(y2))
        .set("stroke", colour)
}

fn of_style(from: [f64; 2], to: [f64; 2], style: Style) -> Stroke {
    stroke(from, to, COLOURS[style.colour])
        .set("stroke-width", "1.5")
        .set("stroke-dasharray", DASHES[style.dash])
}

/// A shape for each colour, hollow for each second kind of dashes.
fn marker([x, y]: [f64; 2], style: Style) -> Path {
    let outline: &[[f64; 2]] = match style.colour {
        0 => &[[-3.5, -3.5], [3.5, -3.5], [3.5, 3.5], [-3.5, 3.5]],
        1 => &[[0.0, -4.6], [4.2, 3.2], [-4.2, 3.2]],
        2 => &[[0.0, -4.8], [4.8, 0.0], [0.0, 4.8], [-4.8, 0.0]],
        3 => &[[0.0, 4.6], [4.2, -3.2], [-4.2, -3.2]],
        4 => &[[-4.6, 0.0], [3.2, 4.2], [3.2, -4.2]],
        5 => &[[4.6, 0.0], [-3.2, 4.2], [-3.2, -4.2]],
        _ => &[
            [-2.0, -4.5],
            [2.0, -4.5],
            [4.5, 0.0],
            [2.0, 4.5],
            [-2.0, 4.5],
            [-4.5, 0.0],
        ],
    };
    let mut path = String::new();
    for (at, [right, down]) in outline.iter().enumerate() {
        path.push(if at == 0 { 'M' } else { 'L' });
        path += &format!("{} {}", coordinate(x + right), coordinate(y + down));
    }
    path.push('Z');
    let hollow = style.dash % 2 == 1;
    Path::new()
        .set("d", path)
        .set(
            "fill",
            if hollow {
                "#ffffff"
            } else {
                COLOURS[style.colour]
            },
        )
        .set("stroke", COLOURS[style.colour])
}
