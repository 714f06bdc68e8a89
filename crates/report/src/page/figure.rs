// SPDX-License-Identifier: GPL-2.0-or-later
//! A figure on a page: a drawing that stands by itself, and that a script lets answer.

use maud::{Markup, PreEscaped, html};

use crate::figure::Figure;

pub(super) fn figure(figure: &Figure) -> Markup {
    html! {
        figure.figure id={ "figure-" (figure.name) } data-name=(figure.name) {
            div.drawing { (PreEscaped(figure.svg())) }
            figcaption {
                strong { (figure.title) }
                " "
                (figure.description)
                @for note in figure.notes.iter().chain(&figure.left_out()) { " " (note) }
                " For --figure: "
                code { (figure.name) }
                "."
                div.downloads {
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
