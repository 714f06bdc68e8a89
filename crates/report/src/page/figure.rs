// SPDX-License-Identifier: GPL-2.0-or-later
//! A figure on a page. It also works without its script.

use maud::{Markup, PreEscaped, html};

use crate::figure::Figure;

/// A figure that `lsmeter report` can also write alone.
pub(super) fn figure(figure: &Figure) -> Markup {
    framed(figure, figure, &by_flag(figure))
}

pub(super) fn largest(figure: &Figure, rows: usize) -> Markup {
    framed(&figure.largest(rows), figure, &by_flag(figure))
}

fn by_flag(figure: &Figure) -> Markup {
    html! { " For --figure: " code { (figure.name) } "." }
}

/// A figure that is only on this page. It draws the first `rows`; the data contain all of them.
pub(super) fn alone(figure: &Figure, rows: usize) -> Markup {
    framed(&figure.first(rows), figure, &html! {})
}

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
    let escaped = csv.bytes().map(|byte| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-._,/:".contains(&byte) => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    });
    String::from("data:text/csv;charset=utf-8,") + &escaped.collect::<String>()
}
