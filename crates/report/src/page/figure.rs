// SPDX-License-Identifier: GPL-2.0-or-later
//! A figure on a page: a drawing that stands by itself, and what a script needs to put
//! an interactive one in its place.

use maud::{Markup, PreEscaped, html};

use crate::figure::Figure;

pub(super) fn figure(figure: &Figure) -> Markup {
    let label = format!("{} {}", figure.title, figure.description);
    html! {
        figure.figure id={ "figure-" (figure.name) } data-name=(figure.name) {
            div.static { (PreEscaped(figure.svg())) }
            div.live role="img" aria-label=(label) hidden {}
            script.spec type="application/json" { (PreEscaped(harmless(figure))) }
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

/// The specification as JSON in which nothing ends a script or begins a comment.
fn harmless(figure: &Figure) -> String {
    figure
        .vega_lite()
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
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
