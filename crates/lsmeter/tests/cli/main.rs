// SPDX-License-Identifier: GPL-2.0-or-later
//! Output and errors of the command line. These tests are fast, because they boot nothing.

mod bisect;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod estimate;
mod given;
mod kernel;
mod kernel_build;
mod list;
mod monitor;
mod output;
mod pages;
mod placement;
mod placements;
mod predict;
mod profile;
mod report;
mod run;
mod sensitivity;
mod shards;

use std::fs;
use std::process::Command;

use common::{Place, names};
use serde_json::Value;

#[test]
fn help() {
    let place = Place::new();
    let all = ",run,kernel,kernel build,bisect,compare,estimate,export,merge,monitor,placement,\
               placement checks,placement diff,predict,profile,report,sensitivity";
    for command in all.split(',') {
        let name = format!("help-{}", command.replace(' ', "-"));
        let long = place.line(&format!("{command} --help")).code(0).stdout;
        insta::assert_snapshot!(name.trim_end_matches('-'), long);
    }
    let with_short = "run,compare,estimate,monitor,placement,predict,profile,report,sensitivity";
    for command in with_short.split(',') {
        let short = place.line(&format!("{command} -h")).code(0).stdout;
        assert!(short.lines().count() <= 60, "one screen: {short}");
        insta::assert_snapshot!(format!("help-{command}-short"), short);
    }
}

#[test]
fn no_command_is_a_usage_error() {
    let place = Place::new();
    let ended = place.run(&[]).code(2);
    assert!(ended.stderr.contains("Usage: lsmeter"), "{ended:#?}");
    place.line("--version").code(0);
}

#[test]
fn invalid_configurations_are_refused() {
    let place = Place::new();
    let path = place.write("config/lsmeter/config.toml", "mirorr = \"x\"\n");
    let ended = place.line("run").code(2);
    for expected in [path.to_str().unwrap(), "unknown field `mirorr`", "`mirror`"] {
        assert!(ended.stderr.contains(expected), "{ended:#?}");
    }
    fs::write(&path, "qemu = \"/nonexistent/from-config\"\n").unwrap();
    let ended = place.line("doctor --json").code(3);
    assert!(ended.stdout.contains("/nonexistent/from-config"));
}

#[test]
fn doctor_prints_the_same_as_text_and_json() {
    let place = Place::new();
    // With a QEMU that does not exist, the exit status is the same on every machine.
    let doctor = "doctor --qemu /nonexistent/qemu";
    let json = place.line(&format!("{doctor} --json")).code(3).stdout;
    let listing: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(listing["schema_version"], 1);
    let findings = listing["findings"].as_array().unwrap();
    for (what, verdict, hint) in [
        ("QEMU", "essential", "apt-get install"),
        ("kernels", "missing", "lsmeter kernel fetch"),
    ] {
        let mut findings = findings.iter();
        let found = findings.find(|finding| finding["what"] == what).unwrap();
        assert_eq!(found["verdict"], verdict);
        assert!(found["hint"].as_str().unwrap().contains(hint), "{found}");
    }
    let text = place.line(doctor).code(3).stdout;
    for finding in findings {
        let verdict = finding["verdict"].as_str().unwrap();
        assert!(["ok", "missing", "essential"].contains(&verdict));
        assert_eq!(finding.get("hint").is_some(), verdict != "ok", "{finding}");
        let line = format!("  {}: ", finding["what"].as_str().unwrap());
        assert!(text.contains(&line), "{line}");
    }
}

#[test]
fn completions_and_manual_pages() {
    let place = Place::new();
    place.run(&["generate", "made/for/them"]).code(0);
    let made = place.join("made/for/them");
    let read = |name: &str| fs::read_to_string(made.join(name)).unwrap();
    for (shell, check, name) in [
        ("bash", "-n", "lsmeter.bash"),
        ("zsh", "-n", "_lsmeter"),
        ("fish", "--no-execute", "lsmeter.fish"),
    ] {
        assert!(read(name).contains("policy-file"), "{name}");
        // If the shell is missing, the script is not checked.
        let mut checked = Command::new(shell);
        match checked.arg(check).arg(made.join(name)).output() {
            Ok(output) => assert!(output.status.success(), "{shell}: {output:?}"),
            Err(_) => assert_ne!(shell, "bash", "these tests need bash"),
        }
    }
    let mut pages = names(&made);
    pages.retain(|name| name.ends_with(".1"));
    for command in ["", "-run", "-profile", "-kernel-fetch", "-kernel-build"] {
        let page = format!("lsmeter{command}.1");
        assert!(pages.contains(&page), "{pages:?}");
    }
    for page in &pages {
        let path = made.join(page);
        let groff = Command::new("groff")
            .args(["-k", "-man", "-Tutf8", "-ww", "-z"])
            .arg(&path)
            .output();
        if let Ok(output) = groff {
            assert!(output.status.success(), "{page}: {output:?}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{page}");
        }
        let mandoc = Command::new("mandoc")
            .args(["-T", "lint", "-W", "error"])
            .arg(&path)
            .output();
        if let Ok(output) = mandoc {
            assert!(output.status.success(), "{page}: {output:?}");
        }
    }
    place.write("file", "");
    place.refuses(3, "generate file/below | cannot write into file/below");
}

const RUN: &str = include_str!("../../../model/tests/golden/run.json");

#[test]
fn a_closed_pipe_is_not_an_error() {
    let place = Place::new();
    place.write("run.json", RUN);
    let compared = ["table", "markdown", "csv", "json", "junit"];
    let compared = compared
        .map(|format| format!("compare run.json run.json --fail-above 1% --format {format}"));
    let others = [
        "list benchmarks",
        "list benchmarks --json",
        "--help",
        "export run.json",
        "report run.json --format html",
        "report run.json --format markdown",
    ];
    for line in compared.iter().map(String::as_str).chain(others) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command(&common::words(line));
        let output = command.stdout(writer).output().unwrap();
        let ended = common::Ended::new(&[line], output);
        assert_eq!(ended.stderr, "", "{ended:#?}");
        assert_eq!(ended.code(0).signal, None);
    }
}
