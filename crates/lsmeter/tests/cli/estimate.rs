// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter estimate` of documents that were made before.

use std::fs;
use std::path::Path;

use model::{EstimateDocument, Stored as _, estimate::Weights};

use crate::common::{Place, schema};

/// Of `lsmeter profile suite --events` on a stock kernel, and of `lsmeter run suite` of counts and of
/// times in kernels that are processes.
const COUNTS: &[u8] = include_bytes!("../../../../docs/results/events-6.12.json.xz");
const BOTH: &[u8] = include_bytes!("../../../../docs/results/estimate-6.12.json.xz");
/// Of counts in a kernel that is configured as those processes are.
const UP: &[u8] = include_bytes!("../../../../docs/results/counts-up-6.12.json.xz");
/// Times alone.
const TIMED: &[u8] = include_bytes!("../../../../docs/results/nanoseconds-6.12.json.xz");

fn documents() -> Place {
    let place = Place::new();
    place.write("counts.json", testing::unpack(COUNTS));
    place.write("times.json", testing::unpack(BOTH));
    place
}

fn read(path: &Path) -> EstimateDocument {
    EstimateDocument::parse(&fs::read(path).unwrap()).unwrap()
}

/// Each module's times are to its estimate, by weights of the others, as any other's are: 1.5 times
/// as much at most.
#[track_caller]
fn assert_modules_are_near_each_other(weights: &Weights) {
    let ratios = weights.left_out.iter().map(|of| of.ratio);
    let (least, most) = ratios.fold((f64::MAX, 0.0), |(a, b), of| (of.min(a), of.max(b)));
    assert!(most / least < 1.5, "{:?}", weights.left_out);
}

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["help", "estimate"]).code(0).stdout);
    insta::assert_snapshot!("help-short", place.run(&["estimate", "-h"]).code(0).stdout);
}

#[test]
fn weights_are_fitted_kept_and_used_again() {
    let place = documents();
    let fitted = ["estimate", "counts.json", "--times", "times.json"];
    let files = ["--keep-weights", "w.json", "--output", "a.json"];
    let text = place.run(&[&fitted[..], &files].concat()).code(0).stdout;
    let end = text.find("\nWeights\n").expect("a table of weights");
    insta::assert_snapshot!("weights", &text[end..]);

    let a = read(&place.join("a.json"));
    let document = fs::read(place.join("a.json")).unwrap();
    schema::assert_fits(&serde_json::from_slice(&document).unwrap());

    // Operations in the right order, and of each module as much as of the others: where it is
    // fitted without that module.
    let error = a.weights.error;
    assert!(error.rank_correlation >= 0.95, "{error:?}");
    assert!(
        error.rank_correlation > error.rank_correlation_of_instructions,
        "{error:?}"
    );
    let of_instructions = error
        .median_points_of_instructions
        .expect("stacks add some");
    assert!(of_instructions > error.median_points, "{error:?}");
    let said = format!("in instructions are {of_instructions:.2} points from those in ns");
    assert!(text.contains(&said), "{text}");
    assert_modules_are_near_each_other(&a.weights);

    let again = ["estimate", "counts.json", "--weights", "w.json", "--json"];
    let again = EstimateDocument::parse(place.run(&again).code(0).stdout.as_bytes()).unwrap();
    let estimates = |of: &EstimateDocument| of.cells.iter().map(|c| c.estimate).collect::<Vec<_>>();
    assert_eq!(estimates(&again), estimates(&a));
    assert!(again.cells.iter().all(|cell| cell.measured.is_none()));

    // Beside what was counted, and only beside what has events.
    let page = [
        "report",
        "counts.json",
        "--weights",
        "w.json",
        "--format",
        "markdown",
    ];
    assert!(
        place
            .run(&page)
            .code(0)
            .stdout
            .contains("nanoseconds that stacks add")
    );
    let golden = include_bytes!("../../../model/tests/golden/run.json");
    place.write("plain.json", golden);
    let page = [
        "report",
        "plain.json",
        "--weights",
        "w.json",
        "--format",
        "markdown",
    ];
    let refused = place.run(&page).code(2).stderr;
    assert!(refused.contains("count it with --events"), "{refused}");

    let csv = [&fitted[..], &["--format", "csv"]].concat();
    let csv = place.run(&csv).code(0).stdout;
    let row = "debian:6.12,\"capability,tomoyo\",capability,tmpfs,stat,AA,inode_getattr,";
    assert!(csv.lines().any(|line| line.starts_with(row)), "{csv}");
    // Nothing is said of what takes no one path.
    let fork = a
        .cells
        .iter()
        .find(|cell| cell.key.benchmark() == "fork")
        .unwrap();
    assert_eq!(
        fork.refused.as_deref(),
        Some("no path stands for the operation")
    );
}

#[test]
fn what_cannot_be_estimated_is_named() {
    let place = documents();
    place.write("timed.json", testing::unpack(TIMED));
    let ended = |words: &[&str]| place.run(&[&["estimate"], words].concat()).code(2).stderr;
    let said = [
        ended(&["timed.json", "--times", "times.json"]),
        ended(&["counts.json", "--times", "counts.json"]),
        ended(&[
            "counts.json",
            "--times",
            "times.json",
            "--terms",
            "cache_misses",
        ]),
        ended(&[
            "counts.json",
            "--times",
            "times.json",
            "--terms",
            "returns,returns",
        ]),
        ended(&["counts.json", "--weights", "counts.json"]),
        ended(&["counts.json"]),
    ];
    insta::assert_snapshot!("errors", said.join("\n"));
}

/// Where what was timed is counted, each of five modules costs as much as by weights of the others, as
/// nearly as any.
#[test]
fn modules_are_estimated_as_well_as_each_other() {
    let place = documents();
    place.write("up.json", testing::unpack(UP));
    let told = ["estimate", "up.json", "--times", "times.json", "--json"];
    let told = place.run(&told).code(0).stdout;
    let weights = EstimateDocument::parse(told.as_bytes()).unwrap().weights;
    assert!(weights.error.rank_correlation >= 0.95, "{weights:?}");
    assert_eq!(weights.left_out.len(), 5);
    assert_modules_are_near_each_other(&weights);
}

/// A run that counted and timed needs no other; each module is estimated as well as the others,
/// fitted without it.
#[test]
fn one_document_is_enough() {
    let place = documents();
    let told = place.run(&["estimate", "times.json", "--json"]).code(0);
    let document = EstimateDocument::parse(told.stdout.as_bytes()).unwrap();
    let weights = &document.weights;
    assert!(
        weights.error.rank_correlation >= 0.95,
        "{:?}",
        weights.error
    );
    assert_eq!(weights.left_out.len(), 5);
    for of in &weights.left_out {
        assert!((1.0 / 1.5..1.5).contains(&of.ratio), "{of:?}");
    }
    let kept = [
        "estimate",
        "times.json",
        "--keep-weights",
        "w.json",
        "--json",
    ];
    place.run(&kept).code(0);
    let used = ["estimate", "times.json", "--weights", "w.json", "--json"];
    let used = EstimateDocument::parse(place.run(&used).code(0).stdout.as_bytes()).unwrap();
    assert_eq!(used.weights, document.weights);
    assert!(used.cells.iter().all(|cell| cell.measured.is_none()));
}
