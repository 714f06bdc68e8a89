// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter coverage` of documents that were made before.

use crate::common::{Ended, Place, schema};

const COVERAGE: &[u8] = include_bytes!("../../../model/tests/golden/coverage.json");
const RUN: &[u8] = include_bytes!("../../../model/tests/golden/run.json");

fn coverage(more: &[&str]) -> Ended {
    let place = Place::new();
    place.write("c.json", COVERAGE);
    place.write("run.json", RUN);
    place.run(&[&["coverage"], more].concat())
}

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["help", "coverage"]).code(0).stdout);
    insta::assert_snapshot!("help-short", place.run(&["coverage", "-h"]).code(0).stdout);
}

#[test]
fn a_coverage_in_every_form() {
    insta::assert_snapshot!("table", coverage(&["c.json", "--all"]).code(0).stdout);
    insta::assert_snapshot!(
        "csv",
        coverage(&["c.json", "--format", "csv"]).code(0).stdout
    );
    let document = coverage(&["c.json", "--json"]).json();
    schema::assert_fits(&document);
}

#[test]
fn a_gate_tells_the_share() {
    let ended = coverage(&["c.json", "-q", "--at-least", "20"]);
    ended.code(0);
    let ended = coverage(&["c.json", "-q", "--at-least", "99.5"]).code(1);
    insta::assert_snapshot!("gate", ended.stderr);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut text = String::new();
    for asked in [
        &["run.json"][..],
        &["missing.json"],
        &["c.json", "--kernel", "debian:5.10"],
        &["c.json", "--bench", "open"],
        &["--at-least", "101", "c.json"],
        &["--offline", "--kernel", "debian:5.10"],
    ] {
        let ended = coverage(asked);
        text += &format!(
            "coverage {}: {:?}\n{}\n",
            asked.join(" "),
            ended.code,
            ended.stderr
        );
    }
    insta::assert_snapshot!("errors", text);
}
