// SPDX-License-Identifier: GPL-2.0-or-later
//! What a patch's author asks, "did it become dearer?": `lsmeter run` over two kernels or
//! two stacks, and its exit code. SLOW: half a minute.
//!
//! Needs QEMU and the kernel debian:6.12 in the cache of whoever runs the tests
//! (`lsmeter kernel fetch debian:6.12`); nothing is fetched here.

use crate::common::{Ended, Place};

const KERNEL: &str = "debian:6.12";

fn check(place: &Place, rest: &[&str]) -> Ended {
    let common = ["run", "--offline", "--fs", "tmpfs", "-n", "8"];
    let what = ["--bench", "stat:AA", "--bench", "getppid"];
    place.run(&[&common[..], &what, rest].concat())
}

/// The image that the cache has of the kernel, as if somebody had built it.
fn image(place: &Place) -> String {
    let listed = place.run(&["kernel", "list", "--json"]).json();
    let kernels = listed["kernels"].as_array().unwrap();
    let is_native = |kernel: &&serde_json::Value| {
        kernel["architecture"].as_str().unwrap_or("x86_64") == std::env::consts::ARCH
    };
    let mut native = kernels.iter().filter(is_native);
    let newest = native.rfind(|kernel| kernel["series"] == "6.12" && !kernel["modules"].is_null());
    newest.unwrap()["image"].as_str().unwrap().to_owned()
}

#[test]
fn the_same_kernel_costs_the_same() {
    let place = Place::with_kernels();
    let image = image(&place);
    let kernels = ["--kernel", KERNEL, "--kernel", &image];
    let rest = ["--stack", "capability", "--fail-above", "0.01%"];
    let ended = check(&place, &[&kernels[..], &rest].concat()).code(0);
    // A column a kernel, and nothing between them.
    assert!(
        ended.stdout.contains("bzImage") || ended.stdout.contains("vmlinuz"),
        "{ended:#?}"
    );
    let told = "gate: passed: 2 within their limit, 0 above it";
    assert!(ended.stderr.contains(told), "{ended:#?}");
}

#[test]
fn what_costs_more_is_a_regression() {
    let place = Place::with_kernels();
    let stacks = [
        "--kernel",
        KERNEL,
        "--stack",
        "capability",
        "--stack",
        "capability,selinux",
    ];
    let ended = check(&place, &[&stacks[..], &["--fail-above", "5%"]].concat()).code(1);
    let told = "gate: failed: 1 within their limit, 1 above it";
    assert!(ended.stderr.contains(told), "{ended:#?}");
    let (_, gate) = ended.stdout.split_once("Gate: failed").unwrap();
    assert!(gate.contains("stat:AA"), "{ended:#?}");
    assert!(!gate.contains("getppid"), "{ended:#?}");
    check(&place, &[&stacks[..], &["--fail-above", "50%"]].concat()).code(0);
}

#[test]
fn nothing_to_compare_is_inconclusive() {
    let place = Place::with_kernels();
    let one = [
        "--kernel",
        KERNEL,
        "--stack",
        "capability",
        "--fail-above",
        "0%",
    ];
    check(&place, &one).code(5);
}
