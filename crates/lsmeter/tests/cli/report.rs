// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter report`, on golden and invalid result files.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{Ended, Place};

fn golden(name: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here.join("../model/tests/golden").join(name);
    path.to_str().unwrap().to_owned()
}

fn run(place: &Place, args: &[&str]) -> Ended {
    place.run(&[&["report"], args].concat())
}

#[test]
fn pages() {
    let place = Place::new();
    let documents = ["run", "profile", "sensitivity", "monitor"];
    let documents = documents.map(|name| golden(&format!("{name}.json")));
    let documents = documents.each_ref().map(String::as_str);
    let ended = run(
        &place,
        &[&documents[..], &["--output", "report.html"]].concat(),
    );
    let ended = ended.code(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    let page = std::fs::read_to_string(place.join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    // Standard output gets the same page.
    assert_eq!(run(&place, &documents).code(0).stdout, page);
    let markdown = run(&place, &[documents[0], "--format", "markdown"]).code(0);
    assert!(markdown.stdout.contains("| benchmark |"));
}

#[test]
fn hooks_that_operations_call() {
    let place = Place::new();
    let document = golden("profile.json");
    let asked = ["--coverage", &document, "--format", "markdown"];
    let tables = run(&place, &asked).code(0).stdout;
    for expected in [
        "**Hooks that no operation calls: 2 of 4 of debian:6.1",
        "| inode\\_permission | 2 | 2 | open:AA, open:AA/BB |",
    ] {
        assert!(tables.contains(expected), "{tables}");
    }
    let refused = run(&place, &["--coverage", &golden("run.json")]).code(2);
    let expected = "does not list its kernel's hooks";
    assert!(refused.stderr.contains(expected), "{refused:#?}");
}

#[test]
fn one_figure() {
    let place = Place::new();
    let document = golden("run.json");
    let listed = run(&place, &[&document, "--list-figures"]).code(0).stdout;
    insta::assert_snapshot!("figures", listed);
    let name = "overhead-instructions";
    let svg = run(&place, &[&document, "--figure", name]).code(0).stdout;
    assert!(svg.starts_with("<svg"));
    for (ending, begins) in [("svg", "<svg"), ("csv", "operation,"), ("json", "{")] {
        let file = format!("figure.{ending}");
        run(&place, &[&document, "--figure", name, "-o", &file]).code(0);
        let text = std::fs::read_to_string(place.join(&file)).unwrap();
        assert!(text.starts_with(begins), "{text}");
    }
}

#[test]
fn rsvg_convert_makes_a_pdf_of_a_figure() {
    let place = Place::new();
    let documented = include_str!("../../../../docs/report.md");
    let commands = documented.split("```sh\n").nth(1).unwrap();
    let commands = commands.split("```").next().unwrap();
    std::fs::copy(golden("run.json"), place.join("run.json")).unwrap();
    let script = commands.replace("lsmeter ", "\"$L\" ");
    let mut command = std::process::Command::new("sh");
    command
        .args(["-e", "-c", &script])
        .env("L", env!("CARGO_BIN_EXE_lsmeter"));
    let ended = place.environment(&mut command).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let pdf = std::fs::read(place.join("overhead-instructions.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF"));
}

#[test]
fn invalid_inputs_are_refused() {
    let place = Place::new();
    place.write("empty.json", "");
    let text = std::fs::read(golden("run.json")).unwrap();
    place.write("cut.json", &text[..text.len() / 2]);
    let mixed = String::from_utf8(text).unwrap();
    let mixed = mixed.replacen("\"metric\":\"instructions\"", "\"metric\":\"time\"", 1);
    place.write("mixed.json", mixed);
    let (good, newer) = (golden("run.json"), golden("newer.json"));
    let mut errors = String::new();
    for args in [
        &["empty.json"][..],
        &["cut.json"],
        &["mixed.json"],
        &["missing.json"],
        &[newer.as_str()],
        &[good.as_str(), "--figure", "overhead-time-x"],
        &[good.as_str(), "--figure", "overhead-time", "-o", "x.png"],
    ] {
        let ended = run(&place, args).code(2);
        assert_eq!(ended.stdout, "");
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).display().to_string();
        errors += &ended.stderr.replace(&here, "HERE");
    }
    insta::assert_snapshot!("errors", errors);
}

/// A page's commands run in this lsmeter, with the policy and settings of the measurement.
#[test]
fn commands_of_a_page_are_understood() {
    let place = Place::new();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let documents = ["rules.json.xz", "avc.json.xz"].map(|name| results.join(name));
    let [rules, avc] = documents.each_ref().map(|path| path.to_str().unwrap());
    run(&place, &[rules, avc, "-o", "page.html"]).code(0);
    let page = std::fs::read_to_string(place.join("page.html")).unwrap();
    let commands = page
        .split('"')
        .filter(|text| text.starts_with("lsmeter profile ") && text.ends_with(" --bench"));
    let commands: BTreeSet<&str> = commands.collect();
    for settings in [
        "--policy enforcing --rules 10 ",
        "--set avc_entries=16 --set labels=256 ",
    ] {
        let is_there = commands.iter().any(|command| command.contains(settings));
        assert!(is_there, "{settings}");
    }
    for command in commands {
        let words = shlex::split(command).unwrap();
        let mut words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        words.extend(["getppid", "--offline"]);
        let hint = Some("lsmeter kernel ");
        place.run(&words).refused(2, "is not in the cache", hint);
    }
}
