// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --watch` without a boot.

use crate::common::Place;

#[test]
fn invalid_arguments_are_refused() {
    let place = Place::new();
    place.write("other/arch/x86/boot/bzImage", "no kernel");
    std::fs::create_dir(place.join("build")).unwrap();
    place.refuses(
        2,
        "run --watch none | there is no directory none | --watch
         run --watch build --kernel debian:6.12 | the kernel is built from the tree | --kernel
         run --watch build --aa=2 | cannot be used with
         run --watch build --bench no-such | no-such |
         run --watch other | bzImage",
    );
}
