// SPDX-License-Identifier: GPL-2.0-or-later
//! Drawings as self-contained SVG.
//!
//! Marks have the attributes `data-label`, `data-value`, `data-lower`, `data-upper`, and
//! `data-start` in a flame graph. Groups of marks have `data-series`, which `data-legend` refers
//! to.

use std::borrow::Cow;

use maud::{Markup, html};

use super::drawing::INK;
use super::drawing::{Anchor, Drawing, Element, LETTERS, PAPER, Role, Text, WIDTH};

pub(super) fn written(drawing: &Drawing) -> String {
    let (width, height) = (place(WIDTH), place(drawing.height));
    let name = &drawing.name;
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox={ "0 0 " (width) " " (height) } role="img"
            aria-labelledby={ (name) "-title " (name) "-desc" }
            data-axis=(allowed(&drawing.axis)) {
            title id={ (name) "-title" } { (allowed(&drawing.title)) }
            desc id={ (name) "-desc" } { (allowed(&drawing.description)) }
            rect width=(width) height=(height) fill=(PAPER) {}
            g font-family="Helvetica, Arial, sans-serif" font-size=(LETTERS) fill=(INK) {
                @for of in &drawing.elements { (element(of)) }
            }
        }
    };
    svg.into_string() + "\n"
}

fn element(of: &Element) -> Markup {
    match of {
        Element::Rectangle {
            at,
            size,
            fill,
            edge,
        } => html! {
            rect x=(place(at[0])) y=(place(at[1])) width=(place(size[0])) height=(place(size[1]))
                fill=(fill) stroke=[edge.then_some(PAPER)] stroke-width=[edge.then_some("0.5")] {}
        },
        Element::Strokes {
            through,
            colour,
            width,
            dashed,
        } => html! {
            path d=(through.iter().map(|places| path(places)).collect::<String>()) fill="none"
                stroke=(colour) stroke-width=[(*width != 1.0).then_some(width)]
                stroke-dasharray=[dashed.then_some("6 4")] {}
        },
        Element::Outline {
            corners,
            colour,
            hollow,
        } => html! {
            path d={ (path(corners)) "Z" } fill=(if *hollow { PAPER } else { colour })
                stroke=(colour) {}
        },
        Element::Text(of) => text(of),
        Element::Group(role, elements) => group(
            role,
            html! {
                @for of in elements { (element(of)) }
            },
        ),
    }
}

fn group(role: &Role, inner: Markup) -> Markup {
    match role {
        Role::Legend(at) => html! { g data-legend=(at) { (inner) } },
        Role::Series(at, name) => {
            html! { g data-series=(at) data-name=(allowed(name)) { (inner) } }
        }
        Role::Mark(mark) => html! {
            g data-label=(allowed(&mark.label)) data-value=(mark.value)
                data-lower=[mark.interval.map(|ends| ends[0])]
                data-upper=[mark.interval.map(|ends| ends[1])] data-start=[mark.start] {
                title { (allowed(&mark.tip)) }
                (inner)
            }
        },
    }
}

fn text(of: &Text) -> Markup {
    let [x, y] = of.at.map(place);
    let anchor = match of.anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("middle"),
        Anchor::End => Some("end"),
    };
    let turned = of.turned.then(|| format!("rotate(-90 {x} {y})"));
    html! {
        text x=(x) y=(y) text-anchor=[anchor] transform=[turned]
            font-size=[(of.size != LETTERS).then_some(of.size)]
            font-weight=[of.bold.then_some("bold")]
            fill=[(of.fill != INK).then_some(of.fill)] { (allowed(&of.content)) }
    }
}

fn path(places: &[[f64; 2]]) -> String {
    let step = |(at, [x, y]): (usize, &[f64; 2])| {
        let letter = if at == 0 { 'M' } else { 'L' };
        format!("{letter}{} {}", place(*x), place(*y))
    };
    places.iter().enumerate().map(step).collect()
}

/// Without characters that XML cannot contain even escaped.
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
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}
