// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter learn`: what it refuses before anything boots.

use crate::common::Place;

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["help", "learn"]).code(0).stdout);
    insta::assert_snapshot!("help-short", place.run(&["learn", "-h"]).code(0).stdout);
}

#[test]
fn a_policy_is_not_written_over_unasked() {
    let place = Place::new();
    place.write("policy/domain_policy.conf", "<kernel>\n");
    place.write("file", "");
    let learn = |output| place.run(&["learn", "--offline", "--output", output]);
    learn("policy").refused(2, "policy is not empty", Some("--force"));
    learn("file").refused(3, "cannot write a policy to file", Some("name a directory"));
    learn("not/here").refused(3, "cannot write not/here", Some("name a file"));
    // Asked, it goes on: no kernel is here.
    let forced = ["learn", "--offline", "--output", "policy", "--force"];
    place.run(&forced).refused(2, "debian:6.12", Some("fetch"));
    assert_eq!(place.names(), ["cache", "file", "policy"]);
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let place = Place::new();
    place.write("host.toml", "where = \"host\"\ndir = \"/tmp\"\n");
    let refused = |flags: &[&str], error: &str, hint: &str| {
        let asked = [&["learn", "--offline", "-o", "policy"], flags].concat();
        place.run(&asked).refused(2, error, Some(hint));
    };
    let stack = ["--stack", "capability,selinux"];
    refused(
        &stack,
        "a stack without TOMOYO",
        "--stack capability,tomoyo",
    );
    refused(&["--jobs", "2"], "TOMOYO learns in one", "leave it out");
    refused(&["--stack", "none"], "a stack without TOMOYO", "add it");
    refused(&["--stack", "a b"], "a b", "");
    refused(&["versions"], "on one kernel", "--kernel debian:5.10");
    refused(&["host.toml"], "not measured in virtual machines", "where");
    refused(&["web"], "whole programs", "benchmarks");
    refused(
        &["--allowed", "raed /etc/hosts"],
        "no access",
        "/etc/shadow",
    );
    let theirs = ["--allowed", "landlock: read /etc/hosts"];
    refused(&theirs, "--allowed is of landlock", "leave out");
    refused(&["--bench", "opne"], "opne", "open");
    refused(&["--work-dir", "/proc/x"], "`work_dir`", "give a path");
    place.run(&["learn"]).code(2);
    assert_eq!(place.names(), ["host.toml"]);
}
