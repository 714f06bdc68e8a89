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
    let table = place.run(&["list", "benchmarks"]).code(0).stdout;
    insta::assert_snapshot!("list-benchmarks", table);

    let listing = place.run(&["list", "benchmarks", "--json"]).json();
    assert_eq!(listing["schema_version"], 1);
    let benchmarks = listing["benchmarks"].as_array().unwrap();
    assert_eq!(table.lines().count(), benchmarks.len() + 1);
    for benchmark in benchmarks {
        let title = format!("{}:{}", benchmark["name"], benchmark["variant"]);
        assert!(!strings(&benchmark["syscalls"]).is_empty(), "{title}");
        for key in ["class", "source", "summary"] {
            assert!(
                !benchmark[key].as_str().unwrap().is_empty(),
                "{title}: {key}"
            );
        }
        let measures = &benchmark["measures"];
        assert!(
            measures["latency"] == true || measures["throughput"] == true,
            "{title}"
        );
    }
    let of = |suite: &str, name: &str| {
        let fits = |b: &&Value| b["suite"] == suite && (name == "*" || b["name"] == name);
        benchmarks.iter().filter(fits).count()
    };
    // Table 3 of the paper has 14 benchmarks; the paths of Table 6 are beside them.
    let mut paper: Vec<&str> = benchmarks
        .iter()
        .filter(|benchmark| benchmark["suite"] == "paper")
        .map(|benchmark| benchmark["name"].as_str().unwrap())
        .collect();
    paper.dedup();
    assert_eq!(paper.len(), 14, "{paper:?}");
    // Each transfer size counts twice there, as latency and as throughput.
    let twice = benchmarks
        .iter()
        .filter(|b| b["suite"] == "paper")
        .filter(|b| b["measures"]["latency"] == true && b["measures"]["throughput"] == true)
        .count();
    assert!(
        of("paper", "*") + twice >= 59,
        "{} and {twice}",
        of("paper", "*")
    );
    for size in ["0KB", "1KB", "2KB", "4KB"] {
        for name in ["read", "write", "copy"] {
            let found = benchmarks
                .iter()
                .any(|b| b["name"] == name && b["variant"] == size);
            assert!(found, "{name}:{size}");
        }
    }
    assert!(of("paper", "open") >= 11);
    assert!(of("paper", "stat") >= 11);
    assert!(
        of("lmbench", "*") > 0 && of("howells", "treewalk") > 0 && of("beyond", "getppid") == 1
    );
}

#[test]
fn listed_benchmarks_can_be_chosen() {
    let place = Place::new();
    let listing = place
        .run(&["list", "benchmarks", "--json", "read:*KB"])
        .json();
    let benchmarks = listing["benchmarks"].as_array().unwrap();
    assert!(
        benchmarks
            .iter()
            .all(|benchmark| benchmark["name"] == "read")
    );
    assert_eq!(benchmarks.len(), 4);
    let several = |asked: &[&str]| {
        place
            .run(&[&["list", "benchmarks"], asked].concat())
            .code(0)
            .stdout
    };
    assert_eq!(
        several(&["getppid,stat:AA"]),
        several(&["getppid", "stat:AA"])
    );
    let asked = ["list", "benchmarks", "opne"];
    place.run(&asked).refused(
        2,
        "pattern `opne` fits no benchmark",
        Some("did you mean `open`?"),
    );
}

#[test]
fn listed_stacks_and_presets() {
    let place = Place::new();
    insta::assert_snapshot!("list-stacks", place.run(&["list", "stacks"]).code(0).stdout);
    insta::assert_snapshot!(
        "list-presets",
        place.run(&["list", "presets"]).code(0).stdout
    );

    let listing = place.run(&["list", "stacks", "--json"]).json();
    assert_eq!(listing["schema_version"], 1);
    let stacks = listing["stacks"].as_array().unwrap();
    assert!(
        stacks
            .iter()
            .any(|stack| stack["stack"] == "capability,selinux")
    );

    let listing = place.run(&["list", "presets", "--json"]).json();
    assert_eq!(listing["schema_version"], 1);
    let presets = listing["presets"].as_array().unwrap();
    let quick = presets
        .iter()
        .find(|preset| preset["name"] == "quick")
        .unwrap();
    assert_eq!(strings(&quick["experiment"]["kernels"]), ["debian:6.12"]);
    let configurations = &quick["experiment"]["configurations"];
    assert_eq!(configurations[0]["stack"], "capability");
    assert_eq!(strings(&quick["experiment"]["metrics"]), ["instructions"]);
}

#[test]
fn listed_published_figures() {
    let place = Place::new();
    let table = place
        .run(&["list", "published", "paper:table6.*"])
        .code(0)
        .stdout;
    // Table 6: how often open asks for permission, by depth.
    assert!(
        table.contains("open") && table.contains("Table 6"),
        "{table}"
    );
    let csv = place.run(&["list", "published", "--csv"]).code(0).stdout;
    assert!(csv.starts_with("figure,"), "{csv}");
    assert!(csv.lines().count() > 100);
    let none = place.run(&["list", "published", "nobody:*"]).code(2);
    assert!(
        none.stderr.contains("hint: `lsmeter list published`"),
        "{}",
        none.stderr
    );
}
