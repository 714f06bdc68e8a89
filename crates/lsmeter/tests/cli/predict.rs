// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter predict` of documents that were made before.

use std::fs;
use std::path::Path;

use model::{PredictionDocument, Stored as _};
use serde_json::Value;

use crate::common::{Ended, Place, schema};

const RECORDING: &[u8] = include_bytes!("../../../model/tests/golden/monitor.json");
const ESTIMATE: &[u8] = include_bytes!("../../../model/tests/golden/estimate.json");
const RUN: &[u8] = include_bytes!("../../../model/tests/golden/run.json");
/// Of `lsmeter profile suite`, and of programs that were counted under the same stacks.
const COSTS: &[u8] = include_bytes!("../../../../docs/results/predict-costs-6.12.json.xz");
const PROGRAMS: &[u8] = include_bytes!("../../../../docs/results/predict-programs-6.12.json.xz");
const PAGE: &str = include_str!("../../../../docs/results/predict.md");

fn documents() -> Place {
    let place = Place::new();
    place.write("R.json", RECORDING);
    place.write("costs.json", testing::unpack(COSTS));
    place.write("programs.json", testing::unpack(PROGRAMS));
    place
}

fn predict(place: &Place, recording: &str, more: &[&str]) -> Ended {
    let asked = ["predict", "--recording", recording, "--costs", "costs.json"];
    place.run(&[&asked[..], more].concat())
}

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["help", "predict"]).code(0).stdout);
    insta::assert_snapshot!("help-short", place.run(&["predict", "-h"]).code(0).stdout);
}

#[test]
fn a_recording_in_every_form() {
    let place = documents();
    let two = ["--stack", "capability", "--stack", "capability,selinux"];
    let time = ["--ns-per-instruction", "0.1"];
    let ended = predict(&place, "R.json", &[&two[..], &time].concat()).code(0);
    insta::assert_snapshot!("table", ended.stdout + &ended.stderr);
    let document = predict(&place, "R.json", &["--json"]).json();
    schema::assert_fits(&document);
    let forms = ["--output", "P.json", "--format", "csv"];
    let csv = predict(&place, "R.json", &forms).code(0).stdout;
    assert!(
        csv.starts_with("load,seconds,hook,system_call,calls,"),
        "{csv}"
    );
    let saved = fs::read(place.join("P.json")).unwrap();
    let saved = PredictionDocument::parse(&saved).unwrap();
    let pairs: usize = saved.loads.iter().map(|load| load.calls.len()).sum();
    assert_eq!(csv.lines().count(), 1 + pairs * saved.stacks.len());
}

/// The stack that runs is the baseline of what would be saved.
#[test]
fn what_a_stack_would_save() {
    let place = documents();
    let added = |more: &[&str], at: usize| {
        let more = [&["--workload", "tar", "--json"], more].concat();
        let document = predict(&place, "programs.json", &more).json();
        document["loads"][0]["stacks"][at]["added"]["middle"]
            .as_f64()
            .unwrap()
    };
    let forth = added(
        &["--stack", "capability", "--stack", "capability,apparmor"],
        1,
    );
    let apparmor = ["--baseline", "capability,apparmor"];
    let back = added(&[&apparmor[..], &["--stack", "capability"]].concat(), 1);
    assert!(forth > 0.0 && back < 0.0, "{forth} {back}");
    // The calls are those of the other stack, nearly all of them the same.
    assert!((forth + back).abs() < 0.01 * forth, "{forth} {back}");
}

/// Programs of which both are known: docs/results/predict.md has what is told here.
#[test]
fn the_page_of_results_says_what_the_command_says() {
    let place = documents();
    let ended = predict(&place, "programs.json", &["--format", "markdown"]).code(0);
    let table = ended
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("| program | stack"));
    let rows: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 2 + 6 * 3, "{}", ended.stdout);
    for row in rows {
        assert!(
            PAGE.lines().any(|line| line == row),
            "not on the page: {row}"
        );
    }
}

/// A document that supplies the costs is no test of the prediction.
#[test]
fn a_prediction_from_its_own_answer_has_no_error() {
    let place = documents();
    let own = [
        "predict",
        "--recording",
        "programs.json",
        "--costs",
        "programs.json",
    ];
    let document = place.run(&[&own[..], &["--json"]].concat()).json();
    let stacks = document["loads"][0]["stacks"].as_array().unwrap();
    assert!(stacks.len() > 1);
    assert!(stacks.iter().all(|stack| stack["measured"].is_null()));
}

#[test]
fn documents_that_do_not_go_together() {
    let place = documents();
    place.write("estimate.json", ESTIMATE);
    place.write("run.json", RUN);
    place.write("half.json", &RECORDING[..RECORDING.len() / 2]);
    let mut empty: Value = serde_json::from_slice(RECORDING).unwrap();
    empty["measurements"] = Value::Array(Vec::new());
    empty["warnings"] = Value::Array(Vec::new());
    place.write("empty.json", empty.to_string());
    let refused = |recording: &str, more: &[&str], error: &str, hint: &str| {
        predict(&place, recording, more).refused(2, error, Some(hint));
    };
    refused("none.json", &[], "cannot read none.json", "--record");
    refused("half.json", &[], "ends in the middle", "measure again");
    refused(
        "estimate.json",
        &[],
        "it is a document of estimates",
        "lsmeter run",
    );
    refused(
        "run.json",
        &[],
        "holds no calls of hooks",
        "monitor --record",
    );
    refused(
        "empty.json",
        &[],
        "holds no call of a hook",
        "record for longer",
    );
    let smack = ["--stack", "capability", "--stack", "capability,smack"];
    refused(
        "R.json",
        &smack,
        "nothing of the stack `capability,smack`",
        "capability",
    );
    let one = ["--stack", "capability"];
    refused(
        "R.json",
        &one,
        "only the stack `capability`",
        "name the baseline",
    );
    let baseline = ["--baseline", "smack"];
    refused(
        "R.json",
        &baseline,
        "nothing of the stack `smack`",
        "there are",
    );
    let kernel = ["--kernel", "debian:6.1"];
    refused(
        "R.json",
        &kernel,
        "nothing of the kernel `debian:6.1`",
        "debian:6.12",
    );
    let workload = ["--workload", "git-statsu"];
    refused(
        "programs.json",
        &workload,
        "no workload `git-statsu`",
        "`git-status`",
    );
    let asked = |more: &[&str]| place.run(&[&["predict", "-r", "R.json"], more].concat());
    asked(&[]).refused(2, "there are no costs", Some("--kernel"));
    asked(&["--costs", "run.json"]).refused(2, "the costs hold no hooks", Some("lsmeter profile"));
    let unknown = ["--kernel", "debian:9.9", "--offline"];
    asked(&unknown).refused(2, "debian:9.9 is not in the cache", Some("kernel fetch"));
    asked(&["--costs", "costs.json", "--ns-per-instruction", "0"]).code(2);
    asked(&["--costs", "costs.json", "--bench", "open"]).code(2);
}

/// Calls weighed by what their instructions do are nanoseconds.
#[test]
fn calls_are_weighed() {
    let place = documents();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    for name in ["events-6.12.json", "estimate-6.12.json"] {
        let packed = fs::read(results.join(format!("{name}.xz"))).unwrap();
        place.write(name, testing::unpack(&packed));
    }
    let fitted = [
        "estimate",
        "events-6.12.json",
        "--times",
        "estimate-6.12.json",
    ];
    place
        .run(&[&fitted[..], &["--keep-weights", "w.json"]].concat())
        .code(0);
    let asked = [
        "predict",
        "-r",
        "R.json",
        "--costs",
        "events-6.12.json",
        "--weights",
        "w.json",
    ];
    let stacks = [
        "--stack",
        "capability,selinux",
        "--stack",
        "capability,tomoyo",
    ];
    let told = place
        .run(&[&asked[..], &stacks, &["--json"]].concat())
        .code(0);
    let document = PredictionDocument::parse(told.stdout.as_bytes()).unwrap();
    assert!(document.processor.is_some());
    for load in &document.loads {
        assert_eq!(load.stacks[0].added_ns, None);
        let (added, ns) = (
            load.stacks[1].added.unwrap().middle,
            load.stacks[1].added_ns.unwrap(),
        );
        // TOMOYO's instructions take longer than SELinux's.
        assert!(ns > added * 0.064, "{added} {ns}");
    }
    let refused = predict(&place, "R.json", &["--weights", "w.json"])
        .code(2)
        .stderr;
    assert!(
        refused.contains("do not say what instructions do"),
        "{refused}"
    );
}
