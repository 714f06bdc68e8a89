// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter check --from`, on documents that were made of a stock kernel.

use std::fs;
use std::path::{Path, PathBuf};

use experiment::Document;
use serde_json::Value;

use crate::common::{Ended, Place, schema};

/// What `lsmeter check --keep` kept of debian:6.12.
fn golden(place: &Place, name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/golden");
    let packed = fs::read(directory.join(format!("{name}.json.xz"))).unwrap();
    place.write(&format!("{name}.json"), testing::unpack(&packed))
}

/// `lsmeter check` of these documents.
fn check(place: &Place, documents: &[&Path], more: &[&str]) -> Ended {
    let mut asked = vec!["check".to_owned()];
    for document in documents {
        asked.extend(["--from".to_owned(), document.display().to_string()]);
    }
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    place.run(&[&asked[..], more].concat())
}

fn all(place: &Place) -> [PathBuf; 3] {
    ["profile", "counts", "sensitivity"].map(|name| golden(place, name))
}

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["help", "check"]).code(0).stdout);
    insta::assert_snapshot!("help-short", place.run(&["check", "-h"]).code(0).stdout);
}

#[test]
fn documents_that_agree() {
    let place = Place::new();
    let [profile, counts, sensitivity] = all(&place);
    let documents = [&*profile, &*counts, &*sensitivity];
    let ended = check(&place, &documents, &[]).code(0);
    assert_eq!(ended.stderr, "");
    insta::assert_snapshot!("agree", ended.stdout);
    let ended = check(&place, &documents, &["--all", "--verbose"]).code(0);
    assert!(ended.stdout.contains("All hooks of all operations"));
    let ended = check(&place, &documents, &["--export-markdown", "-"]).code(0);
    assert!(ended.stdout.contains("| profile = monitor |"), "{ended:#?}");
    // One instrument alone tells nothing of itself.
    let ended = check(&place, &[&profile], &[]).code(5);
    assert!(ended.stderr.starts_with("inconclusive: "), "{ended:#?}");
}

/// Documents of version 1 and what is written of them now say the same.
#[test]
fn documents_of_either_version() {
    let place = Place::new();
    let asked = |documents: &[PathBuf]| {
        let documents: Vec<&Path> = documents.iter().map(PathBuf::as_path).collect();
        check(&place, &documents, &["--all", "--verbose"]).code(0)
    };
    let old = all(&place);
    let new = old.clone().map(|path| {
        let document = Document::parse(&fs::read(&path).unwrap()).unwrap();
        let mut bytes = Vec::new();
        document.write(&mut bytes).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        place.write(&format!("{name}-2.json"), bytes)
    });
    assert_eq!(asked(&new).stdout, asked(&old).stdout);
}

#[test]
fn a_document_for_others() {
    let place = Place::new();
    let [profile, counts, _] = all(&place);
    let document = check(&place, &[&profile, &counts], &["--json"]).json();
    schema::assert_fits(&document);
    assert_eq!(document["summary"]["hooks"]["disagree"], 0);
    let ended = check(&place, &[&profile, &counts], &["-o", "check.json"]).code(0);
    assert!(ended.stdout.contains("do the instruments agree?"));
    let saved: Value =
        serde_json::from_slice(&fs::read(place.join("check.json")).unwrap()).unwrap();
    assert_eq!(saved, document);
    // A page has the same tables.
    let tables = check(&place, &[&profile, &counts], &["--export-markdown", "-"]).code(0);
    let page = place.run(&["report", "check.json", "--format", "markdown"]);
    let page = page.code(0).stdout;
    // Its warnings come before them.
    let tables = tables.stdout.split("- warning: ").next().unwrap();
    assert!(page.contains(tables.trim_end()), "{page}");
}

/// Takes a hook away from an operation of a document, and says what it was called.
fn drop_hook(document: &mut Value, list: &str, benchmark: &str, variant: &str, hook: &str) {
    let operations = document[list].as_array_mut().unwrap();
    let operation = operations
        .iter_mut()
        .find(|of| of["benchmark"] == benchmark && of["variant"] == variant)
        .unwrap();
    let hooks = operation["hooks"].as_array_mut().unwrap();
    let at = hooks.iter().position(|of| of["hook"] == hook).unwrap();
    let dropped = hooks.remove(at);
    // So that the document contradicts itself in nothing else.
    if let Some(instructions) = dropped["outermost"].as_u64() {
        let hooked = operation["hooked"].as_u64().unwrap();
        operation["hooked"] = (hooked - instructions).into();
    }
}

#[test]
fn an_instrument_that_misses_a_hook_is_caught() {
    let place = Place::new();
    let [profile, counts, sensitivity] = all(&place);
    for (broken, list) in [(&profile, "profiles"), (&counts, "counted")] {
        let mut document: Value = serde_json::from_slice(&fs::read(broken).unwrap()).unwrap();
        drop_hook(&mut document, list, "open", "AA", "inode_permission");
        let path = place.write("broken.json", document.to_string());
        let others: Vec<&Path> = all_but(broken, &[&profile, &counts, &sensitivity]);
        let documents = [&[&*path], &others[..]].concat();
        let ended = check(&place, &documents, &[]).code(1);
        let told = "disagree: open:AA: inode_permission: ";
        assert!(ended.stderr.contains(told), "{ended:#?}");
        assert!(
            ended
                .stdout
                .contains("Hooks in which instruments do not agree")
        );
    }
}

fn all_but<'a>(one: &Path, all: &[&'a PathBuf]) -> Vec<&'a Path> {
    let others = all.iter().filter(|path| path.as_path() != one);
    others.map(|path| path.as_path()).collect()
}

#[test]
fn what_makes_no_sense() {
    let place = Place::new();
    let [profile, counts, _] = all(&place);
    check(&place, &[&profile, &profile], &[]).refused(
        2,
        "is the second profile document",
        Some("one of each kind"),
    );
    check(&place, &[&profile, &counts], &["--kernel", "debian:5.4"]).refused(
        2,
        "no document holds anything of debian:5.4",
        Some("--kernel, --stack and --fs"),
    );
    check(&place, &[Path::new("missing.json")], &[]).refused(
        2,
        "cannot read missing.json",
        Some("a document that lsmeter wrote"),
    );
    let run = place.write("run.json", r#"{"schema_version": 1, "cells": []}"#);
    check(&place, &[&run], &[]).refused(
        2,
        "is a run document, which counts no hooks",
        Some("give"),
    );
    let skip = ["profile", "monitor", "sensitivity", "placement"];
    let skip: Vec<&str> = skip.iter().flat_map(|name| ["--skip", name]).collect();
    check(&place, &[&profile], &skip).refused(2, "every instrument is left out", Some("two"));
    let twice = [
        "check",
        "--offline",
        "--stack",
        "capability",
        "--stack",
        "capability",
    ];
    place
        .run(&twice)
        .refused(2, "capability is named twice", Some("once"));
    place
        .run(&["check", "--stack", "default"])
        .refused(2, "not known what is in it", Some("name"));
    place.run(&["in-guest-monitor"]).refused(
        2,
        "in virtual machines only",
        Some("run `lsmeter check`"),
    );
}
