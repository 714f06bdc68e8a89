// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter placement`, on a small tree and on invalid trees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Ended, Place, schema};

/// The tree of the tests of the analysis.
pub fn toy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../placement/tests/tree")
}

fn run(place: &Place, more: &str) -> Ended {
    place.line(&format!("placement {} --fs toyfs {more}", toy().display()))
}

/// Copies the small tree to a new directory.
pub fn copy(to: &Path) {
    testing::succeed(Command::new("cp").arg("-r").arg(toy()).arg(to));
}

#[test]
fn tables() {
    let place = Place::new();
    for (name, more) in [
        ("overview", ""),
        ("details", "--syscall stat --trace"),
        (
            "details-markdown",
            "--syscall mkdir --reach --format markdown",
        ),
        ("csv", "--syscall stat --format csv"),
    ] {
        let ended = run(&place, more).code(0);
        assert_eq!(ended.stderr, "");
        insta::assert_snapshot!(name, ended.stdout);
    }
    for (more, expected) in [
        ("--syscall broken", "did not parse in full"),
        ("--syscall broken --explain", "fs/stat.c:26"),
        ("--syscall broken --explain", "what was read"),
    ] {
        let ended = run(&place, more).code(0);
        assert!(ended.stdout.contains(expected), "{ended:#?}");
    }
}

#[test]
fn documents() {
    let place = Place::new();
    let printed = run(&place, "--json").json();
    schema::assert_fits(&printed);
    assert_eq!(printed["version"], "6.99.0-toy");
    let ended = run(&place, "--syscall stat --output placement.json").code(0);
    assert!(ended.stdout.contains("inode_permission"), "{ended:#?}");
    let text = fs::read_to_string(place.join("placement.json")).unwrap();
    let saved: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(saved["modules"], printed["modules"]);
    // The cases are the stat of a file, and of a missing file.
    assert_eq!(saved["syscalls"].as_array().unwrap().len(), 2);
}

#[test]
fn the_cache_is_used_except_with_no_cache() {
    let place = Place::new();
    run(&place, "--no-cache").code(0);
    assert!(!place.cache().exists());
    let first = run(&place, "--json").json();
    assert!(first["coverage"]["scanned"].as_u64().unwrap() > 0);
    let kept = fs::read_dir(place.cache().join("lsmeter/placement"));
    assert_eq!(kept.unwrap().count(), 1);
    let again = run(&place, "--json").json();
    assert_eq!(again["coverage"]["scanned"], 0);
    assert_eq!(again["syscalls"], first["syscalls"]);
    // The command also works without a cache.
    fs::remove_dir_all(place.cache()).unwrap();
    place.write("cache", "a file");
    run(&place, "").code(0);
}

#[test]
fn invalid_trees_are_refused() {
    let place = Place::new();
    fs::create_dir(place.join("empty")).unwrap();
    place.write("project/Makefile", "all:\n");
    place.write("noise.tar", [0xA5; 5_000]);
    place.write("empty.tar.xz", "");
    let mut tar = Command::new("tar");
    tar.arg("-cf").arg(place.join("whole.tar")).arg("-C");
    tar.arg(toy().parent().unwrap()).arg("tree");
    assert!(tar.status().unwrap().success());
    let whole = fs::read(place.join("whole.tar")).unwrap();
    place.write("cut.tar", &whole[..3_000]);
    place.refuses(
        2,
        "placement empty | empty is not a kernel tree: it has no Makefile | top of a Linux source
         placement nowhere | nowhere: cannot be read | check the path
         placement project | its Makefile has no VERSION | give the top of a Linux source tree
         placement noise.tar | noise.tar: cannot be unpacked | cut off
         placement empty.tar.xz | empty.tar.xz: cannot be unpacked | cut off
         placement cut.tar | cut.tar: cannot be unpacked | fetch it again if it is cut off",
    );
    place
        .line("placement whole.tar --fs toyfs --syscall stat")
        .code(0);
}

#[test]
fn names_that_the_tree_does_not_have_are_refused() {
    let place = Place::new();
    let toy = toy();
    let run = format!("placement {}", toy.display());
    let table = format!(
        "{run} --syscall mkdri | the tree defines no system call `mkdri` | did you mean mkdir?
         {run} --syscall '\u{1b}[31mnothing' | no system call `?[31mnothing` | without sys_
         {run} --fs toyfz | the tree has no file system `toyfz` | did you mean toyfs?
         {run} --fs ../../etc | no file system `../../etc` | a directory in fs
         {run} --config /dev/null | sets no CONFIG_ option | /boot/config-VERSION
         {run} --config nowhere | cannot read nowhere | /boot/config-VERSION
         {run} --json --output - | standard output | name a file
         {run} --all --syscall stat | cannot be used with"
    );
    place.refuses(2, &table);
}

#[test]
fn revisions() {
    let place = Place::new();
    let tree = place.join("tree");
    copy(&tree);
    for line in ["init -q", "add -A", "commit -qm toy"] {
        place.git(&format!("-C tree {line}"));
    }
    fs::remove_dir_all(tree.join("fs")).unwrap();
    let head = place.line("placement tree --fs toyfs --rev HEAD").code(0);
    assert!(head.stdout.contains("toy"));
    place.line("placement tree --fs toyfs --rev --all").code(2);
    place.refuses(
        2,
        "placement tree --fs toyfs --rev v9.9 | no revision `v9.9` | git -C tree tag --list` lists",
    );
    place.refuses(
        3,
        "placement tmp --rev HEAD | git rev-parse failed in tmp | git repository",
    );
}

/// A profile of stat in the small tree's kernel, with these hook calls.
fn profile(release: &str, hooks: &[(&str, u64)]) -> Value {
    let golden = include_bytes!("../../../model/tests/golden/profile.json");
    let mut profile: Value = serde_json::from_slice(golden).unwrap();
    let hooks = hooks.iter().map(|(hook, calls)| {
        json!({
            "hook": hook, "function": format!("security_{hook}"), "calls": calls,
            "inclusive": 0, "exclusive": 0, "dispatch": 0, "outermost": 0, "implementations": []
        })
    });
    let mut cell = profile["measurements"][0].take();
    cell["release"] = release.into();
    cell["syscalls"] = json!(["stat"]);
    for (key, value) in [
        ("kernel", "debian:6.99"),
        ("filesystem", "toyfs"),
        ("benchmark", "stat"),
    ] {
        cell["key"][key] = value.into();
    }
    cell["key"]["stack"] = json!(["capability"]);
    cell["key"]["variant"] = "AA/BB".into();
    let hooked = &mut cell["evidence"]["counted"]["hooked"];
    hooked["hooked"] = 0.into();
    hooked["hooks"] = hooks.collect();
    profile["measurements"] = json!([cell]);
    profile["warnings"] = json!([]);
    profile
}

#[test]
fn agreement_with_profiles() {
    let place = Place::new();
    let agree = |profile: Value, more: &str| {
        place.write("profile.json", profile.to_string());
        let line = format!("placement {} --agree profile.json {more}", toy().display());
        place.line(&line)
    };
    let good = [("inode_permission", 2), ("inode_getattr", 1)];
    let ended = agree(profile("6.99.1-amd64", &good), "").code(0);
    insta::assert_snapshot!("agreement", ended.stdout);
    // One count is above the upper bound, and one hook cannot be reached.
    let bad = [("inode_permission", 900), ("inode_mkdir", 1)];
    let disagree = |more: &str| agree(profile("6.99.0", &bad), more).code(1).stdout;
    insta::assert_snapshot!("disagreement", disagree(""));
    let printed: Value = serde_json::from_str(&disagree("--json")).unwrap();
    assert_eq!(printed["counts"]["above_maximum"], 1);
    assert_eq!(printed["counts"]["unknown"], 1);
    let csv = disagree("--format csv");
    let row = "stat:AA/BB,toyfs,inode_mkdir,1,0,0,unknown";
    assert!(csv.contains(row), "{csv}");
    // The profile is of another kernel, or no system call is selected.
    let ended = agree(profile("6.1.0", &good), "").code(5);
    for expected in ["1 operation measured on 6.1.0", "inconclusive"] {
        assert!(ended.stderr.contains(expected), "{ended:#?}");
    }
    agree(profile("6.99.0", &good), "--fs ext4").code(5);
    agree(profile("6.99.0", &good), "--syscall mkdir").code(5);
    let hint = Some("lsmeter profile --output FILE");
    agree(json!({"measurements": []}), "").refused(2, "not a valid profile result file", hint);
    agree(json!([1]), "").refused(2, "not a valid profile result file", hint);
    fs::remove_file(place.join("profile.json")).unwrap();
    let line = format!("placement {} --agree profile.json", toy().display());
    place
        .line(&line)
        .refused(2, "cannot read profile.json", hint);
}
