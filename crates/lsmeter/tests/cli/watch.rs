// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --watch` as far as nothing is booted.

use crate::common::Place;

#[test]
fn watches_that_make_no_sense_are_refused() {
    let place = Place::new();
    std::fs::create_dir(place.join("build")).unwrap();
    let watch = |flags: &[&str]| place.run(&[&["run", "--watch"], flags].concat());
    watch(&["none"]).refused(2, "there is no directory none", Some("--watch"));
    let named = watch(&["build", "--kernel", "debian:6.12"]);
    named.refused(2, "the kernel is that of the tree", Some("--kernel"));
    watch(&["build", "--aa=2"]).code(2);
    watch(&["build", "--bench", "no-such"]).code(2);
}

#[test]
fn an_image_that_is_not_a_kernel_is_refused() {
    let place = Place::new();
    place.write("build/arch/x86/boot/bzImage", "no kernel");
    let ended = place.run(&["run", "--watch", "build"]).code(2);
    assert!(ended.stderr.contains("bzImage"), "{ended:#?}");
    assert_eq!(ended.stdout, "");
}
