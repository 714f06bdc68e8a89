// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls and costs of hooks on kernels with hook lists (6.1) and static calls (6.12).

use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, Document, HookCost};

use super::{assert_fits_schema, assert_sums, counted, residual};
use crate::common::Place;

/// Benchmarks, and the calls of `inode_permission`, `file_open` and `file_permission` in one
/// operation. A path of D components takes D permission checks, one for each directory on the way,
/// including the start. An open makes one more for the file; mkdir and rmdir make one more for the
/// directory that they write to.
const CALLS: &[(&str, [u64; 3])] = &[
    ("open:AA", [2, 1, 0]),
    ("open:AA/BB/CC/DD", [5, 1, 0]),
    ("open:AA/BB/CC/DD/EE/FF/GG/HH", [9, 1, 0]),
    ("open:AA/../HH", [4, 1, 0]),
    ("open:XX/YY/../../AA/BB/../../HH", [10, 1, 0]),
    ("stat:AA", [1, 0, 0]),
    ("stat:AA/BB", [2, 0, 0]),
    ("stat:AA/BB/CC/DD/EE/FF/GG/HH", [8, 0, 0]),
    // Both paths are walked, both directories written to.
    ("rename:depth1", [4, 0, 0]),
    ("rename:depth2", [6, 0, 0]),
    ("rename:depth5", [12, 0, 0]),
    ("chmod:depth1", [1, 0, 0]),
    ("chmod:depth3", [3, 0, 0]),
    ("mkdir:one", [2, 0, 0]),
    ("rmdir:one", [2, 0, 0]),
    // Two operations each, at depth 1: rename, and creat, which searches the directory, opens it
    // for writing, and opens the new file,
    ("creat:random", [4 + 3, 1, 0]),
    // open and unlink,
    ("unlink:random", [2 + 2, 1, 0]),
    // symlink and unlink.
    ("symlink:random", [2 + 2, 0, 0]),
    ("read:4KB", [0, 0, 1]),
    ("write:4KB", [0, 0, 1]),
    ("getppid:null", [0, 0, 0]),
];

const STACKS: [&str; 3] = ["selinux", "apparmor", "tomoyo"];

fn find<'a>(cells: &'a [Cell], title: &str, module: &str) -> &'a Cell {
    cells
        .iter()
        .find(|cell| cell.title() == title && cell.key.stack.iter().any(|m| m == module))
        .unwrap_or_else(|| panic!("no {title} under {module}"))
}

fn calls(hooks: &[HookCost], hook: &str) -> u64 {
    let of_hook = hooks.iter().filter(|cost| cost.hook == hook);
    of_hook.map(|cost| cost.calls).sum()
}

fn outermost(hooks: &[HookCost]) -> BTreeMap<&str, i64> {
    let mut sums = BTreeMap::new();
    for cost in hooks {
        *sums.entry(cost.hook.as_str()).or_default() += i64::try_from(cost.outermost).unwrap();
    }
    sums
}

fn modules(cells: &[&Cell]) -> BTreeSet<String> {
    cells
        .iter()
        .flat_map(|cell| &counted(cell).1.hooks)
        .flat_map(|hook| &hook.implementations)
        .map(|behind| behind.module.clone())
        .collect()
}

#[track_caller]
fn assert_difference(cell: &Cell) {
    let title = format!("{} under {:?}", cell.title(), cell.key.stack);
    let (of_cell, path) = counted(cell);
    let residual = residual(cell);
    let base = &residual.path;
    assert_eq!(residual.stack, ["capability"], "{title}");
    assert_sums(&title, path);
    assert_sums(&title, base);
    let [own, of_base] = [path, base].map(|path| outermost(&path.hooks));
    let names: BTreeSet<&str> = own.keys().chain(of_base.keys()).copied().collect();
    let sum_in = |sums: &BTreeMap<&str, i64>, hook: &str| sums.get(hook).copied().unwrap_or(0);
    let in_hooks: i64 = names
        .iter()
        .map(|hook| sum_in(&own, hook) - sum_in(&of_base, hook))
        .sum();
    let in_total = path.total.cast_signed() - base.total.cast_signed();
    assert_eq!(in_total, in_hooks + residual.instructions, "{title}");
    if of_cell.is_comparable() {
        let functions = &residual.functions;
        let known = functions.iter().all(|held| held.explanation.is_some());
        assert!(known, "{title}: {functions:#?}");
    }
}

/// Profiles all of [`CALLS`] under all of [`STACKS`] against capability.
fn compared(place: &Place, kernel: &str) -> Document {
    let stacks = STACKS.map(|module| format!("--stack capability,{module}"));
    let titles: Vec<&str> = CALLS.iter().map(|(title, _)| *title).collect();
    let line = format!(
        "profile --offline --kernel {kernel} --fs tmpfs --baseline capability --check \
         --output out.json {} --bench {}",
        stacks.join(" "),
        titles.join(",")
    );
    place.line(&line).code(0);
    let document = place.document("out.json");
    assert_calls(&document.cells);
    assert_differences(&document.cells);
    document
}

#[track_caller]
fn assert_calls(cells: &[Cell]) {
    for (title, expected) in CALLS {
        for module in STACKS {
            let cell = find(cells, title, module);
            for path in [counted(cell).1, &residual(cell).path] {
                let counted = ["inode_permission", "file_open", "file_permission"]
                    .map(|hook| calls(&path.hooks, hook));
                assert_eq!(counted, *expected, "{title} under {module}: {path:#?}");
            }
        }
    }
    assert_eq!(cells.len(), CALLS.len() * STACKS.len());
}

#[track_caller]
fn assert_differences(cells: &[Cell]) {
    for cell in cells {
        assert_difference(cell);
    }
    // The sums mean nothing unless some operations are stable.
    let stable = cells.iter().filter(|cell| counted(cell).0.is_comparable());
    assert!(stable.clone().count() > cells.len() * 3 / 4);
    // A new name's hash bucket or an object's slab may differ in a few.
    let hooks_are_all = |cell: &&Cell| residual(cell).functions.is_empty();
    assert!(stable.filter(hooks_are_all).count() > cells.len() * 3 / 4);
    for module in STACKS {
        let open = find(cells, "open:AA", module);
        let (of_open, path) = counted(open);
        let base = &residual(open).path;
        assert!(of_open.is_comparable());
        assert!(path.total > base.total && path.hooked > base.hooked);
        let differ = path.total - base.total;
        assert_eq!(differ, path.hooked - base.hooked, "{module}");
        let getppid = find(cells, "getppid:null", module);
        let path = counted(getppid).1;
        assert_eq!(path.hooks, []);
        assert_eq!(path.total, residual(getppid).path.total);
    }
}

#[test]
fn hooks_of_6_12() {
    let place = Place::with_kernel("debian:6.12");
    let cells = &compared(&place, "debian:6.12").cells;
    assert_fits_schema(&place.join("out.json"));
    for module in STACKS {
        let is_of = |cell: &&Cell| cell.key.stack.iter().any(|m| m == module);
        let of_stack: Vec<&Cell> = cells.iter().filter(is_of).collect();
        // From 6.8 on these are modules, which every stack has.
        let expected = BTreeSet::from([module, "ima", "evm"].map(str::to_owned));
        assert_eq!(modules(&of_stack), expected);
        for cell in of_stack {
            let active = &cell.active_lsms;
            assert!(expected.iter().all(|m| active.contains(m)), "{active:?}");
            assert!(cell.release.starts_with("6.12."));
        }
    }

    assert_eq!(place.names(), ["out.json"]);
    assert_eq!(place.left_over(), [""; 0]);
}

#[test]
fn hooks_of_6_1() {
    let place = Place::with_kernel("debian:6.1");
    let cells = &compared(&place, "debian:6.1").cells;
    for module in STACKS {
        let open = find(cells, "open:AA", module);
        assert!(open.release.starts_with("6.1."));
        // Not a module yet, but called next to the framework.
        assert!(modules(&[open]).contains("ima"));
        assert!(modules(&[open]).contains(module));
        assert!(!open.active_lsms.iter().any(|m| m == "ima"));
        assert_eq!(calls(&counted(open).1.hooks, "ima_file_check"), 1);
    }
    // SELinux decides once per check.
    let open = find(cells, "open:AA", "selinux");
    let mut hooks = counted(open).1.hooks.iter();
    let hook = hooks.find(|h| h.hook == "inode_permission");
    let behind = &hook.unwrap().implementations[..];
    assert_eq!(behind.len(), 1, "{behind:#?}");
    assert_eq!(behind[0].function, "selinux_inode_permission");
    assert_eq!((behind[0].module.as_str(), behind[0].calls), ("selinux", 2));
}
