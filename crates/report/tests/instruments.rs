// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of whether instruments agree.

use experiment::{CheckDocument, Stored as _};
use report::{InstrumentsOptions, Layout, Report, instruments_report, markdown, terminal};

fn document() -> CheckDocument {
    let golden = include_bytes!("../../experiment/tests/golden/check-v1.json");
    CheckDocument::parse(golden).unwrap()
}

fn text(report: &Report) -> String {
    let layout = Layout {
        width: Some(140),
        colour: false,
    };
    terminal(report, &layout)
}

#[test]
fn what_differs_is_shown_and_why() {
    let report = instruments_report(&document(), &InstrumentsOptions::default());
    insta::assert_snapshot!("differences", text(&report));
    insta::assert_snapshot!("differences-markdown", markdown(&report));
}

#[test]
fn all_is_shown_if_asked_for() {
    let options = InstrumentsOptions {
        all: true,
        facts: true,
    };
    insta::assert_snapshot!("all", text(&instruments_report(&document(), &options)));
}

#[test]
fn hostile_text_stays_text() {
    let mut document = document();
    let hostile = "\u{1b}[31m\u{202e}|<b>\n";
    document.kernel = hostile.to_owned();
    document.benchmarks[0].hooks[1].hook = hostile.to_owned();
    document.benchmarks[0].hooks[0].explanation = Some(hostile.to_owned());
    document.residuals[1].functions[0].function = hostile.to_owned();
    document.unused_facts = vec![hostile.to_owned()];
    let options = InstrumentsOptions {
        all: true,
        facts: true,
    };
    let text = text(&instruments_report(&document, &options));
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}
