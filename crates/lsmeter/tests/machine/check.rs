// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run --fail-above` over stacks: its exit status. `gate` compares kernels. SLOW: half a
//! minute.
//!
//! Needs QEMU and the kernel debian:6.12.

use crate::common::Place;

const RUN: &str = "run --offline --fs tmpfs -n 8 --bench stat:AA,getppid --kernel debian:6.12 \
                   --stack capability";

#[test]
fn a_higher_cost_is_a_regression() {
    let place = Place::with_kernels();
    let stacks = format!("{RUN} --stack capability,selinux -o out.json");
    let ended = place.line(&format!("{stacks} --fail-above 5%")).code(1);
    let expected = "gate: failed: 1 within their limit, 1 above it";
    assert!(ended.stderr.contains(expected), "{ended:#?}");
    let (_, gate) = ended.stdout.split_once("Gate: failed").unwrap();
    assert!(gate.contains("stat:AA"), "{ended:#?}");
    assert!(!gate.contains("getppid"), "{ended:#?}");
    let passed = "compare out.json --across stack --fail-above 50%";
    place.line(passed).code(0);
}

#[test]
fn nothing_to_compare_is_inconclusive() {
    let place = Place::with_kernels();
    place.line(&format!("{RUN} --fail-above 0%")).code(5);
}
