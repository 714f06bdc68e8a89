// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter bisect` without a boot: refused arguments, and commits that do not build.

use crate::common::{Place, words};

/// A repository of three commits: c0, c1 and c2.
fn repository() -> Place {
    let place = Place::new();
    place.git("init -q -b main tree");
    for number in 0..3 {
        place.write("tree/file", number.to_string());
        place.git("-C tree add .");
        place.git(&format!("-C tree commit -q -m commit-{number}"));
        place.git(&format!("-C tree tag c{number}"));
    }
    place
}

const ENDS: &str = "bisect --repo tree --good c0 --bad c2";

#[test]
fn invalid_arguments_are_refused() {
    let place = repository();
    std::fs::create_dir(place.join("plain")).unwrap();
    let table = format!(
        "bisect --repo tree --good v9 --bad c2 | `v9` is not a commit in tree | give a tag
         bisect --repo tree --good c2 --bad c0 | is not a descendant of | swap --good
         bisect --repo tree --good c1 --bad c1 | --good and --bad are both commit | --good
         bisect --repo none --good a --bad b | there is no directory none | --repo
         bisect --repo plain --good a --bad b | plain is not a git repository | --repo
         {ENDS} --flavour um | can only be timed | --flavour all
         {ENDS} --kernel debian:6.12 | the kernel is built from the tree | --kernel
         {ENDS} --fail-above '1 parsec' | unknown unit; use % | 1%
         {ENDS} --image x | required arguments were not provided
         {ENDS} --build true | required arguments were not provided
         {ENDS} --build true --flavour nolsm | cannot be used with"
    );
    place.refuses(2, &table);
    let missing = place.line("bisect --good c0").code(2);
    assert!(missing.stderr.contains("--bad <REV>"), "{missing:#?}");
    assert!(!place.join("cache/lsmeter/bisect").exists());
}

#[test]
fn a_good_end_that_does_not_build_is_an_error() {
    let place = repository();
    let line = format!("{ENDS} --image image --build");
    let build = "echo 'a.c:1: error: no'; exit 3";
    let ended = place.run(&[&words(&line)[..], &[build]].concat()).code(2);
    for expected in ["a.c:1: error: no", "its complete output is in"] {
        assert!(ended.stderr.contains(expected), "{ended:#?}");
    }
    // The checkout is unchanged and the worktree is removed.
    let list = place.git("-C tree worktree list");
    assert_eq!(list.lines().count(), 1, "{list}");
    let file = std::fs::read_to_string(place.join("tree/file")).unwrap();
    assert_eq!(file, "2");
}
