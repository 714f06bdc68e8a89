// SPDX-License-Identifier: GPL-2.0-or-later
//! CI files in packaging/: the steps of the GitHub action, and the gate of the action and the GitLab
//! template, with booted kernels.
//!
//! Needs QEMU, bash and the kernels debian:6.1 and debian:6.12.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::Place;

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging");

/// The script of the action's measuring step.
fn step() -> String {
    let action = fs::read_to_string(Path::new(PACKAGING).join("github/action.yml")).unwrap();
    let (_, rest) = action.split_once("      run: |\n").unwrap();
    let lines = rest.lines().take_while(|line| line.starts_with("        "));
    let lines: Vec<&str> = lines.map(|line| &line[8..]).collect();
    assert!(lines.iter().any(|line| line.contains("ci/gate.sh")));
    lines.join("\n")
}

fn act(place: &Place, base: &str, head: &str) -> Output {
    let mut bash = Command::new("bash");
    // GitHub's runners start bash with these options.
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step()]);
    place
        .environment(&mut bash)
        .env("LSMETER", env!("CARGO_BIN_EXE_lsmeter"))
        .env("GITHUB_ACTION_PATH", Path::new(PACKAGING).join("github"))
        .env("GITHUB_OUTPUT", place.join("output"))
        .env("GITHUB_STEP_SUMMARY", place.join("summary"))
        .env("OUT", place.join("out"))
        .env("BASE", base)
        .env("HEAD", head)
        .env("STACKS", "capability,selinux")
        .env("BENCH", "stat:AA,getppid")
        .env("LIMIT", "1%")
        .env("ARGS", "--offline --fs tmpfs")
        .output()
        .unwrap()
}

#[test]
fn a_more_expensive_kernel_fails_the_job() {
    let place = Place::with_kernel("debian:6.1");
    let same = act(&place, "debian:6.12", "debian:6.12");
    assert!(same.status.success(), "{same:?}");
    let worse = act(&place, "debian:6.1", "debian:6.12");
    assert_eq!(worse.status.code(), Some(1), "{worse:?}");
    let summary = fs::read_to_string(place.join("summary")).unwrap();
    assert!(summary.contains("| stat:AA |"), "{summary}");
    let out = fs::read_to_string(place.join("output")).unwrap();
    assert!(out.starts_with("directory="), "{out}");
    for (name, begins) in [
        ("changes.html", "<!DOCTYPE html>"),
        ("page.html", "<!DOCTYPE html>"),
        ("junit.xml", "<?xml"),
    ] {
        let text = fs::read_to_string(place.join("out").join(name)).unwrap();
        assert!(text.starts_with(begins), "{name}");
    }
    let junit = fs::read_to_string(place.join("out/junit.xml")).unwrap();
    assert!(junit.contains("<failure"), "{junit}");
    // A missing kernel gives no verdict.
    let lost = act(&place, "debian:6.12", "./no-such-image");
    assert!(!matches!(lost.status.code(), Some(0 | 1)), "{lost:?}");
}
