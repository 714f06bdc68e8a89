// SPDX-License-Identifier: GPL-2.0-or-later
//! All outputs agree, in all boots.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use model::{Cell, Document, HookedPath, Key};

use super::{SELINUX, assert_fits_schema, assert_sums, counted};
use crate::common::Place;

/// Operations with the same dominant path in every boot.
pub const SOME: &str = "--bench open:AA,stat:AA,read:4KB,rename:depth1,rmdir:one,getppid";

/// The hooks of an operation in a trace, in order.
#[track_caller]
fn traced(text: &str, title: &str) -> Vec<String> {
    let heading = format!("{title}: ");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&heading));
    assert!(lines.next().is_some(), "no {title}:\n{text}");
    let mut hooks = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let number = words.next().and_then(|word| word.parse::<usize>().ok());
        // Lines without a number continue the callers.
        let (Some(number), Some(hook)) = (number, words.next()) else {
            continue;
        };
        assert_eq!(number, hooks.len() + 1, "{line}");
        let times = words.next().and_then(|word| word.strip_prefix('×'));
        let times = times.map_or(1, |times| times.parse().unwrap());
        hooks.extend(std::iter::repeat_n(hook.to_owned(), times));
    }
    hooks
}

/// Traces have the calls that profiles count.
#[track_caller]
fn assert_trace_agrees(text: &str, cells: &[Cell]) {
    for cell in cells {
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        for hook in traced(text, &cell.title()) {
            *calls.entry(hook).or_default() += 1;
        }
        let hooks = counted(cell).1.hooks.iter();
        let expected = hooks.map(|hook| (hook.hook.clone(), hook.calls)).collect();
        assert_eq!(calls, expected, "{}", cell.title());
    }
}

/// From the line `743,229 (100.0%)  PROGRAM TOTALS` of callgrind_annotate.
fn program_totals(annotated: &str) -> u64 {
    let line = annotated
        .lines()
        .find(|line| line.contains("PROGRAM TOTALS"))
        .unwrap_or_else(|| panic!("{annotated}"));
    let digits = line.split_whitespace().next().unwrap().replace(',', "");
    digits.parse().unwrap()
}

#[test]
fn all_outputs_of_all_boots_agree() {
    let place = Place::with_kernel("debian:6.12");
    let files = "--output a.json --callgrind a.callgrind --folded a.folded";
    let first = place.line(&format!("profile --json {SELINUX} {SOME} {files}"));
    let kept = fs::read_to_string(place.join("a.json")).unwrap();
    assert_eq!(first.code(0).stdout, kept);
    assert_fits_schema(&place.join("a.json"));
    let a = place.document("a.json");
    assert_eq!(a.cells.len(), 6, "{a:#?}");

    let line = format!("profile --no-cache --trace --output b.json {SELINUX} {SOME}");
    let second = place.line(&line).code(0);
    let figures = |document: &Document| -> Vec<(Key, HookedPath, [u64; 2])> {
        let cells = document.hooked();
        cells
            .map(|(cell, counted, path)| {
                (
                    cell.key.clone(),
                    path.clone(),
                    [counted.regions(), counted.dirty()],
                )
            })
            .collect()
    };
    assert_eq!(figures(&place.document("b.json")), figures(&a));
    assert_trace_agrees(&second.stdout, &a.cells);
    let open = traced(&second.stdout, "open:AA");
    let called = "file_alloc_security inode_permission inode_permission file_open \
                  file_post_open current_getsecid_subj file_release file_free_security";
    assert_eq!(open.join(" "), called);
    let rename = traced(&second.stdout, "rename:depth1");
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
    // Valgrind may be missing.
    if let Ok(output) = annotate {
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(program_totals(&text), total);
    }

    let line = format!("run --output run.json {SELINUX} {SOME}");
    place.line(&line).code(0);
    let run = place.document("run.json");
    for (counts, cell) in run.cells.iter().zip(&a.cells) {
        assert_eq!(counts.title(), cell.title());
        let (profiled, path) = counted(cell);
        assert_eq!(counts.hooks(), Some(&path.hooks[..]));
        let paths = counts.paths().unwrap();
        assert_eq!(paths.dominant.instructions, path.total);
        assert_eq!(Some(paths.dominant.rep_iterations), path.rep_iterations);
        assert_eq!(paths.regions, profiled.regions());
        assert_eq!(paths.dominant.regions, path.regions);
    }
    assert_eq!(run.cells.len(), 6);
    assert_eq!(place.left_over(), [""; 0]);
}

#[test]
fn functions_of_kernel_modules_are_named() {
    if !testing::has_program("mkfs.xfs", "xfsprogs") {
        return;
    }
    let place = Place::with_kernel("debian:6.12");
    let line = "profile --offline --kernel debian:6.12 --fs xfs --stack capability,selinux \
                --bench open:AA,creat:random,stat:AA --output out.json --folded -";
    let folded = place.line(line).code(0).stdout;
    assert!(folded.contains(";xfs_"), "{folded}");
    assert!(!folded.contains("[unknown]"), "{folded}");
    let document = place.document("out.json");
    assert_eq!(document.cells.len(), 3);
    for cell in &document.cells {
        assert_eq!(cell.key.filesystem, "xfs");
        assert_sums(&cell.title(), counted(cell).1);
    }
}
