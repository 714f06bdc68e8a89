// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks hold what stacks add, and what checks of directories cost, in the document of
//! `docs/results/paper.md`.

use std::collections::BTreeMap;
use std::path::Path;

use model::{Cell, Document, path_depth};
use report::{Options, markdown, report};

const TABLES: [&str; 3] = [
    "How many hooks hold what a stack adds",
    "Hooks by what they add",
    "What checks of directories cost",
];

fn paper() -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/paper.json.xz");
    Document::parse(&testing::unpack(&std::fs::read(path).unwrap())).unwrap()
}

/// Which of the tables are there.
fn tables(document: &Document, details: bool) -> [bool; 3] {
    let text = markdown(&report(
        document,
        &Options {
            details,
            ..Options::default()
        },
    ));
    TABLES.map(|title| text.contains(&format!("**{title}")))
}

#[test]
fn tables_are_where_they_say_something() {
    let document = paper();
    assert_eq!(tables(&document, true), [true; 3]);
    assert_eq!(tables(&document, false), [false; 3]);
    let mut without_hooks = paper();
    for cell in &mut without_hooks.cells {
        if let Some(counted) = cell.counted_mut() {
            counted.hooked = None;
        }
    }
    assert_eq!(tables(&without_hooks, true), [false; 3]);
    let mut without_baseline = paper();
    let others = |cell: &Cell| cell.key.stack != ["none"];
    without_baseline.cells.retain(others);
    assert_eq!(tables(&without_baseline, true), [false; 3]);
    // One depth is no walk.
    let mut shallow = paper();
    shallow.cells.retain(|cell| cell.key.variant() == "AA");
    assert_eq!(tables(&shallow, true), [true, true, false]);
}

/// Calls and instructions of `inode_permission`, by stack and what else is at work, then by depth.
fn checks(document: &Document, benchmark: &str) -> BTreeMap<String, BTreeMap<u32, (u64, u64)>> {
    let mut found: BTreeMap<String, BTreeMap<u32, (u64, u64)>> = BTreeMap::new();
    let of_benchmark = |cell: &&Cell| cell.key.benchmark() == benchmark;
    for cell in document.cells.iter().filter(of_benchmark) {
        let hooks = cell.hooks().unwrap_or_default();
        let check = hooks.iter().find(|hook| hook.hook == "inode_permission");
        if let (Some(depth), Some(check)) = (path_depth(cell.key.variant()), check) {
            let of = found.entry(cell.configuration_title()).or_default();
            of.insert(depth, (check.calls, check.outermost));
        }
    }
    found
}

/// What the table takes of `open` for the price of directories is that of `stat`.
#[test]
fn open_checks_one_file_more_than_stat_at_every_depth() {
    let document = paper();
    let (open, stat) = (checks(&document, "open"), checks(&document, "stat"));
    assert!(open.len() > 5 && open.keys().eq(stat.keys()));
    for (stack, of_open) in &open {
        let of_stat = &stat[stack];
        assert_eq!(of_open.len(), 8, "{stack}");
        let file = of_open[&1].1 - of_stat[&1].1;
        for (depth, (calls, cost)) in of_open {
            let (directories, price) = of_stat[depth];
            let same = (*calls, *cost) == (directories + 1, price + file);
            assert!(same, "{stack} at depth {depth}");
        }
    }
}

/// Its refusal to decide in RCU walk is repeated once, not for each directory.
#[test]
fn smack_asks_once_more_than_others_at_every_depth() {
    for (stack, of_stat) in checks(&paper(), "stat") {
        let once_more = u64::from(stack.contains("smack"));
        for (depth, (calls, _)) in of_stat {
            assert_eq!(calls, u64::from(depth) + once_more, "{stack}");
        }
    }
}
