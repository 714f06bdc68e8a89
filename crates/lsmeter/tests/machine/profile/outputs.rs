// SPDX-License-Identifier: GPL-2.0-or-later
//! All outputs of all boots say the same.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use model::{Cell, Document, HookedPath, Key};

use super::{SELINUX, assert_fits_schema, assert_sums, counted, read, tables};
use crate::common::Place;

/// Operations whose most frequent path is the same in every boot.
pub const SOME: &[&str] = &[
    "--bench",
    "open:AA",
    "--bench",
    "stat:AA",
    "--bench",
    "read:4KB",
    "--bench",
    "rename:depth1",
    "--bench",
    "rmdir:one",
    "--bench",
    "getppid",
];

/// An executed command's last line about totals: `743,229 (100.0%)  PROGRAM TOTALS`.
fn program_totals(annotated: &str) -> u64 {
    let line = annotated
        .lines()
        .find(|line| line.contains("PROGRAM TOTALS"))
        .unwrap_or_else(|| panic!("{annotated}"));
    let digits = line.split_whitespace().next().unwrap().replace(',', "");
    digits.parse().unwrap()
}

#[test]
fn every_output_of_every_boot_says_the_same() {
    let place = Place::with_kernel("debian:6.12");
    let files = [
        "--output",
        "a.json",
        "--callgrind",
        "a.callgrind",
        "--folded",
        "a.folded",
    ];
    let asked = [&["profile", "--json"], SELINUX, SOME, &files].concat();
    let first = place.run(&asked).code(0);
    let kept = fs::read_to_string(place.join("a.json")).unwrap();
    assert_eq!(first.stdout, kept);
    assert_fits_schema(&place.join("a.json"));
    let a = read(&place.join("a.json"));
    assert_eq!(a.cells.len(), 6, "{a:#?}");

    // Another boot.
    let asked = [&["profile", "--trace", "--output", "b.json"], SELINUX, SOME].concat();
    let second = place.run(&asked).code(0);
    let figures = |document: &Document| -> Vec<(Key, HookedPath, [u64; 2])> {
        let cells = document.hooked();
        cells
            .map(|(cell, of, path)| (cell.key.clone(), path.clone(), [of.regions(), of.dirty()]))
            .collect()
    };
    assert_eq!(figures(&read(&place.join("b.json"))), figures(&a));
    tables::assert_trace_says(&second.stdout, &a.cells);
    let open = tables::traced(&second.stdout, "open:AA");
    assert_eq!(
        open,
        [
            "file_alloc_security",
            "inode_permission",
            "inode_permission",
            "file_open",
            "file_post_open",
            "current_getsecid_subj",
            "file_release",
            "file_free_security",
        ]
    );
    let rename = tables::traced(&second.stdout, "rename:depth1");
    assert_eq!(rename.last().map(String::as_str), Some("inode_rename"));
    assert_eq!(rename[..2], ["inode_permission"; 2]);
    for line in second.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }

    let total: u64 = a.cells.iter().map(|cell| counted(cell).1.total).sum();
    let folded = fs::read_to_string(place.join("a.folded")).unwrap();
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for line in folded.lines() {
        let (stack, figure) = line.rsplit_once(' ').unwrap();
        let title = stack.split(';').next().unwrap();
        *sums.entry(title).or_default() += figure.parse::<u64>().unwrap();
    }
    let titles: Vec<String> = a.cells.iter().map(Cell::title).collect();
    let totals = titles.iter().map(String::as_str);
    let totals = totals.zip(a.cells.iter().map(|cell| counted(cell).1.total));
    assert_eq!(sums, totals.collect());
    assert!(folded.contains(";shmem_") && !folded.contains("[unknown]"));

    let callgrind = fs::read_to_string(place.join("a.callgrind")).unwrap();
    let summary = format!("summary: {total}");
    assert!(callgrind.lines().any(|line| line == summary), "{summary}");
    let annotate = Command::new("callgrind_annotate")
        .args(["--inclusive=yes", "--tree=both"])
        .arg(place.join("a.callgrind"))
        .output();
    // Valgrind that is not here cannot be asked.
    if let Ok(output) = annotate {
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(program_totals(&text), total);
    }

    let asked = [
        &["run", "--output", "with.json", "--with-hooks"],
        SELINUX,
        SOME,
    ]
    .concat();
    place.run(&asked).code(0);
    let asked = [&["run", "--output", "without.json"], SELINUX, SOME].concat();
    place.run(&asked).code(0);
    let [with, without] = ["with.json", "without.json"].map(|name| read(&place.join(name)));
    for ((with, without), cell) in with.cells.iter().zip(&without.cells).zip(&a.cells) {
        assert_eq!(with.title(), cell.title());
        let (profiled, path) = counted(cell);
        assert_eq!(with.hooks(), Some(&path.hooks[..]));
        assert_eq!(without.hooks(), with.hooks());
        // Rare paths may differ from boot to boot.
        let [counts, others] = [with, without].map(|cell| cell.paths().unwrap());
        assert_eq!(counts.dominant, others.dominant, "{}", cell.title());
        assert_eq!(counts.dominant.instructions, path.total);
        assert_eq!(Some(counts.dominant.rep_iterations), path.rep_iterations);
        assert_eq!(counts.regions, profiled.regions());
        assert_eq!(counts.dominant.regions, path.regions);
    }
    assert_eq!((with.cells.len(), without.cells.len()), (6, 6));
    assert_eq!(place.left_over(), Vec::<String>::new());
}

#[test]
fn functions_of_kernel_modules_are_named() {
    if !testing::has_program("mkfs.xfs", "xfsprogs") {
        return;
    }
    let place = Place::with_kernel("debian:6.12");
    let benches = [
        "--bench",
        "open:AA",
        "--bench",
        "creat:random",
        "--bench",
        "stat:AA",
    ];
    let rest = [
        "--kernel",
        "debian:6.12",
        "--fs",
        "xfs",
        "--stack",
        "capability,selinux",
    ];
    let files = ["--output", "out.json", "--folded", "-"];
    let asked = [&["profile", "--offline"], &rest[..], &benches, &files].concat();
    let folded = place.run(&asked).code(0).stdout;
    assert!(folded.contains(";xfs_"), "{folded}");
    let unknown: Vec<&str> = folded
        .lines()
        .filter(|line| line.contains("[unknown]"))
        .collect();
    assert_eq!(unknown, Vec::<&str>::new());
    let document = read(&place.join("out.json"));
    assert_eq!(document.cells.len(), 3);
    for cell in &document.cells {
        assert_eq!(cell.key.filesystem, "xfs");
        assert_sums(&cell.title(), counted(cell).1);
    }
}
