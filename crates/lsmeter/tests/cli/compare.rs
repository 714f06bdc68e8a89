// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter compare`, on golden documents and on what is none.

use std::path::Path;

use serde_json::Value;

use crate::common::{Place, schema};

const GOLDEN: &str = "../model/tests/golden";

/// Two runs that differ by one instruction in one cell, in the place's directory.
fn two(place: &Place) -> [String; 2] {
    let mut run: Value = serde_json::from_str(&golden("run")).unwrap();
    let cells = run["measurements"].as_array_mut().unwrap();
    cells.retain(|cell| cell["key"]["metric"] == "instructions" && cell["status"] == "ok");
    run["warnings"] = Value::Array(Vec::new());
    let base = place.write("base.json", run.to_string());
    run["measurements"][0]["evidence"]["counted"]["paths"]["dominant"]["instructions"] =
        Value::from(4980);
    let new = place.write("new.json", run.to_string());
    [base, new].map(|path| path.to_str().unwrap().to_owned())
}

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    std::fs::read_to_string(path.join(format!("{name}.json"))).unwrap()
}

#[test]
fn help() {
    let place = Place::new();
    let asked = ["help", "compare"];
    insta::assert_snapshot!("help", place.run(&asked).code(0).stdout);
    let asked = ["compare", "-h"];
    insta::assert_snapshot!("help-short", place.run(&asked).code(0).stdout);
}

#[test]
fn a_gate_passes_fails_and_cannot_tell() {
    let place = Place::new();
    let [base, new] = two(&place);
    let ended = place.run(&["compare", &base, &new]).code(0);
    let summary = "compared: 6 cells: 1 worse, 5 the same\n";
    assert_eq!(ended.stderr, summary);
    assert!(ended.stdout.contains("open:AA/BB"), "{ended:#?}");
    let gate = |limit: &str| place.run(&["compare", &base, &new, "--fail-above", limit]);
    let passed = gate("1 instructions").code(0);
    assert!(
        passed.stderr.contains("gate: passed: 6 within"),
        "{passed:#?}"
    );
    let failed = gate("0%").code(1);
    assert!(
        failed.stderr.contains("gate: failed: 5 within"),
        "{failed:#?}"
    );
    gate("1").code(2);
    // The other way round it is better.
    place
        .run(&["compare", &new, &base, "--fail-above", "0%"])
        .code(0);
    let text = std::fs::read_to_string(&new).unwrap();
    let other = place.write("other.json", text.replace("\"stat\"", "\"fstat\""));
    let other = other.to_str().unwrap();
    let ended = place
        .run(&["compare", &base, other, "--fail-above", "1%"])
        .code(5);
    assert!(
        ended.stderr.contains("3 cells of BASE are not in NEW"),
        "{ended:#?}"
    );
    let budget = place.write("budget.toml", "default = \"1%\"\n[limits]\nopen = \"0%\"\n");
    let budget = budget.to_str().unwrap();
    place
        .run(&["compare", &base, &new, "--budget", budget])
        .code(1);
}

/// As of two kernels with SLUB_TINY: `unlink` takes two paths in turn.
#[test]
fn two_paths_in_turn_are_the_same_whichever_leads() {
    let place = Place::new();
    let taking = |name: &str, dominant: (u64, u64), other: (u64, u64)| {
        let mut run: Value = serde_json::from_str(&golden("run")).unwrap();
        let cells = run["measurements"].as_array_mut().unwrap();
        cells.truncate(1);
        let path = |(instructions, regions)| {
            serde_json::json!({
                "instructions": instructions, "rep_iterations": 0, "regions": regions,
            })
        };
        let counted = &mut cells[0]["evidence"]["counted"];
        counted["estimate"] = serde_json::json!({
            "n": 63, "median": dominant.0, "ci95": [8552.0, 10008.0],
        });
        counted["paths"] = serde_json::json!({
            "dominant": path(dominant), "others": [path(other)], "regions": 63, "dirty": 0,
        });
        run["warnings"] = Value::Array(Vec::new());
        place
            .write(name, run.to_string())
            .to_str()
            .unwrap()
            .to_owned()
    };
    let base = taking("base.json", (10_008, 32), (8_552, 31));
    let new = taking("new.json", (8_552, 32), (10_008, 31));
    for (base, new) in [(&base, &new), (&new, &base), (&base, &base)] {
        let ended = place
            .run(&["compare", base, new, "--fail-above", "1%"])
            .code(0);
        assert!(
            ended.stderr.contains("compared: 1 cell: 1 the same\n"),
            "{ended:#?}"
        );
        let row = ended
            .stdout
            .lines()
            .find(|line| line.starts_with("open:AA/BB"));
        assert!(
            row.is_some_and(|row| row.contains("  ~  ") || base == new),
            "{ended:#?}"
        );
    }
}

#[test]
fn documents_that_cannot_be_compared_are_refused_with_a_hint() {
    let place = Place::new();
    let [base, new] = two(&place);
    let text = std::fs::read_to_string(&new).unwrap();
    let profile = place.write("profile.json", golden("profile"));
    for (name, text, why) in [
        ("empty.json", String::new(), "empty"),
        (
            "cut.json",
            text[..text.len() / 2].to_owned(),
            "ends in the middle",
        ),
        ("newer.json", golden("newer"), "written by another lsmeter"),
        ("text.json", "hello".to_owned(), "not JSON"),
        (
            "none.json",
            text.replace("\"instructions\":4980", "\"instructions\":-1"),
            "measurements[0]",
        ),
    ] {
        let path = place.write(name, &text);
        let ended = place
            .run(&["compare", &base, path.to_str().unwrap()])
            .code(2);
        assert!(ended.stderr.contains(why), "{name}: {ended:#?}");
        assert!(ended.stderr.contains(name), "{name}: {ended:#?}");
        assert_eq!(ended.stdout, "");
    }
    let ended = place
        .run(&["compare", &base, profile.to_str().unwrap()])
        .code(2);
    assert!(
        ended
            .stderr
            .contains("hint: give two documents that the same command wrote")
    );
    place.run(&["compare", &base]).code(2);
    place.run(&["compare", &base, "/nonexistent"]).code(2);
    let ended = place.run(&["compare", &base, "--across", "kernel"]).code(2);
    assert!(ended.stderr.contains("all cells of"), "{ended:#?}");
}

#[test]
fn formats_for_machines() {
    let place = Place::new();
    let [base, new] = two(&place);
    let asked = ["compare", &base, &new, "--fail-above", "0%", "--format"];
    let run = |more: &[&str]| place.run(&[&asked[..], more].concat()).code(1).stdout;
    assert!(run(&["ktap"]).contains("\nnot ok 1 instructions.open:AA/BB"));
    assert!(run(&["junit"]).contains("<failure"));
    assert_eq!(run(&["csv"]).lines().count(), 7);
    assert!(run(&["markdown"]).contains("| open:AA/BB |"));
    place
        .run(&["compare", &base, &new, "--format", "ktap"])
        .code(2);
}

#[test]
fn the_document_keeps_to_its_schema() {
    let place = Place::new();
    let [base, new] = two(&place);
    let asked = ["compare", &base, &new, "--fail-above", "0%", "--json"];
    let ended = place.run(&asked).code(1);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    schema::assert_fits(&document);
    assert_eq!(document["compared"][0]["difference"], 1.0);
    let asked = ["compare", &base, "--across", "stack", "--json"];
    let document: Value = serde_json::from_str(&place.run(&asked).code(0).stdout).unwrap();
    schema::assert_fits(&document);
    assert_eq!(document["compared"].as_array().unwrap().len(), 4);
}
