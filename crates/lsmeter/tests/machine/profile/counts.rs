// SPDX-License-Identifier: GPL-2.0-or-later
//! What is counted: calls of hooks, and what they cost, on both kinds of kernel: hooks
//! in lists (6.1) and as static calls (6.12).

use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, Document, HookCost};

use super::{assert_fits_schema, assert_sums, counted, read, residual, tables};
use crate::common::Place;

/// How often an operation on a path of `depth` components asks for permission to a
/// directory or file (`inode_permission`): once for every directory that is walked
/// through, which include the one that it starts from. Also chmod.
const fn stat(depth: u64) -> u64 {
    depth
}

/// Once more for the file that is opened; of unlink, symlink, mkdir and rmdir for the
/// directory that is written to.
const fn open(depth: u64) -> u64 {
    depth + 1
}

/// The directory is searched, opened for writing, and the new file is opened.
const fn creat(depth: u64) -> u64 {
    depth + 2
}

/// Both paths are walked, both directories written to.
const fn rename(depth: u64) -> u64 {
    2 * depth + 2
}

/// Benchmarks, and the calls of `inode_permission`, `file_open` and `file_permission`
/// in one operation.
const CALLS: &[(&str, [u64; 3])] = &[
    ("open:AA", [open(1), 1, 0]),
    ("open:AA/BB/CC/DD", [open(4), 1, 0]),
    ("open:AA/BB/CC/DD/EE/FF/GG/HH", [open(8), 1, 0]),
    ("open:AA/../HH", [open(3), 1, 0]),
    ("open:XX/YY/../../AA/BB/../../HH", [open(9), 1, 0]),
    ("stat:AA", [stat(1), 0, 0]),
    ("stat:AA/BB", [stat(2), 0, 0]),
    ("stat:AA/BB/CC/DD/EE/FF/GG/HH", [stat(8), 0, 0]),
    ("rename:depth1", [rename(1), 0, 0]),
    ("rename:depth2", [rename(2), 0, 0]),
    ("rename:depth5", [rename(5), 0, 0]),
    ("chmod:depth1", [stat(1), 0, 0]),
    ("chmod:depth3", [stat(3), 0, 0]),
    ("mkdir:one", [open(1), 0, 0]),
    ("rmdir:one", [open(1), 0, 0]),
    // These are two operations each, at depth 1: rename and creat,
    ("creat:random", [rename(1) + creat(1), 1, 0]),
    // open and unlink,
    ("unlink:random", [open(1) + open(1), 1, 0]),
    // symlink and unlink.
    ("symlink:random", [open(1) + open(1), 0, 0]),
    ("read:4KB", [0, 0, 1]),
    ("write:4KB", [0, 0, 1]),
    ("getppid:null", [0, 0, 0]),
];

const STACKS: &[&str] = &["selinux", "apparmor", "tomoyo"];

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
    let of = |sums: &BTreeMap<&str, i64>, hook: &str| sums.get(hook).copied().unwrap_or(0);
    let in_hooks: i64 = names
        .iter()
        .map(|hook| of(&own, hook) - of(&of_base, hook))
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
fn compared(place: &Place, kernel: &str, rest: &[&str]) -> (Document, String) {
    let stacks: Vec<String> = STACKS.iter().map(|m| format!("capability,{m}")).collect();
    let mut asked = vec!["profile", "--offline", "--kernel", kernel, "--fs", "tmpfs"];
    asked.extend([
        "--baseline",
        "capability",
        "--check",
        "--output",
        "out.json",
    ]);
    asked.extend(stacks.iter().flat_map(|stack| ["--stack", stack]));
    asked.extend(CALLS.iter().flat_map(|(title, _)| ["--bench", title]));
    asked.extend(rest);
    let ended = place.run(&asked).code(0);
    (read(&place.join("out.json")), ended.stdout)
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
    // That the sums hold says nothing where nothing is stable.
    let stable = cells.iter().filter(|cell| counted(cell).0.is_comparable());
    assert!(stable.clone().count() > cells.len() * 3 / 4);
    // Where a new name's bucket or an object's slab differs, it does so in few.
    let hooks_are_all = |cell: &&Cell| residual(cell).functions.is_empty();
    assert!(stable.filter(hooks_are_all).count() > cells.len() * 3 / 4);
    for module in STACKS {
        let open = find(cells, "open:AA", module);
        let (of_open, path) = counted(open);
        let base = &residual(open).path;
        assert!(of_open.is_comparable());
        assert!(path.total > base.total && path.hooked > base.hooked);
        assert_eq!(
            path.total - base.total,
            path.hooked - base.hooked,
            "{module}"
        );
        let getppid = find(cells, "getppid:null", module);
        let path = counted(getppid).1;
        assert_eq!(path.hooks, []);
        assert_eq!(path.total, residual(getppid).path.total);
    }
}

#[test]
fn hooks_of_6_12() {
    let place = Place::with_kernel("debian:6.12");
    let (document, table) = compared(&place, "debian:6.12", &[]);
    let cells = &document.cells;
    assert_calls(cells);
    assert_differences(cells);
    assert_fits_schema(&place.join("out.json"));
    for module in STACKS {
        let of_stack: Vec<&Cell> = cells
            .iter()
            .filter(|cell| cell.key.stack.iter().any(|m| m == module))
            .collect();
        // From 6.8 on these are modules, which every stack has.
        let expected = BTreeSet::from([*module, "ima", "evm"].map(str::to_owned));
        assert_eq!(modules(&of_stack), expected);
        for cell in of_stack {
            let active = &cell.active_lsms;
            assert!(expected.iter().all(|m| active.contains(m)), "{active:?}");
            assert!(cell.release.starts_with("6.12."));
        }
    }

    let csv = place.run(&["export", "out.json"]).code(0).stdout;
    tables::assert_csv_says(csv.as_bytes(), cells);
    tables::assert_rows_say(&table, cells);
    assert_eq!(place.names(), ["out.json"]);
    assert_eq!(place.left_over(), Vec::<String>::new());
}

#[test]
fn hooks_of_6_1() {
    let place = Place::with_kernel("debian:6.1");
    let (document, table) = compared(&place, "debian:6.1", &[]);
    let cells = &document.cells;
    assert_calls(cells);
    assert_differences(cells);
    tables::assert_rows_say(&table, cells);
    for module in STACKS {
        let open = find(cells, "open:AA", module);
        assert!(open.release.starts_with("6.1."));
        // No module yet, but called beside the framework.
        assert!(modules(&[open]).contains("ima"));
        assert!(modules(&[open]).contains(*module));
        assert!(!open.active_lsms.iter().any(|m| m == "ima"));
        assert_eq!(
            calls(&counted(open).1.hooks, "ima_file_check"),
            1,
            "{open:#?}"
        );
    }
    // One decision of SELinux for each that is asked for.
    let open = find(cells, "open:AA", "selinux");
    let mut hooks = counted(open).1.hooks.iter();
    let hook = hooks.find(|h| h.hook == "inode_permission");
    let behind = &hook.unwrap().implementations[..];
    assert_eq!(behind.len(), 1, "{behind:#?}");
    assert_eq!(behind[0].function, "selinux_inode_permission");
    assert_eq!((behind[0].module.as_str(), behind[0].calls), ("selinux", 2));
}
