// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter list`.

use serde_json::Value;

use crate::common::Place;

fn strings(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|value| value.as_str().unwrap())
        .collect()
}

#[test]
fn listed_benchmarks() {
    let place = Place::new();
    let table = place.line("list benchmarks").code(0).stdout;
    insta::assert_snapshot!("list-benchmarks", table);

    let listing = place.line("list benchmarks --json").json();
    assert_eq!(listing["schema_version"], 1);
    let benchmarks = listing["benchmarks"].as_array().unwrap();
    assert_eq!(table.lines().count(), benchmarks.len() + 1);
    for benchmark in benchmarks {
        assert!(!strings(&benchmark["syscalls"]).is_empty(), "{benchmark}");
        for key in ["class", "source", "summary"] {
            assert_ne!(benchmark[key], "", "{benchmark}: {key}");
        }
        let measures = &benchmark["measures"];
        assert!(measures["latency"] == true || measures["throughput"] == true);
    }
}

#[test]
fn listed_benchmarks_can_be_chosen() {
    let place = Place::new();
    let listing = place.line("list benchmarks --json read:*KB").json();
    let benchmarks = listing["benchmarks"].as_array().unwrap();
    assert!(
        benchmarks
            .iter()
            .all(|benchmark| benchmark["name"] == "read")
    );
    assert_eq!(benchmarks.len(), 4);
    let [one, two] = ["getppid,stat:AA", "getppid stat:AA"]
        .map(|asked| place.line(&format!("list benchmarks {asked}")));
    assert_eq!(one.code(0).stdout, two.code(0).stdout);
    let table = "list benchmarks opne | pattern `opne` matches no benchmark | did you mean `open`?";
    place.refuses(2, table);
}

#[test]
fn listed_stacks_and_presets() {
    let place = Place::new();
    for what in ["stacks", "presets"] {
        let table = place.line(&format!("list {what}")).code(0).stdout;
        insta::assert_snapshot!(format!("list-{what}"), table);
    }
    let listed = |what: &str| {
        let listing = place.line(&format!("list {what} --json")).json();
        assert_eq!(listing["schema_version"], 1);
        listing[what].as_array().unwrap().clone()
    };
    let mut stacks = listed("stacks").into_iter();
    assert!(stacks.any(|stack| stack["stack"] == "capability,selinux"));
    let mut presets = listed("presets").into_iter();
    let quick = presets.find(|preset| preset["name"] == "quick").unwrap();
    assert_eq!(strings(&quick["experiment"]["kernels"]), ["debian:6.12"]);
    let configurations = &quick["experiment"]["configurations"];
    assert_eq!(configurations[0]["stack"], "capability");
    assert_eq!(strings(&quick["experiment"]["metrics"]), ["instructions"]);
}
