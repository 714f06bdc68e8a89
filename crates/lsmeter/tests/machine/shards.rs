// SPDX-License-Identifier: GPL-2.0-or-later
//! A run in sixteen parts, against the same run in one. SLOW: some minutes.
//!
//! Needs QEMU and the kernel debian:6.12 in the cache of whoever runs the tests.

use super::cells::{RUN, assert_same, read};
use crate::common::Place;

/// Cells that share a boot.
const WHAT: &[&str] = &[
    "--stack",
    "capability",
    "--stack",
    "capability,selinux",
    "--bench",
    "getppid",
    "--bench",
    "stat:AA",
    "--bench",
    "open:AA",
    "--bench",
    "mkdir:one",
];

#[test]
fn sixteen_parts_are_the_whole_cell_for_cell() {
    let place = Place::with_kernels();
    place
        .run(&[RUN, WHAT, &["--output", "whole.json"]].concat())
        .code(0);
    let mut merge = vec!["merge".to_owned()];
    let mut empty = 0;
    for index in 1..=16 {
        let (shard, file) = (format!("{index}/16"), format!("{index}.json"));
        let ended = place
            .run(&[RUN, WHAT, &["--shard", &shard, "--output", &file]].concat())
            .code(0);
        empty += usize::from(ended.stderr.contains("has no cells"));
        merge.insert(1, file);
    }
    // One boot for each stack.
    assert_eq!(empty, 14);
    merge.extend(["--output", "merged.json"].map(str::to_owned));
    let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
    place.run(&merge).code(0);
    let (whole, merged) = (
        read(&place.join("whole.json")),
        read(&place.join("merged.json")),
    );
    assert_same(&merged, &whole);
    assert_eq!(merged.share, None);
    assert_eq!(merged.environments, []);
    assert_eq!(merged.environment, whole.environment);
    assert_eq!(merged.kernel_digests, whole.kernel_digests);
    assert_eq!(merged.kernel_digests.len(), 1);
    assert_eq!(merged.warnings, whole.warnings);
}
