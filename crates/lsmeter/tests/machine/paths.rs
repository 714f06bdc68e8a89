// SPDX-License-Identifier: GPL-2.0-or-later
//! Operations that take several paths: one window more or less is no change.
//!
//! Needs QEMU and the kernel debian:6.12 in the cache of whoever runs the tests; for operations
//! whose paths take turns also a kernel that was built with CONFIG_SLUB_TINY.

use std::fs;

use crate::common::Place;

/// Runs the same operations with 63, 64 and 65 windows and compares each two runs.
fn nothing_changes(place: &Place, kernel: &str, benchmarks: &str) {
    let document = |windows: &str| format!("{windows}.json");
    for windows in ["63", "64", "65"] {
        let saved = document(windows);
        let asked = [
            "run",
            "--offline",
            "--kernel",
            kernel,
            "--fs",
            "tmpfs",
            "--bench",
            benchmarks,
        ];
        let stacks = ["--stack", "capability", "--stack", "capability,selinux"];
        let asked = [
            &asked[..],
            &stacks,
            &["--samples", windows, "--output", &saved],
        ]
        .concat();
        place.run(&asked).code(0);
    }
    for (base, new) in [("63", "64"), ("64", "65"), ("63", "65"), ("64", "64")] {
        let (a, b) = (document(base), document(new));
        let found = place.run(&["compare", &a, &b, "--json"]).json();
        for cell in found["compared"].as_array().unwrap() {
            let verdict = cell["verdict"].as_str().unwrap();
            let expected: &[&str] = if base == new {
                &["same"]
            } else {
                &["same", "unclear"]
            };
            assert!(expected.contains(&verdict), "{base} and {new}: {cell:#}");
        }
        if benchmarks == "unlink" {
            place
                .run(&["compare", &a, &b, "--fail-above", "1%"])
                .code(0);
        }
    }
}

#[test]
fn windows_more_or_less_change_nothing() {
    let benchmarks = "unlink,rename,link,symlink,creat,readlink,fallocate,stat,getppid";
    nothing_changes(&Place::with_kernels(), "debian:6.12", benchmarks);
}

#[test]
fn nor_do_they_where_half_of_the_windows_take_each_path() {
    let place = Place::with_kernels();
    let listed = place.run(&["kernel", "list", "--json"]).json();
    let is_tiny = |kernel: &&serde_json::Value| {
        let config = kernel["config"].as_str().map(fs::read_to_string);
        let config = config.and_then(Result::ok).unwrap_or_default();
        let options = ["CONFIG_SLUB_TINY=y", "CONFIG_SECURITY_SELINUX=y"];
        options
            .iter()
            .all(|option| config.lines().any(|line| line == *option))
    };
    let kernels = listed["kernels"].as_array().unwrap();
    let Some(kernel) = kernels.iter().find(is_tiny) else {
        eprintln!("skipped: no kernel in the cache has CONFIG_SLUB_TINY and SELinux");
        return;
    };
    nothing_changes(&place, kernel["name"].as_str().unwrap(), "unlink");
}
