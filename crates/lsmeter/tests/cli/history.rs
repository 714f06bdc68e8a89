// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter history`: documents added, and where their figures changed.

use std::path::{Path, PathBuf};

use experiment::{Cell, Document};

use crate::common::{Ended, Place, schema};

/// A run that began on a day of March, in which `open` takes so many instructions more.
fn document(place: &Place, day: u32, more: u64) -> PathBuf {
    let golden = include_bytes!("../../../experiment/tests/golden/run.json");
    let mut run = Document::parse(golden).unwrap();
    run.started = Some(format!("2026-03-{day:02}T10:00:00Z"));
    let of_open = |cell: &&mut Cell| cell.key.benchmark() == "open";
    for cell in run.cells.iter_mut().filter(of_open) {
        if let Some(paths) = cell.counted_mut().and_then(|of| of.paths.as_mut()) {
            paths.modal.instructions += more;
        }
    }
    let mut bytes = Vec::new();
    run.write(&mut bytes).unwrap();
    place.write(&format!("{day}.json"), bytes)
}

fn add(place: &Place, path: &Path, label: &str) -> Ended {
    place.run(&["history", "add", "--label", label, path.to_str().unwrap()])
}

fn filled() -> Place {
    let place = Place::new();
    for (day, more) in [(1, 0), (2, 0), (3, 40), (4, 40)] {
        let ended = add(&place, &document(&place, day, more), &format!("v6.{day}")).code(0);
        assert!(ended.stderr.contains(": added as 202603"), "{ended:#?}");
    }
    place
}

#[test]
fn help() {
    let place = Place::new();
    for (name, asked) in [
        ("help", &["help", "history"][..]),
        ("help-add", &["help", "history", "add"]),
        ("help-show", &["help", "history", "show"]),
        ("help-plot", &["help", "history", "plot"]),
        ("help-site", &["help", "history", "site"]),
    ] {
        insta::assert_snapshot!(name, place.run(asked).code(0).stdout);
    }
}

#[test]
fn what_changed_is_shown() {
    let place = filled();
    let ended = place.run(&["history", "show"]).code(0);
    assert_eq!(ended.stderr, "");
    insta::assert_snapshot!("changes", ended.stdout);
    let ended = place
        .run(&[
            "history", "show", "--all", "--bench", "stat", "--format", "markdown",
        ])
        .code(0);
    insta::assert_snapshot!("unchanged-markdown", ended.stdout);
    let ended = place
        .run(&[
            "history", "show", "--bench", "open", "--last", "2", "--format", "csv",
        ])
        .code(0);
    assert_eq!(ended.stdout.lines().count(), 1 + 3 * 2, "{ended:#?}");
    let ended = place.run(&["history", "show", "--bench", "stat"]).code(0);
    assert_eq!(ended.stdout, "Nothing changed: 3 series, 4 runs.\n");
    let ended = place.run(&["history", "show", "--json"]).code(0);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    schema::assert_fits(&json);
    assert_eq!(json["runs"][2]["label"], "v6.3");
}

#[test]
fn what_changed_is_drawn() {
    let place = filled();
    let ended = place
        .run(&["history", "plot", "-c", "capability,selinux"])
        .code(0);
    insta::assert_snapshot!("drawing", ended.stdout);
    let ended = place.run(&["history", "plot", "--bench", "stat"]).code(2);
    assert!(
        ended.stderr.contains("nothing changed in 3 series"),
        "{ended:#?}"
    );
    let ended = place.run(&["history", "plot", "--all"]).code(2);
    assert!(ended.stderr.contains("these are 3 drawings"), "{ended:#?}");
    assert!(ended.stderr.contains("--metric"), "{ended:#?}");
}

#[test]
fn what_is_there_is_said() {
    let place = filled();
    let ended = add(&place, &document(&place, 2, 0), "again").code(0);
    assert!(ended.stderr.contains(": is there as 2026"), "{ended:#?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    let path = document(&place, 1, 0);
    let refused = |asked: &[&str], what: &str, hint: &str| {
        let ended = place.run(asked).code(2);
        assert!(ended.stderr.contains(what), "{ended:#?}");
        assert!(ended.stderr.contains(hint), "{ended:#?}");
    };
    refused(
        &["history", "show", "--dir", "/nonexistent"],
        "/nonexistent: cannot be read",
        "lsmeter history add",
    );
    let dir = path.parent().unwrap().join("empty");
    std::fs::create_dir(&dir).unwrap();
    let dir = dir.to_str().unwrap();
    refused(&["history", "show", "--dir", dir], "no series in", "--all");
    refused(
        &["history", "show", "--dir", dir, "--alpha", "0"],
        "a level of significance of 0",
        "0.0005",
    );
    let path = path.to_str().unwrap();
    refused(
        &["history", "add", "--label", "a/b", path],
        "`a/b` is no label",
        "v6.12",
    );
    let cut = place.write("cut.json", "{\"schema_version\": 1, \"cells\": [");
    refused(
        &["history", "add", cut.to_str().unwrap()],
        "ends in the middle",
        "measure again",
    );
}

#[test]
fn a_site_has_a_page_of_each_document_and_benchmark() {
    let place = Place::new();
    for (day, more) in [(1, 0), (2, 0), (3, 40)] {
        document(&place, day, more);
    }
    let placement = include_bytes!("../../../experiment/tests/golden/placement.json");
    place.write("placement.json", placement);
    place.write("half.json", b"{\"kind\": \"run\", \"schema_ver");
    place.write("notes.txt", b"none of it");
    let dir = place.path().to_str().unwrap().to_owned();
    let made = [
        "history", "site", "--dir", &dir, "--title", "Ours", "-o", "public",
    ];
    let ended = place.run(&made).code(0);
    assert!(ended.stderr.contains("4 documents, "), "{ended:#?}");
    assert!(ended.stderr.contains("left out: half.json: "), "{ended:#?}");
    let page = |name: &str| {
        let page = std::fs::read_to_string(place.path().join("public").join(name));
        page.unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let index = page("index.html");
    assert!(index.contains("<h1>Ours</h1>"));
    // What stacks cost, before all else.
    let costs = index.find("id=\"figure=costs-1\"").unwrap();
    assert!(costs < index.find("id=\"documents\"").unwrap());
    for link in ["1.html", "3.html", "placement.html", "history-open.html"] {
        assert!(index.contains(&format!("href=\"{link}\"")), "{link}");
        assert!(page(link).starts_with("<!DOCTYPE html>"), "{link}");
    }
    assert!(index.contains("half.json: ") && !index.contains("notes.txt"));
    let open = page("history-open.html");
    assert!(open.contains("open over time") && open.contains("href=\"index.html\""));
    assert!(open.contains("<svg"), "{open}");
    // Again into the same place.
    place.run(&made).code(0);
}

#[test]
fn no_site_is_made_of_nothing() {
    let place = Place::new();
    let dir = place.path().to_str().unwrap().to_owned();
    let made = ["history", "site", "--dir", &dir, "-o", "public"];
    place
        .run(&made)
        .refused(2, "no document is in", Some("--dir"));
    let made = ["history", "site", "--dir", "nowhere", "-o", "public"];
    place.run(&made).refused(2, "nowhere", Some("--dir"));
}
