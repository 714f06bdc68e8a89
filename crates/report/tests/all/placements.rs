// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences of placements as tables and CSV.

use model::{Stored as _, placement::PlacementDifference};
use report::{
    DifferenceOptions, Layout, difference_records, difference_report, markdown, terminal,
};

fn difference() -> PlacementDifference {
    let golden = include_bytes!("../../../model/tests/golden/placement-diff.json");
    PlacementDifference::read(&golden[..]).unwrap()
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
    assert!(crate::is_harmless(&text), "{text}");
    insta::assert_snapshot!("difference_in_full", text);
    assert!(markdown(&report).contains("new\\_hook"));
}

#[test]
fn no_difference_is_reported() {
    let mut difference = difference();
    difference.changes.clear();
    difference.modules.clear();
    let report = difference_report(&difference, &DifferenceOptions::default());
    assert_eq!(report.tables.len(), 1);
    assert!(report.tables[0].legend[0].starts_with("No system call gains"));
}

#[test]
fn rows_of_csv() {
    let text = crate::written(difference_records(&difference()));
    assert!(crate::is_harmless(&text), "{text}");
    insta::assert_snapshot!("difference_as_csv", text);
}
