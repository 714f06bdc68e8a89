// SPDX-License-Identifier: GPL-2.0-or-later
//! A single test program, so that only one has to be linked.

mod calls;
mod columns;
mod comparison;
mod deep;
mod export;
mod figures;
mod hooked;
mod layouts;
mod monitor;
mod pages;
mod placement;
mod placements;
mod profiles;
mod results;
mod sensitivity;
mod swept;
mod tables;

use report::{Layout, Records, Report, csv, terminal};

/// In at most 100 columns, without blanks at the ends of lines.
fn shown(report: &Report) -> String {
    let layout = Layout {
        width: Some(100),
        colour: false,
    };
    let text = terminal(report, &layout);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert_eq!(line, line.trim_end());
    }
    text
}

fn written(records: Records<'_>) -> String {
    let mut bytes = Vec::new();
    csv(records, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn is_harmless(text: &str) -> bool {
    text.chars()
        .all(|c| c == '\n' || !c.is_control() && c != '\u{202e}')
}
