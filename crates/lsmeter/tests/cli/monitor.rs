// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter monitor` without a live machine: recordings and invalid arguments.

use model::{Document, Interval};

use crate::common::Place;

const GOLDEN: &[u8] = include_bytes!("../../../model/tests/golden/monitor.json");

#[test]
fn a_recording_comes_back_in_every_form() {
    let place = Place::new();
    place.write("night.json", GOLDEN);
    let replay = |more: &[&str]| {
        let asked = [&["monitor", "--replay", "night.json"], more].concat();
        place.run(&asked).code(0).stdout
    };
    insta::assert_snapshot!("table", replay(&["--rows", "1"]));
    let json = replay(&["--json"]);
    let document = Document::parse(json.as_bytes()).unwrap();
    let cells = Document::parse(GOLDEN).unwrap().cells;
    assert_eq!((document.schema_version, document.cells), (3, cells));
    place.write("night.json", &json);
    assert_eq!(replay(&["--json"]), json);
    let lines = replay(&["--json-lines"]);
    assert_eq!(lines.lines().count(), 2, "{lines}");
    for line in lines.lines() {
        let interval: Interval = serde_json::from_str(line).unwrap();
        assert!(interval.seconds > 0.0);
    }
    let csv = replay(&["--format", "csv"]);
    assert!(csv.starts_with("begin_s,seconds,hook,"), "{csv}");
}

#[test]
fn invalid_arguments_are_refused() {
    let place = Place::new();
    place.write("night.json", GOLDEN);
    place.write("other.json", "{\"schema_version\": 3, \"kind\": \"run\"}");
    for asked in [
        "--pid 1 --cgroup /x",
        "--pid 1 -- true",
        "--count --histogram",
        "--json --json-lines",
        "--duration 0",
        "--interval never",
        "--pairs 0",
        "--textfile nowhere.txt",
        "--textfile -",
        "--replay night.json --pid 1",
        "--format csv --json",
    ] {
        place.line(&format!("monitor {asked}")).code(2);
    }
    place.refuses(
        2,
        "monitor --json --record - | two outputs cannot both go to standard output | name a file
         monitor --format json --output - | standard output | name a file
         monitor --replay none.json | cannot read none.json: No such file | lsmeter monitor --record
         monitor --replay other.json | cannot read other.json: not a valid recording | monitor --record",
    );
}

/// Arguments are checked before programs are attached, and so for unprivileged users too.
#[test]
fn an_invalid_command_is_refused_at_once() {
    let place = Place::new();
    place.write("text", "no program");
    place.refuses(
        2,
        "monitor -- nosuch-command | cannot execute nosuch-command: there is no such | in PATH
         monitor -- ./text | cannot execute ./text: there is no such | the path of a program
         monitor -- . | cannot execute .: there is no such | the path of a program",
    );
}

#[test]
fn without_privileges_it_prints_a_hint() {
    let place = Place::new();
    let ended = place.run_unprivileged(&["monitor", "--duration", "1"]);
    let ended = ended.code(3);
    assert!(ended.stderr.contains("hint: "), "{}", ended.stderr);
}
