// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter merge`, `plan` and `export`, and `run` in parts as far as nothing is measured.

use std::fs;
use std::path::Path;

use model::Document;
use serde_json::{Value, json};

use crate::common::Place;

const GOLDEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../model/tests/golden/run.json"
);

/// The golden document's cells in so many shards, in turns: 1.json, 2.json, …
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

fn read(path: &Path) -> Document {
    Document::parse(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn help() {
    let place = Place::new();
    for command in ["merge", "export"] {
        let text = place.run(&["help", command]).code(0).stdout;
        insta::assert_snapshot!(format!("help-{command}"), text);
    }
}

#[test]
fn shards_are_merged_in_any_order() {
    let place = Place::new();
    shards(&place, 3);
    let ended = place
        .run(&["merge", "3.json", "1.json", "2.json", "-o", "a.json"])
        .code(0);
    assert_eq!((&*ended.stdout, &*ended.stderr), ("", "14 cells\n"));
    let printed = place
        .run(&["merge", "1.json", "2.json", "3.json", "--quiet"])
        .code(0);
    assert_eq!(
        printed.stdout,
        fs::read_to_string(place.join("a.json")).unwrap()
    );
    assert_eq!(printed.stderr, "");
    let run = read(&place.join("a.json"));
    assert_eq!(run.cells, read(Path::new(GOLDEN)).cells);
    assert_eq!(run.share, None);
    place.run(&["report", "a.json", "-o", "a.html"]).code(0);
    place.run(&["compare", "a.json", GOLDEN]).code(0);
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new();
    shards(&place, 3);
    let ended = place.run(&["merge", "3.json", "-o", "part.json"]).code(5);
    assert_eq!(ended.stderr, "4 cells\nmissing: shards 1, 2 of 3\n");
    let partial = ["merge", "3.json", "--partial", "-o", "part.json"];
    place.run(&partial).code(0);
    let run = read(&place.join("part.json"));
    assert_eq!(run.share.unwrap().shards, [3]);
    place
        .run(&["merge", "part.json", "2.json", "1.json", "-o", "all.json"])
        .code(0);
    assert_eq!(read(&place.join("all.json")).share, None);
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = Place::new();
    shards(&place, 3);
    let damage = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(place.join("1.json")).unwrap();
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        place.write(name, changed);
    };
    let refused = |name: &str, error: &str, hint: &str| {
        let arguments = ["merge", "1.json", "2.json", "3.json", name];
        place.run(&arguments).refused(2, error, Some(hint));
    };
    damage("other.json", "\"warmup\":64", "\"warmup\":65");
    refused(
        "other.json",
        "different experiments: `warmup` differs",
        "same spec",
    );
    damage("figure.json", "4979", "4980");
    refused(
        "figure.json",
        "open:AA/BB (instructions) under capability",
        "leave one",
    );
    damage("tool.json", "0.1.0", "0.0.9");
    refused("tool.json", "written by lsmeter 0.1.0", "same lsmeter");
    damage("share.json", "\"count\":3", "\"count\":2000");
    let contradiction = "2000 shards: there may be 1 to 1000";
    place
        .run(&["merge", "1.json", "share.json"])
        .refused(2, contradiction, None);
    place
        .run(&["merge", "none.json"])
        .refused(2, "cannot read none.json", Some("give"));
    let both = ["merge", "1.json", "--by-machine"];
    place
        .run(&both)
        .refused(2, "several documents", Some("--output"));
}

#[test]
fn times_of_two_machines_go_into_two_documents() {
    let place = Place::new();
    shards(&place, 3);
    let text = fs::read_to_string(place.join("2.json")).unwrap();
    place.write("2.json", text.replace("\"cores\":2", "\"cores\":64"));
    let merge = ["merge", "1.json", "2.json", "3.json", "-o", "run.json"];
    place
        .run(&merge)
        .refused(2, "64 processors", Some("--by-machine"));
    let ended = place.run(&[&merge[..], &["--by-machine"]].concat()).code(0);
    assert!(
        ended
            .stderr
            .contains("run-2.json: Intel(R) Xeon(R), 64 processors"),
        "{ended:#?}"
    );
    let cells = ["run-1.json", "run-2.json"].map(|name| read(&place.join(name)).cells.len());
    assert_eq!(cells, [9, 5]);
}

#[test]
fn parts_that_make_no_sense() {
    let place = Place::new();
    for shard in ["0/4", "5/4", "4", "x/y"] {
        let ended = place.run(&["run", "--shard", shard]).code(2);
        assert!(ended.stderr.contains("shard"), "{ended:#?}");
    }
    place.run(&["run", "--shard", "1/2", "--aa"]).code(2);
    let mut command = place.command(&["run", "--shard", "slurm"]);
    let ended = command.env_remove("SLURM_ARRAY_TASK_ID").output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert!(
        stderr.contains("submit the job with sbatch --array=1-N"),
        "{stderr}"
    );
}

#[test]
fn exports() {
    let place = Place::new();
    let csv = place.run(&["export", GOLDEN]).code(0).stdout;
    assert_eq!(csv.lines().next().unwrap().split(',').count(), 48);
    let samples = ["export", GOLDEN, "--samples", "-o", "s.csv"];
    place.run(&samples).code(0);
    assert!(
        fs::read_to_string(place.join("s.csv"))
            .unwrap()
            .lines()
            .count()
            > 1
    );
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
    let none = ["export", "1.json", "--samples"];
    place.run(&none).refused(
        2,
        "none of the documents holds samples",
        Some("--keep-samples"),
    );
}
