// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter estimate` on committed result files.

use std::fs;

use model::{EstimateDocument, Stored as _, estimate::Weights};

use crate::common::{Place, schema};

/// Results of `lsmeter profile suite --events` on a stock kernel, and of `lsmeter run suite` with
/// counts, and with times from UML kernels.
const COUNTS: &[u8] = include_bytes!("../../../../docs/results/events-6.12.json.xz");
const BOTH: &[u8] = include_bytes!("../../../../docs/results/estimate-6.12.json.xz");
/// Counts of a kernel configured like these UML kernels.
const UP: &[u8] = include_bytes!("../../../../docs/results/counts-up-6.12.json.xz");
/// A result file with times only.
const TIMED: &[u8] =
    include_bytes!("../../../../publications/lsm-overhead/nanoseconds-6.12.json.xz");

fn documents() -> Place {
    let place = Place::new();
    place.write("counts.json", testing::unpack(COUNTS));
    place.write("times.json", testing::unpack(BOTH));
    place
}

fn estimated(place: &Place, rest: &str) -> EstimateDocument {
    let printed = place
        .line(&format!("estimate {rest} --json"))
        .code(0)
        .stdout;
    EstimateDocument::parse(printed.as_bytes()).unwrap()
}

/// The ratios of time to estimate, each fitted without that module, differ by a factor below 1.5.
#[track_caller]
fn assert_modules_are_near_each_other(weights: &Weights) {
    let ratios = weights.left_out.iter().map(|stack| stack.ratio);
    let (least, most) = ratios.fold((f64::MAX, 0.0), |(a, b), ratio| {
        (ratio.min(a), ratio.max(b))
    });
    assert!(most / least < 1.5, "{:?}", weights.left_out);
}

#[test]
fn weights_are_fitted_kept_and_used_again() {
    let place = documents();
    let fitted = "estimate counts.json --times times.json";
    let line = format!("{fitted} --keep-weights w.json --output a.json");
    let text = place.line(&line).code(0).stdout;
    let end = text.find("\nWeights\n").expect("a table of weights");
    insta::assert_snapshot!("weights", &text[end..]);

    let document = fs::read(place.join("a.json")).unwrap();
    schema::assert_fits(&serde_json::from_slice(&document).unwrap());
    let a = EstimateDocument::parse(&document).unwrap();

    // The order of the operations is correct, even for modules that were left out of the fit.
    let error = a.weights.error;
    assert!(error.rank_correlation >= 0.95, "{error:?}");
    assert!(error.rank_correlation > error.rank_correlation_of_instructions);
    let of_instructions = error.median_points_of_instructions.unwrap();
    assert!(of_instructions > error.median_points, "{error:?}");
    let expected = format!("in instructions and in ns is {of_instructions:.2} percentage points");
    assert!(text.contains(&expected), "{text}");
    assert_modules_are_near_each_other(&a.weights);

    let again = estimated(&place, "counts.json --weights w.json");
    let estimates = |document: &EstimateDocument| {
        document
            .cells
            .iter()
            .map(|c| c.estimate)
            .collect::<Vec<_>>()
    };
    assert_eq!(estimates(&again), estimates(&a));
    assert!(again.cells.iter().all(|cell| cell.measured.is_none()));

    let csv = place.line(&format!("{fitted} --format csv")).code(0).stdout;
    let row = "debian:6.12,\"capability,tomoyo\",capability,tmpfs,stat,AA,inode_getattr,";
    assert!(csv.lines().any(|line| line.starts_with(row)), "{csv}");
    // Operations without a dominant path are refused.
    let mut cells = a.cells.iter();
    let fork = cells.find(|cell| cell.key.benchmark() == "fork").unwrap();
    let reason = "no single path represents the operation";
    assert_eq!(fork.refused.as_deref(), Some(reason));
}

#[test]
fn invalid_inputs_are_refused() {
    let place = documents();
    place.write("timed.json", testing::unpack(TIMED));
    let arguments = [
        "timed.json --times times.json",
        "counts.json --times counts.json",
        "counts.json --times times.json --terms cache_misses",
        "counts.json --times times.json --terms returns,returns",
        "counts.json --weights counts.json",
        "counts.json",
    ];
    let errors = arguments.map(|rest| place.line(&format!("estimate {rest}")).code(2).stderr);
    insta::assert_snapshot!("errors", errors.join("\n"));
}

/// Weights fitted without a module estimate it about as well as the other modules. A run that counted
/// and timed needs no other file.
#[test]
fn modules_are_estimated_as_well_as_each_other() {
    let place = documents();
    place.write("up.json", testing::unpack(UP));
    let [up, one] = [
        "up.json --times times.json",
        "times.json --keep-weights w.json",
    ]
    .map(|rest| estimated(&place, rest).weights);
    for weights in [&up, &one] {
        assert!(weights.error.rank_correlation >= 0.95, "{weights:?}");
        assert_eq!(weights.left_out.len(), 5);
    }
    assert_modules_are_near_each_other(&up);
    for stack in &one.left_out {
        assert!((1.0 / 1.5..1.5).contains(&stack.ratio), "{stack:?}");
    }
    let used = estimated(&place, "times.json --weights w.json");
    assert_eq!(used.weights, one);
    assert!(used.cells.iter().all(|cell| cell.measured.is_none()));
}
