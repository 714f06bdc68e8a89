// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter watch` as far as nothing is booted.

use crate::common::Place;

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["help", "watch"]).code(0).stdout);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    let nowhere = place.run(&["watch", "--repo", "none"]);
    nowhere.refused(2, "there is no directory none", Some("--repo"));
    let named = place.run(&["watch", "--kernel", "debian:6.12"]);
    named.refused(2, "the kernel is that of the tree", Some("--image"));
    place.run(&["watch", "--once", "--count", "2"]).code(2);
    place.run(&["watch", "--count", "0"]).code(2);
    place.run(&["watch", "--bench", "no-such"]).code(2);
}

#[test]
fn what_is_no_kernel_is_told() {
    let place = Place::new();
    place.write("build/image", "no kernel");
    let arguments = ["watch", "--repo", "build", "--image", "image", "--once"];
    let ended = place.run(&arguments).code(2);
    assert!(ended.stderr.contains("image"), "{ended:#?}");
    assert_eq!(ended.stdout, "");
}
