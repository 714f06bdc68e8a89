// SPDX-License-Identifier: GPL-2.0-or-later
//! A figure on a page: a drawing that stands by itself, and that a script lets answer.

use maud::{Markup, PreEscaped, html};

use crate::figure::Figure;

/// A figure of a document, which `lsmeter report` draws alone, too.
pub(super) fn figure(figure: &Figure) -> Markup {
    framed(figure, figure, &by_flag(figure))
}

/// The same with the largest of its bars only, where it has more than `rows`: its data has all.
pub(super) fn largest(figure: &Figure, rows: usize) -> Markup {
    framed(&figure.largest(rows), figure, &by_flag(figure))
}

fn by_flag(figure: &Figure) -> Markup {
    html! { " For --figure: " code { (figure.name) } "." }
}

/// A figure that is on this page only, of which not more than the first `rows` are drawn: its data
/// has all.
pub(super) fn alone(figure: &Figure, rows: usize) -> Markup {
    framed(&figure.first(rows), figure, &html! {})
}

/// The drawing, the data behind it, and what is said of it besides.
fn framed(drawn: &Figure, figure: &Figure, more: &Markup) -> Markup {
    html! {
        figure.figure id={ "figure=" (figure.name) } data-name=(figure.name) tabindex="-1" {
            div.drawing { (PreEscaped(drawn.svg())) }
            figcaption {
                strong { (figure.title) }
                " "
                (figure.description)
                @for note in drawn.notes.iter().chain(&drawn.left_out()) { " " (note) }
                (more)
                div.downloads {
                    a.link href={ "#figure=" (figure.name) } {
                        "Link" span.hidden { " to " (figure.name) }
                    }
                    a download={ (figure.name) ".csv" } href=(data_url(&figure.csv())) {
                        "Data (CSV)" span.hidden { " of " (figure.name) }
                    }
                    button.svg type="button" hidden {
                        "Drawing (SVG)" span.hidden { " of " (figure.name) }
                    }
                }
            }
        }
    }
}

fn data_url(csv: &str) -> String {
    let mut url = String::from("data:text/csv;charset=utf-8,");
    for byte in csv.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b',' | b'/' | b':' => {
                url.push(char::from(byte));
            }
            _ => url += &format!("%{byte:02X}"),
        }
    }
    url
}
