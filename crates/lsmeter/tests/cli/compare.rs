// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter compare`, on golden and invalid result files.

use std::path::Path;

use serde_json::Value;

use crate::common::{Place, schema};

const GOLDEN: &str = "../model/tests/golden";

/// Writes base.json and new.json, which differ by one instruction in one measurement.
fn two() -> Place {
    let place = Place::new();
    let mut run: Value = serde_json::from_str(&golden("run")).unwrap();
    let cells = run["measurements"].as_array_mut().unwrap();
    cells.retain(|cell| cell["key"]["metric"] == "instructions" && cell["status"] == "ok");
    run["warnings"] = Value::Array(Vec::new());
    place.write("base.json", run.to_string());
    run["measurements"][0]["evidence"]["counted"]["paths"]["dominant"]["instructions"] =
        Value::from(4980);
    place.write("new.json", run.to_string());
    place
}

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    std::fs::read_to_string(path.join(format!("{name}.json"))).unwrap()
}

#[test]
fn a_gate_passes_fails_and_is_inconclusive() {
    let place = two();
    let text = std::fs::read_to_string(place.join("new.json")).unwrap();
    place.write("other.json", text.replace("\"stat\"", "\"fstat\""));
    place.write("budget.toml", "default = \"1%\"\n[limits]\nopen = \"0%\"\n");
    let ended = place.line("compare base.json new.json").code(0);
    assert_eq!(ended.stderr, "compared: 6 cells: 1 worse, 5 the same\n");
    assert!(ended.stdout.contains("open:AA/BB"), "{ended:#?}");
    let instruction = [
        "compare",
        "base.json",
        "new.json",
        "--fail-above",
        "1 instructions",
    ];
    let passed = place.run(&instruction).code(0).stderr;
    assert!(passed.contains("gate: passed: 6 within"), "{passed}");
    for (rest, code, expected) in [
        (
            "base.json new.json --fail-above 0%",
            1,
            "gate: failed: 5 within",
        ),
        ("base.json new.json --fail-above 1", 2, ""),
        // In the other direction it is an improvement.
        ("new.json base.json --fail-above 0%", 0, ""),
        (
            "base.json other.json --fail-above 1%",
            5,
            "3 measurements from BASE are missing from NEW",
        ),
        ("base.json new.json --budget budget.toml", 1, ""),
    ] {
        let ended = place.line(&format!("compare {rest}")).code(code);
        assert!(ended.stderr.contains(expected), "{ended:#?}");
    }
}

#[test]
fn invalid_inputs_are_refused_with_a_hint() {
    let place = two();
    let text = std::fs::read_to_string(place.join("new.json")).unwrap();
    for (name, text) in [
        ("empty", String::new()),
        ("cut", text[..text.len() / 2].to_owned()),
        ("newer", golden("newer")),
        ("text", "hello".to_owned()),
        (
            "none",
            text.replace("\"instructions\":4980", "\"instructions\":-1"),
        ),
        ("profile", golden("profile")),
    ] {
        place.write(&format!("{name}.json"), &text);
    }
    place.refuses(
        2,
        "compare base.json empty.json | empty.json: lsmeter result file: empty | measure again
         compare base.json cut.json | truncated after | measure again
         compare base.json newer.json | written by another lsmeter | the lsmeter version that wrote
         compare base.json text.json | invalid JSON | --output or --record
         compare base.json none.json | measurements[0]
         compare base.json profile.json | | give two result files from the same command
         compare base.json /nonexistent | /nonexistent | --output or --record
         compare base.json --across kernel | all measurements in | another axis
         compare base.json new.json --format ktap | need a gate | --fail-above 1%",
    );
    place.line("compare base.json").code(2);
}

#[test]
fn formats_for_machines() {
    let place = two();
    let run = |format: &str| {
        let line = format!("compare base.json new.json --fail-above 0% --format {format}");
        place.line(&line).code(1).stdout
    };
    assert!(run("ktap").contains("\nnot ok 1 instructions.open:AA/BB"));
    assert!(run("junit").contains("<failure"));
    assert_eq!(run("csv").lines().count(), 7);
    assert!(run("markdown").contains("| open:AA/BB |"));
    let document: Value = serde_json::from_str(&run("json")).unwrap();
    schema::assert_fits(&document);
    assert_eq!(document["compared"][0]["difference"], 1.0);
    let document = place.line("compare base.json --across stack --json").json();
    schema::assert_fits(&document);
    assert_eq!(document["compared"].as_array().unwrap().len(), 4);
}
