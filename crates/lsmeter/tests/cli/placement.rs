// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter placement`, on a small tree and on what is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Ended, Place, schema};

/// The tree that the analysis itself is tested with.
pub fn toy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../placement/tests/tree")
}

/// `lsmeter placement` on the small tree.
fn run(place: &Place, more: &[&str]) -> Ended {
    let tree = toy();
    let asked = ["placement", tree.to_str().unwrap(), "--fs", "toyfs"];
    place.run(&[&asked[..], more].concat())
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn help() {
    let place = Place::new();
    let asked = ["help", "placement"];
    insta::assert_snapshot!("help", place.run(&asked).code(0).stdout);
    let asked = ["placement", "-h"];
    insta::assert_snapshot!("help-short", place.run(&asked).code(0).stdout);
}

#[test]
fn tables() {
    let place = Place::new();
    let ended = run(&place, &[]).code(0);
    assert_eq!(ended.stderr, "");
    insta::assert_snapshot!("overview", ended.stdout);
    let ended = run(&place, &["--syscall", "stat", "--trace"]).code(0);
    insta::assert_snapshot!("details", ended.stdout);
    let ended = run(
        &place,
        &["--syscall", "mkdir", "--reach", "--format", "markdown"],
    )
    .code(0);
    insta::assert_snapshot!("details-markdown", ended.stdout);
    let ended = run(&place, &["--syscall", "broken"]).code(0);
    assert!(ended.stdout.contains("did not parse in full"), "{ended:#?}");
    let ended = run(&place, &["--syscall", "broken", "--explain"]).code(0);
    assert!(ended.stdout.contains("fs/stat.c:26"), "{ended:#?}");
    assert!(ended.stdout.contains("what was read"), "{ended:#?}");
}

#[test]
fn other_forms() {
    let place = Place::new();
    let ended = run(&place, &["--syscall", "stat", "--format", "csv"]).code(0);
    insta::assert_snapshot!("csv", ended.stdout);
}

#[test]
fn documents() {
    let place = Place::new();
    let printed = run(&place, &["--json"]).json();
    schema::assert_fits(&printed);
    assert_eq!(printed["version"], "6.99.0-toy");
    let asked = ["--syscall", "stat", "--output", "placement.json"];
    let ended = run(&place, &asked).code(0);
    assert!(ended.stdout.contains("inode_permission"), "{ended:#?}");
    let text = fs::read_to_string(place.join("placement.json")).unwrap();
    let saved: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(saved["modules"], printed["modules"]);
    // stat, and stat of what is not there.
    assert_eq!(saved["syscalls"].as_array().unwrap().len(), 2);
    run(&place, &["--json", "--output", "-"]).refused(2, "standard output", Some("name a file"));
}

#[test]
fn the_cache_is_kept_beside_the_others_unless_it_is_not_wanted() {
    let place = Place::new();
    run(&place, &["--no-cache"]).code(0);
    assert!(!place.cache().exists());
    let first = run(&place, &["--json"]).json();
    assert!(first["coverage"]["scanned"].as_u64().unwrap() > 0);
    assert_eq!(
        fs::read_dir(place.cache().join("lsmeter/placement"))
            .unwrap()
            .count(),
        1
    );
    let again = run(&place, &["--json"]).json();
    assert_eq!(again["coverage"]["scanned"], 0);
    assert_eq!(again["syscalls"], first["syscalls"]);
    // Where there can be no cache it is only slower.
    fs::remove_dir_all(place.cache()).unwrap();
    place.write("cache", "a file");
    run(&place, &[]).code(0);
}

#[test]
fn what_is_no_tree_is_wrong_usage() {
    let place = Place::new();
    let refused = |asked: &[&str], error: &str, hint: &str| {
        let asked = [&["placement"], asked].concat();
        place.run(&asked).refused(2, error, Some(hint));
    };
    fs::create_dir(place.join("empty")).unwrap();
    let top = "give the top of a Linux source tree";
    refused(
        &["empty"],
        "empty is not a kernel tree: it has no Makefile",
        top,
    );
    refused(&["nowhere"], "nowhere: cannot be read", "check the path");
    place.write("project/Makefile", "all:\n");
    refused(&["project"], "its Makefile names no VERSION", top);
    place.write("noise.tar", [0xA5; 5_000]);
    refused(&["noise.tar"], "noise.tar: cannot be unpacked", "cut off");
    place.write("empty.tar.xz", "");
    refused(
        &["empty.tar.xz"],
        "empty.tar.xz: cannot be unpacked",
        "cut off",
    );
    // A tarball that is cut off in the middle of a file.
    let tar = Command::new("tar")
        .arg("-cf")
        .arg(place.join("whole.tar"))
        .arg("-C")
        .arg(toy().parent().unwrap())
        .arg("tree")
        .status();
    assert!(tar.unwrap().success());
    let whole = fs::read(place.join("whole.tar")).unwrap();
    place.write("cut.tar", &whole[..3_000]);
    refused(
        &["cut.tar"],
        "cut.tar: cannot be unpacked",
        "fetch it again if it is cut off",
    );
    let asked = [
        "placement",
        "whole.tar",
        "--fs",
        "toyfs",
        "--syscall",
        "stat",
    ];
    place.run(&asked).code(0);
}

#[test]
fn what_the_tree_does_not_have_is_wrong_usage_with_what_it_has() {
    let place = Place::new();
    let refused = |more: &[&str], error: &str, hint: &str| {
        run(&place, more).refused(2, error, Some(hint));
    };
    refused(
        &["--syscall", "mkdri"],
        "the tree defines no system call `mkdri`",
        "did you mean mkdir?",
    );
    refused(
        &["--syscall", "\u{1b}[31mnothing like it"],
        "no system call `?[31mnothing like it`",
        "without sys_",
    );
    refused(
        &["--fs", "toyfz"],
        "the tree has no file system `toyfz`",
        "did you mean toyfs?",
    );
    refused(
        &["--fs", "../../etc"],
        "no file system `../../etc`",
        "a directory in fs",
    );
    refused(
        &["--config", "/dev/null"],
        "sets no CONFIG_ option",
        "/boot/config-VERSION",
    );
    refused(
        &["--config", "nowhere"],
        "cannot read nowhere",
        "/boot/config-VERSION",
    );
    let ended = run(&place, &["--all", "--syscall", "stat"]).code(2);
    assert!(ended.stderr.contains("cannot be used with"), "{ended:#?}");
}

#[test]
fn revisions() {
    let place = Place::new();
    let tree = place.join("tree");
    copy(&toy(), &tree);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C")
            .arg(&tree)
            .args(["-c", "user.name=x", "-c", "user.email=x@localhost"]);
        git.args(arguments)
            .output()
            .is_ok_and(|output| output.status.success())
    };
    assert!(git(&["init", "-q"]) && git(&["add", "-A"]) && git(&["commit", "-qm", "toy"]));
    fs::remove_dir_all(tree.join("fs")).unwrap();
    let at = |rev: &str| place.run(&["placement", "tree", "--fs", "toyfs", "--rev", rev]);
    assert!(at("HEAD").code(0).stdout.contains("toy"));
    let hint = "git -C tree tag --list lists tags";
    at("v9.9").refused(2, "tree has no revision `v9.9`", Some(hint));
    at("--all").code(2);
    let asked = ["placement", "tmp", "--rev", "HEAD"];
    place
        .run(&asked)
        .refused(3, "git rev-parse in tmp", Some("git repository"));
}

/// A profile of stat in the small tree's kernel, with so many calls of hooks.
fn profile(release: &str, hooks: &[(&str, u64)]) -> Value {
    let hooks: Vec<Value> = hooks
        .iter()
        .map(|(hook, calls)| {
            json!({
                "hook": hook, "function": format!("security_{hook}"), "calls": calls,
                "inclusive": 0, "exclusive": 0, "dispatch": 0, "outermost": 0,
                "implementations": []
            })
        })
        .collect();
    json!({
        "kind": "profile",
        "schema_version": 3,
        "tool": {"name": "lsmeter", "version": "0.1.0"},
        "environment": {
            "os": "", "host_kernel": "", "cpu": "", "cores": 1, "kvm": false,
            "clock": "deterministic"
        },
        "measurements": [{
            "key": {
                "architecture": "x86_64", "kernel": "debian:6.99", "stack": ["capability"],
                "policy": "none", "filesystem": "toyfs", "benchmark": "stat",
                "variant": "AA/BB", "metric": "instructions"
            },
            "release": release, "active_lsms": ["capability"], "syscalls": ["stat"],
            "status": "ok",
            "evidence": {"counted": {"paths": {
                "dominant": {"instructions": 0, "rep_iterations": 0, "regions": 1},
                "regions": 1, "dirty": 0
            }, "hooked": {
                "total": 0, "rep_iterations": 0, "regions": 1, "hooked": 0, "hooks": hooks
            }}}
        }],
        "warnings": []
    })
}

#[test]
fn agreement_with_profiles() {
    let place = Place::new();
    let agree = |profile: Value, more: &[&str]| {
        place.write("profile.json", profile.to_string());
        let tree = toy();
        let asked = [
            "placement",
            tree.to_str().unwrap(),
            "--agree",
            "profile.json",
        ];
        place.run(&[&asked[..], more].concat())
    };
    let good = [("inode_permission", 2), ("inode_getattr", 1)];
    let ended = agree(profile("6.99.1-amd64", &good), &[]).code(0);
    insta::assert_snapshot!("agreement", ended.stdout);
    // More often than at most, and a hook that cannot be reached.
    let bad = [("inode_permission", 900), ("inode_mkdir", 1)];
    let ended = agree(profile("6.99.0", &bad), &[]).code(1);
    insta::assert_snapshot!("disagreement", ended.stdout);
    let told = agree(profile("6.99.0", &bad), &["--json"]).code(1).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["counts"]["above_maximum"], 1);
    assert_eq!(told["counts"]["unknown"], 1);
    let csv = agree(profile("6.99.0", &bad), &["--format", "csv"])
        .code(1)
        .stdout;
    assert!(
        csv.contains("stat:AA/BB,toyfs,inode_mkdir,1,0,0,unknown"),
        "{csv}"
    );
    // Of another kernel, or nothing that was asked for.
    let ended = agree(profile("6.1.0", &good), &[]).code(5);
    assert!(ended.stderr.contains("operations of 6.1.0"), "{ended:#?}");
    assert!(ended.stderr.contains("inconclusive"), "{ended:#?}");
    agree(profile("6.99.0", &good), &["--fs", "ext4"]).code(5);
    agree(profile("6.99.0", &good), &["--syscall", "mkdir"]).code(5);
    let hint = Some("lsmeter profile --output FILE");
    agree(json!({"measurements": []}), &[]).refused(2, "no profile document", hint);
    agree(json!([1]), &[]).refused(2, "no profile document", hint);
    let tree = toy();
    let asked = [
        "placement",
        tree.to_str().unwrap(),
        "--agree",
        "nowhere.json",
    ];
    place
        .run(&asked)
        .refused(2, "cannot read nowhere.json", hint);
}
