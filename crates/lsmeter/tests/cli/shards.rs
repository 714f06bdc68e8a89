// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter merge` and `export`, and `run --shard` without measurements.

use std::fs;
use std::path::Path;

use model::Document;
use serde_json::{Value, json};

use crate::common::Place;

const GOLDEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../model/tests/golden/run.json"
);

/// Deals the measurements of the golden file to `count` shards: 1.json, 2.json, …
fn shards(place: &Place, count: u32) {
    let golden: Value = serde_json::from_slice(&fs::read(GOLDEN).unwrap()).unwrap();
    let cells = golden["measurements"].as_array().unwrap();
    for index in 1..=count {
        let positions: Vec<usize> = (0..cells.len())
            .filter(|position| position % count as usize == index as usize - 1)
            .collect();
        let mut part = golden.clone();
        part["warnings"] = json!([]);
        let here: Vec<&Value> = positions.iter().map(|&position| &cells[position]).collect();
        part["measurements"] = json!(here);
        part["share"] = json!({
            "count": count, "shards": [index], "measurements": cells.len(), "positions": positions,
        });
        place.write(&format!("{index}.json"), part.to_string());
    }
}

#[test]
fn shards_are_merged_in_any_order() {
    let place = Place::new();
    shards(&place, 3);
    let ended = place.line("merge 3.json 1.json 2.json -o a.json").code(0);
    assert_eq!((&*ended.stdout, &*ended.stderr), ("", "14 measurements\n"));
    let printed = place.line("merge 1.json 2.json 3.json --quiet").code(0);
    let saved = fs::read_to_string(place.join("a.json")).unwrap();
    assert_eq!((printed.stdout, &*printed.stderr), (saved, ""));
    let run = place.document("a.json");
    let golden = Document::parse(&fs::read(GOLDEN).unwrap()).unwrap();
    assert_eq!((run.cells, run.share), (golden.cells, None));
    place.line("report a.json -o a.html").code(0);
    place.run(&["compare", "a.json", GOLDEN]).code(0);
}

#[test]
fn missing_shards_are_listed() {
    let place = Place::new();
    shards(&place, 3);
    let ended = place.line("merge 3.json -o part.json").code(5);
    assert_eq!(ended.stderr, "4 measurements\nmissing: shards 1, 2 of 3\n");
    place.line("merge 3.json --partial -o part.json").code(0);
    assert_eq!(place.document("part.json").share.unwrap().shards, [3]);
    place
        .line("merge part.json 2.json 1.json -o all.json")
        .code(0);
    assert_eq!(place.document("all.json").share, None);
}

#[test]
fn shards_that_do_not_fit_are_refused() {
    let place = Place::new();
    shards(&place, 3);
    let text = fs::read_to_string(place.join("1.json")).unwrap();
    for (name, from, to) in [
        ("other", "\"warmup\":64", "\"warmup\":65"),
        ("figure", "4979", "4980"),
        ("tool", "0.1.0", "0.0.9"),
        ("share", "\"count\":3", "\"count\":2000"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        place.write(&format!("{name}.json"), changed);
    }
    place.refuses(
        2,
        "merge 1.json 2.json 3.json other.json | different experiments: `warmup` differs | same spec
         merge 1.json 2.json 3.json figure.json | open:AA/BB (instructions) under | leave out one
         merge 1.json 2.json 3.json tool.json | written by lsmeter 0.1.0 | same lsmeter
         merge 1.json share.json | invalid number of shards 2000: expected 1 to 1000
         merge none.json | cannot read none.json | give
         merge 1.json --by-machine | several result files | --output",
    );
}

#[test]
fn times_of_two_machines_go_into_two_result_files() {
    let place = Place::new();
    shards(&place, 3);
    let text = fs::read_to_string(place.join("2.json")).unwrap();
    place.write("2.json", text.replace("\"cores\":2", "\"cores\":64"));
    let merge = "merge 1.json 2.json 3.json -o run.json";
    place.refuses(2, &format!("{merge} | 64 processors | --by-machine"));
    let ended = place.line(&format!("{merge} --by-machine")).code(0);
    let expected = "run-2.json: Intel(R) Xeon(R), 64 processors";
    assert!(ended.stderr.contains(expected), "{ended:#?}");
    let cells = ["run-1.json", "run-2.json"].map(|name| place.document(name).cells.len());
    assert_eq!(cells, [9, 5]);
}

#[test]
fn invalid_shards_are_refused() {
    let place = Place::new();
    place.refuses(
        2,
        "run --shard 0/4 | shard
         run --shard 5/4 | shard
         run --shard 4 | shard
         run --shard x/y | shard
         run --shard 1/2 --aa | cannot be used with",
    );
}

#[test]
fn exports() {
    let place = Place::new();
    let csv = place.run(&["export", GOLDEN]).code(0).stdout;
    assert_eq!(csv.lines().next().unwrap().split(',').count(), 47);
    let samples = ["export", GOLDEN, "--samples", "-o", "s.csv"];
    place.run(&samples).code(0);
    let samples = fs::read_to_string(place.join("s.csv")).unwrap();
    assert!(samples.lines().count() > 1);
    for (name, columns) in [
        ("profile.json", "kernel,release,"),
        ("sensitivity.json", "kernel,release,"),
        ("placement.json", "version,level,"),
        ("monitor.json", "begin_s,seconds,"),
    ] {
        let golden = Path::new(GOLDEN).with_file_name(name);
        let golden = golden.to_str().unwrap();
        let csv = place.run(&["export", golden]).code(0).stdout;
        assert!(csv.starts_with(columns) && csv.lines().count() > 1, "{csv}");
        place.run(&["export", golden, GOLDEN]).code(2);
    }
    shards(&place, 14);
    let table = "export 1.json --samples | no result file contains samples | --keep-samples";
    place.refuses(2, table);
}
