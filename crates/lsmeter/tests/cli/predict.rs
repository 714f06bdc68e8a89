// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter predict` on committed result files.

use std::fs;
use std::path::Path;

use model::{PredictionDocument, Stored as _};
use serde_json::Value;

use crate::common::{Ended, Place, schema};

const RECORDING: &[u8] = include_bytes!("../../../model/tests/golden/monitor.json");
const ESTIMATE: &[u8] = include_bytes!("../../../model/tests/golden/estimate.json");
const RUN: &[u8] = include_bytes!("../../../model/tests/golden/run.json");
/// Results of `lsmeter profile suite`, and of programs counted under the same stacks.
const COSTS: &[u8] = include_bytes!("../../../../docs/results/predict-costs-6.12.json.xz");
const PROGRAMS: &[u8] = include_bytes!("../../../../docs/results/predict-programs-6.12.json.xz");

fn documents() -> Place {
    let place = Place::new();
    place.write("R.json", RECORDING);
    place.write("costs.json", testing::unpack(COSTS));
    place.write("programs.json", testing::unpack(PROGRAMS));
    place
}

fn predict(place: &Place, recording: &str, more: &str) -> Ended {
    place.line(&format!(
        "predict --recording {recording} --costs costs.json {more}"
    ))
}

#[test]
fn a_recording_in_every_form() {
    let place = documents();
    let two = "--stack capability --stack capability,selinux";
    let ended = predict(&place, "R.json", two).code(0);
    insta::assert_snapshot!("table", ended.stdout + &ended.stderr);
    let document = predict(&place, "R.json", "--json").json();
    schema::assert_fits(&document);
    let forms = "--output P.json --format csv";
    let csv = predict(&place, "R.json", forms).code(0).stdout;
    let begins = "load,seconds,hook,system_call,calls,";
    assert!(csv.starts_with(begins), "{csv}");
    let saved = fs::read(place.join("P.json")).unwrap();
    let saved = PredictionDocument::parse(&saved).unwrap();
    let pairs: usize = saved.loads.iter().map(|load| load.calls.len()).sum();
    assert_eq!(csv.lines().count(), 1 + pairs * saved.stacks.len());
}

/// With the recorded stack as the baseline, a smaller stack costs less.
#[test]
fn a_smaller_stack_saves_instructions() {
    let place = documents();
    let [forth, back] = [
        "--stack capability --stack capability,apparmor",
        "--baseline capability,apparmor --stack capability",
    ]
    .map(|stacks| {
        let more = format!("--workload tar --json {stacks}");
        let document = predict(&place, "programs.json", &more).json();
        let added = &document["loads"][0]["stacks"][1]["added"]["middle"];
        added.as_f64().unwrap()
    });
    assert!(forth > 0.0 && back < 0.0, "{forth} {back}");
    // Both stacks make nearly the same calls.
    assert!((forth + back).abs() < 0.01 * forth, "{forth} {back}");
}

/// Costs from the recording itself do not test the prediction.
#[test]
fn a_prediction_from_its_own_costs_has_no_error() {
    let place = documents();
    let own = "predict --recording programs.json --costs programs.json --json";
    let document = place.line(own).json();
    let stacks = document["loads"][0]["stacks"].as_array().unwrap();
    assert!(stacks.len() > 1);
    assert!(stacks.iter().all(|stack| stack["measured"].is_null()));
}

#[test]
fn result_files_that_do_not_match_are_refused() {
    let place = documents();
    place.write("estimate.json", ESTIMATE);
    place.write("run.json", RUN);
    place.write("half.json", &RECORDING[..RECORDING.len() / 2]);
    let mut empty: Value = serde_json::from_slice(RECORDING).unwrap();
    empty["measurements"] = Value::Array(Vec::new());
    empty["warnings"] = Value::Array(Vec::new());
    place.write("empty.json", empty.to_string());
    let from = "predict --recording R.json --costs costs.json";
    let costs = "--costs costs.json";
    let table = format!(
        "predict -r none.json {costs} | cannot read none.json | --record
         predict -r half.json {costs} | truncated after | measure again
         predict -r estimate.json {costs} | it is a result file of estimates | lsmeter run
         predict -r run.json {costs} | does not list hook calls | monitor --record
         predict -r empty.json {costs} | contains no hook calls | record for longer
         {from} --stack capability --stack capability,smack | stack `capability,smack` | capability
         {from} --stack capability | `capability` is the only stack | name the baseline
         {from} --baseline smack | do not include the stack `smack` | choose one of
         {from} --kernel debian:6.1 | do not include the kernel `debian:6.1` | debian:6.12
         predict -r programs.json {costs} --workload git-statsu | `git-statsu` | `git-status`
         predict -r R.json | no costs are given | lsmeter profile suite
         predict -r R.json --costs run.json | the costs contain no hooks | lsmeter profile"
    );
    place.refuses(2, &table);
}

#[test]
fn weights_give_nanoseconds() {
    let place = documents();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    for name in ["events-6.12.json", "estimate-6.12.json"] {
        let packed = fs::read(results.join(format!("{name}.xz"))).unwrap();
        place.write(name, testing::unpack(&packed));
    }
    let fitted = "estimate events-6.12.json --times estimate-6.12.json --keep-weights w.json";
    place.line(fitted).code(0);
    let line = "predict -r R.json --costs events-6.12.json --weights w.json \
                --stack capability,selinux --stack capability,tomoyo --json";
    let ended = place.line(line).code(0);
    let document = PredictionDocument::parse(ended.stdout.as_bytes()).unwrap();
    assert!(document.processor.is_some());
    for load in &document.loads {
        assert_eq!(load.stacks[0].added_ns, None);
        let added = load.stacks[1].added.unwrap().middle;
        let ns = load.stacks[1].added_ns.unwrap();
        // TOMOYO's instructions take longer than SELinux's.
        assert!(ns > added * 0.064, "{added} {ns}");
    }
    let refused = predict(&place, "R.json", "--weights w.json").code(2);
    let error = "the costs contain no events";
    assert!(refused.stderr.contains(error), "{refused:#?}");
}
