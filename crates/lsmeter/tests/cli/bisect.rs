// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter bisect` as far as nothing is booted: what it refuses, and commits that do not build.

use std::process::Command;

use crate::common::Place;

/// A repository of three commits: c0, c1 and c2.
fn repository() -> Place {
    let place = Place::new();
    git(&place, &["init", "-q", "-b", "main", "tree"]);
    for number in 0..3 {
        place.write("tree/file", number.to_string());
        git(&place, &["-C", "tree", "add", "."]);
        let message = format!("commit {number}");
        git(&place, &["-C", "tree", "commit", "-q", "-m", &message]);
        git(&place, &["-C", "tree", "tag", &format!("c{number}")]);
    }
    place
}

fn git(place: &Place, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@x.example"]);
    git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = place.environment(&mut git).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

const ENDS: [&str; 7] = ["bisect", "--repo", "tree", "--good", "c0", "--bad", "c2"];

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["help", "bisect"]).code(0).stdout);
}

#[test]
fn ends_that_make_no_sense() {
    let place = repository();
    let ends = |good: &str, bad: &str| {
        place.run(&["bisect", "--repo", "tree", "--good", good, "--bad", bad])
    };
    ends("v9", "c2").refused(2, "`v9` names no commit of tree", Some("give a tag"));
    ends("c2", "c0").refused(2, "does not come after", Some("exchange them"));
    ends("c1", "c1").refused(2, "both ends are commit", Some("--good"));
    let nowhere = place.run(&["bisect", "--repo", "none", "--good", "a", "--bad", "b"]);
    nowhere.refused(2, "there is no directory none", Some("--repo"));
    std::fs::create_dir(place.join("plain")).unwrap();
    let plain = place.run(&["bisect", "--repo", "plain", "--good", "a", "--bad", "b"]);
    plain.refused(2, "plain is no git repository", Some("--repo"));
    let missing = place.run(&["bisect", "--good", "c0"]).code(2);
    assert!(missing.stderr.contains("--bad <REV>"), "{missing:#?}");
}

#[test]
fn ways_to_build_that_make_no_sense() {
    let place = repository();
    let with = |more: &[&str]| place.run(&[&ENDS[..], more].concat());
    with(&["--image", "x"]).code(2);
    with(&["--build", "true"]).code(2);
    with(&["--flavour", "um"]).refused(2, "are timed, not counted", Some("--flavour all"));
    with(&["--kernel", "debian:6.12"]).refused(
        2,
        "the kernel is that of the tree",
        Some("--kernel"),
    );
    with(&["--fail-above", "1 parsec"]).refused(2, "its unit is none of", Some("1%"));
    with(&["--build", "true", "--flavour", "dac"]).code(2);
    assert!(!place.join("cache/lsmeter/bisect").exists());
}

#[test]
fn a_good_end_that_does_not_build_is_an_error() {
    let place = repository();
    let build = [
        "--build",
        "echo 'a.c:1: error: no'; exit 3",
        "--image",
        "image",
    ];
    let ended = place.run(&[&ENDS[..], &build].concat()).code(2);
    assert!(ended.stderr.contains("a.c:1: error: no"), "{ended:#?}");
    assert!(
        ended.stderr.contains("all that it printed is in"),
        "{ended:#?}"
    );
    // The checkout is as it was, and the worktree is gone.
    let list = Command::new("git")
        .args(["-C", "tree", "worktree", "list"])
        .current_dir(place.path())
        .output();
    let list = String::from_utf8(list.unwrap().stdout).unwrap();
    assert_eq!(list.lines().count(), 1, "{list}");
    assert_eq!(
        std::fs::read_to_string(place.join("tree/file")).unwrap(),
        "2"
    );
}
