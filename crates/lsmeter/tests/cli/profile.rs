// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter profile` that does not get as far as to boot.

use std::fs;

use crate::common::Place;

#[test]
fn help() {
    let place = Place::new();
    let asked = ["help", "profile"];
    insta::assert_snapshot!("help", place.run(&asked).code(0).stdout);
    let asked = ["profile", "-h"];
    insta::assert_snapshot!("help-short", place.run(&asked).code(0).stdout);
}

#[test]
fn a_comparison_needs_two_stacks() {
    let place = Place::new();
    let hint = Some("name one with --stack");
    for asked in [
        &[
            "profile",
            "--baseline",
            "capability",
            "--stack",
            "capability",
        ][..],
        &[
            "profile",
            "--baseline",
            "default",
            "--stack",
            "default",
            "--check",
        ],
    ] {
        let error = format!("there is no stack to compare with {}", asked[2]);
        place.run(asked).refused(2, &error, hint);
    }
    let asked = ["profile", "--baseline", "SELinux"];
    let error = "stack `SELinux`: 'S' in a module name";
    place.run(&asked).refused(2, error, Some("lsm= parameter"));

    // What is to be checked is a comparison.
    let ended = place.run(&["profile", "--check"]).code(2);
    assert!(ended.stderr.contains("--baseline <LSM,…>"), "{ended:#?}");
    assert_eq!(place.names(), Vec::<String>::new(), "nothing was written");
}

/// A flag that could do nothing is refused, not passed over.
#[test]
fn events_are_of_instructions_of_benchmarks() {
    let place = Place::new();
    for asked in [
        &["profile", "git-status", "--events"][..],
        &["run", "git-status", "--events"],
        &["profile", "--events", "--programs", "true", "--", "true"],
    ] {
        let error = "--events is of benchmarks, not of whole programs";
        place.run(asked).refused(2, error, Some("--bench"));
    }
    for asked in [
        &["run", "--events", "--metric", "time"][..],
        &[
            "run", "--events", "--on", "um", "--kernel", "build:um", "--metric", "time",
        ],
        &["run", "--events", "--on", "host", "--dir", "."],
    ] {
        let error = "--events is counted with instructions, which are not measured here";
        place
            .run(asked)
            .refused(2, error, Some("--metric instructions"));
    }
    assert_eq!(place.names(), Vec::<String>::new(), "nothing was written");
}

#[test]
fn one_output_is_standard_output() {
    let place = Place::new();
    let hint = Some("name a file for one");
    for options in [
        &["--json", "--trace"][..],
        &["--json", "--output", "-"],
        &["--trace", "--output", "-"],
        &["--callgrind", "-", "--folded", "-"],
    ] {
        let asked = [&["profile"][..], options].concat();
        let error = "two outputs cannot both be standard output";
        place.run(&asked).refused(2, error, hint);
    }
}

#[test]
fn a_wrong_word_is_wrong_usage() {
    let place = Place::new();
    let refused = |arguments: &[&str], error: &str, hint: &str| {
        let asked = [&["profile", "--offline"], arguments].concat();
        place.run(&asked).refused(2, error, Some(hint));
    };
    refused(
        &["--bench", "opne"],
        "pattern `opne` fits no benchmark",
        "did you mean `open`?",
    );
    refused(
        &["--bench", "open:"],
        "names no variant behind the colon",
        "BENCHMARK:VARIANT",
    );
    refused(
        &["quik"],
        "no preset is called `quik`",
        "did you mean `quick`?",
    );
    refused(
        &["--stack", "capability, selinux"],
        "' ' in a module name",
        "capability,selinux",
    );
    refused(&["missing.toml"], "cannot read missing.toml", "TOML file");
    assert_eq!(place.names(), Vec::<String>::new(), "nothing was written");

    let ended = place.run(&["profile", "--view", "hook"]).code(2);
    assert!(
        ended.stderr.contains("operation, hooks, summary"),
        "{ended:#?}"
    );
    // Hooks are counted in instructions, in the lab.
    for option in ["--metric=time", "--on=host", "--dir=."] {
        let ended = place.run(&["profile", option]).code(2);
        let error = "error: unexpected argument";
        assert!(ended.stderr.starts_with(error), "{ended:#?}");
    }
}

#[test]
fn hook_definitions_that_are_none() {
    let place = Place::new();
    let refused = |name: &str, why: &str| {
        let asked = ["profile", "--offline", "--hook-definitions", name];
        let error = format!("cannot read {name}: ");
        let hint = Some("include/linux/lsm_hook_defs.h");
        place.run(&asked).refused(2, &error, hint);
        place.run(&asked).refused(2, why, hint);
    };
    refused("missing.h", "No such file or directory");
    fs::create_dir(place.join("directory.h")).unwrap();
    refused("directory.h", "Is a directory");
    place.write("empty.h", "");
    refused("empty.h", "no LSM hook in the hook definitions");
    place.write("prose.h", "hooks, many of them\n\u{1b}[31m");
    refused("prose.h", "no LSM hook in the hook definitions");
    place.write("binary.h", [0xff, 0xfe, 0, 1]);
    refused("binary.h", "it is not text");
    place.write(
        "torn.h",
        "LSM_HOOK(int, 0, file_open, struct file *file)\nLSM_HOOK(int, 0, ",
    );
    refused("torn.h", "an LSM_HOOK has no end, in line 2");
    let large = "/* */\n".repeat(1 << 20);
    place.write("large.h", large);
    refused("large.h", "it is too large for that");
    // A device claims no length, and has no end.
    refused("/dev/zero", "it is too large for that");
}

#[test]
fn output_is_refused_before_anything_is_done() {
    let place = Place::new();
    let hint = Some("a directory that is there");
    for option in ["--output", "--callgrind", "--folded"] {
        let asked = ["profile", "--offline", option, "not/there/out"];
        let error = "cannot write not/there/out: ";
        place.run(&asked).refused(3, error, hint);
        let asked = ["profile", "--offline", option, "."];
        let error = "cannot write .: it is a directory";
        place.run(&asked).refused(3, error, hint);
    }
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn it_needs_qemu_and_a_kernel() {
    let place = Place::new();
    let asked = ["profile", "--offline", "--qemu", "/nonexistent"];
    let error = "cannot run /nonexistent: ";
    place.run(&asked).refused(3, error, Some("apt-get install"));
    let asked = ["profile", "--offline", "--kernel", "debian:6.12"];
    let hint = Some("lsmeter kernel fetch debian:6.12");
    place.run(&asked).refused(2, "is not in the cache", hint);
    let asked = ["profile", "--offline", "--kernel", "not/there"];
    let error = "there is no such file";
    place.run(&asked).refused(2, error, Some("bzImage"));
}
