// SPDX-License-Identifier: GPL-2.0-or-later
//! Operations with several paths: one sample more or less is not a change.
//!
//! Needs QEMU and the kernel debian:6.12.

use crate::common::Place;

/// Runs operations with 63, 64 and 65 samples, and compares the runs in pairs.
fn nothing_changes(place: &Place, kernel: &str, benchmarks: &str) {
    for regions in ["63", "64", "65"] {
        let line = format!(
            "run --offline --kernel {kernel} --fs tmpfs --stack capability,selinux \
             --bench {benchmarks} --samples {regions} --output {regions}.json"
        );
        place.line(&line).code(0);
    }
    for (base, new) in [("63", "64"), ("64", "65"), ("63", "65"), ("64", "64")] {
        let compare = format!("compare {base}.json {new}.json");
        let found = place.line(&format!("{compare} --json")).json();
        for cell in found["compared"].as_array().unwrap() {
            let verdict = cell["verdict"].as_str().unwrap();
            let is_expected = verdict == "same" || verdict == "unclear" && base != new;
            assert!(is_expected, "{base} and {new}: {cell:#}");
        }
        if benchmarks == "unlink" {
            place.line(&format!("{compare} --fail-above 1%")).code(0);
        }
    }
}

#[test]
fn one_sample_more_or_less_is_not_a_change() {
    let benchmarks = "unlink,rename,link,symlink,creat,readlink,fallocate,stat,getppid";
    nothing_changes(&Place::with_kernels(), "debian:6.12", benchmarks);
}

#[test]
fn nor_if_each_path_has_half_of_the_samples() {
    let options = ["SLUB_TINY", "SECURITY_SELINUX"];
    if let Some((place, kernel)) = Place::with_test_kernel(&options) {
        nothing_changes(&place, &kernel, "unlink");
    }
}
