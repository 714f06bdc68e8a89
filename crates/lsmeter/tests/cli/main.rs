// SPDX-License-Identifier: GPL-2.0-or-later
//! The command line: what it prints, and how it refuses what makes no sense. Fast:
//! nothing is booted.

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
mod toy;
mod watch;

use std::fs;
use std::process::Command;

use common::{Place, names};
use serde_json::Value;

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["--help"]).code(0).stdout);
    insta::assert_snapshot!("help-run", place.run(&["help", "run"]).code(0).stdout);
    let short = place.run(&["run", "-h"]).code(0).stdout;
    assert!(short.lines().count() <= 60, "one screen: {short}");
    insta::assert_snapshot!("help-run-short", short);
    insta::assert_snapshot!("help-kernel", place.run(&["help", "kernel"]).code(0).stdout);
    let build = place.run(&["help", "kernel", "build"]).code(0).stdout;
    insta::assert_snapshot!("help-kernel-build", build);
}

#[test]
fn no_command_is_wrong_usage() {
    let place = Place::new();
    let ended = place.run(&[]).code(2);
    assert!(ended.stderr.contains("Usage: lsmeter"), "{ended:#?}");
    place.run(&["--version"]).code(0);
}

#[test]
fn a_configuration_that_makes_no_sense() {
    let place = Place::new();
    let path = place.write("config/lsmeter/config.toml", "mirorr = \"x\"\n");
    let ended = place.run(&["run"]).code(2);
    assert!(ended.stderr.contains(path.to_str().unwrap()), "{ended:#?}");
    assert!(
        ended.stderr.contains("unknown field `mirorr`"),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains("`mirror`"), "{ended:#?}");
    fs::write(&path, "qemu = \"/nonexistent/from-config\"\n").unwrap();
    let ended = place.run(&["doctor", "--json"]).code(3);
    assert!(
        ended.stdout.contains("/nonexistent/from-config"),
        "{ended:#?}"
    );
}

#[test]
fn doctor_tells_the_same_in_both_forms() {
    let place = Place::new();
    // No QEMU, so that it does not depend on the machine how it ends.
    let json = place
        .run(&["doctor", "--json", "--qemu", "/nonexistent/qemu"])
        .code(3);
    let listing: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(listing["schema_version"], 1);
    let findings = listing["findings"].as_array().unwrap();
    let find = |what: &str| {
        findings
            .iter()
            .find(|finding| finding["what"] == what)
            .unwrap()
    };
    assert_eq!(find("QEMU")["verdict"], "essential");
    assert!(
        find("QEMU")["hint"]
            .as_str()
            .unwrap()
            .contains("apt-get install")
    );
    assert_eq!(find("kernels")["verdict"], "missing");
    assert!(
        find("kernels")["hint"]
            .as_str()
            .unwrap()
            .contains("lsmeter kernel fetch")
    );
    let text = place
        .run(&["doctor", "--qemu", "/nonexistent/qemu"])
        .code(3)
        .stdout;
    for finding in findings {
        let verdict = finding["verdict"].as_str().unwrap();
        assert!(
            ["ok", "missing", "essential"].contains(&verdict),
            "{finding}"
        );
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
    for (shell, name) in [
        ("bash", "lsmeter.bash"),
        ("zsh", "_lsmeter"),
        ("fish", "lsmeter.fish"),
    ] {
        assert!(read(name).contains("policy-file"), "{name}");
        // A shell that is not here cannot be asked.
        let no_execute = if shell == "fish" {
            "--no-execute"
        } else {
            "-n"
        };
        let checked = Command::new(shell)
            .arg(no_execute)
            .arg(made.join(name))
            .output();
        if let Ok(output) = checked {
            assert!(output.status.success(), "{shell}: {output:?}");
        } else {
            assert_ne!(shell, "bash", "these tests need bash");
        }
    }
    let mut pages = names(&made);
    pages.retain(|name| name.ends_with(".1"));
    for page in [
        "lsmeter.1",
        "lsmeter-run.1",
        "lsmeter-profile.1",
        "lsmeter-kernel-fetch.1",
        "lsmeter-kernel-build.1",
    ] {
        assert!(pages.iter().any(|name| name == page), "{pages:?}");
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
    let error = "cannot write into file/below";
    place
        .run(&["generate", "file/below"])
        .refused(3, error, None);
}

const RUN: &str = include_str!("../../../model/tests/golden/run.json");

#[test]
fn a_closed_pipe_is_no_fault() {
    let place = Place::new();
    let run = place.write("run.json", RUN);
    let run = run.to_str().unwrap();
    let format = |format| {
        [
            "compare",
            run,
            run,
            "--fail-above",
            "1%",
            "--format",
            format,
        ]
    };
    let compared = ["table", "markdown", "csv", "json", "junit"].map(format);
    let exported = ["export", run];
    let reported = ["html", "markdown"].map(|format| ["report", run, "--format", format]);
    let commands = [
        &["list", "benchmarks"][..],
        &["list", "benchmarks", "--json"],
        &["--help"],
        &exported,
    ]
    .into_iter()
    .chain(compared.iter().map(|arguments| &arguments[..]))
    .chain(reported.iter().map(|arguments| &arguments[..]));
    for arguments in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command(arguments);
        let output = command.stdout(writer).output().unwrap();
        let ended = common::Ended::of(arguments, output);
        assert_eq!(ended.stderr, "", "{ended:#?}");
        assert_eq!(ended.code(0).signal, None);
    }
}
