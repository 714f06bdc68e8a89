// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences and histories of placements as tables and CSV.

use experiment::Stored as _;
use experiment::placement::{PlacementDifference, PlacementHistory};
use report::{
    DifferenceOptions, Layout, PlacementHistoryOptions, csv, difference_records, difference_report,
    markdown, placement_history_records, placement_history_report, terminal,
};

fn difference() -> PlacementDifference {
    let golden = include_bytes!("../../experiment/tests/golden/placement-diff.json");
    PlacementDifference::read(&golden[..]).unwrap()
}

fn history() -> PlacementHistory {
    let golden = include_bytes!("../../experiment/tests/golden/placement-history.json");
    PlacementHistory::read(&golden[..]).unwrap()
}

fn is_harmless(text: &str) -> bool {
    text.chars()
        .all(|c| c == '\n' || !c.is_control() && c != '\u{202e}')
}

#[test]
fn differences() {
    let report = difference_report(&difference(), &DifferenceOptions::default());
    insta::assert_snapshot!("difference", terminal(&report, &Layout::default()));
    let all = DifferenceOptions {
        reach: true,
        trace: true,
    };
    let text = terminal(&difference_report(&difference(), &all), &Layout::default());
    assert!(is_harmless(&text), "{text}");
    insta::assert_snapshot!("difference_in_full", text);
    assert!(markdown(&report).contains("new\\_hook"));
}

#[test]
fn no_difference_is_said() {
    let mut difference = difference();
    difference.changes.clear();
    difference.modules.clear();
    let report = difference_report(&difference, &DifferenceOptions::default());
    assert_eq!(report.tables.len(), 1);
    assert!(report.tables[0].legend[0].starts_with("No system call asks"));
}

#[test]
fn histories() {
    let report = placement_history_report(&history(), &PlacementHistoryOptions::default());
    let text = terminal(&report, &Layout::default());
    assert!(is_harmless(&text), "{text}");
    insta::assert_snapshot!("history", text);
    let all = placement_history_report(&history(), &PlacementHistoryOptions { reach: true });
    assert_eq!(all.tables.len(), 5);
    assert_eq!(all.tables[3].rows.len(), 3);
    // Nothing could be analysed.
    let mut nothing = history();
    nothing.versions.clear();
    let report = placement_history_report(&nothing, &PlacementHistoryOptions::default());
    assert_eq!((report.tables.len(), report.warnings.len()), (3, 1));
}

#[test]
fn rows_of_csv() {
    let mut bytes = Vec::new();
    csv(difference_records(&difference()), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(is_harmless(&text), "{text}");
    insta::assert_snapshot!("difference_as_csv", text);
    let mut bytes = Vec::new();
    csv(placement_history_records(&history()), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(is_harmless(&text), "{text}");
    insta::assert_snapshot!("history_as_csv", text);
}
