// SPDX-License-Identifier: GPL-2.0-or-later
//! Call trees as callgrind, folded stacks and hook traces.

use std::collections::HashMap;
use std::process::Command;

use counts::calltree::CallTree;
use model::{Document, Metric};
use proptest::prelude::*;
use report::{Layout, Report, call_tables, callgrind, folded, hook_trace, terminal};

/// Adds a function below `parent`.
fn add(tree: &mut CallTree, parent: usize, function: &str, calls: u64, own: u64) -> usize {
    let at = tree.add(parent, function);
    let node = tree.node_mut(at).unwrap();
    node.calls = calls;
    node.instructions = own;
    at
}

/// An open that walks one directory and follows a symbolic link in between.
fn open() -> CallTree {
    let mut tree = CallTree::default();
    let entry = add(&mut tree, 0, "entry_SYSCALL_64", 1, 70);
    let syscall = add(&mut tree, entry, "do_syscall_64", 1, 40);
    let open = add(&mut tree, syscall, "__x64_sys_open", 1, 12);
    let open = add(&mut tree, open, "do_sys_openat2", 1, 90);
    let open = add(&mut tree, open, "path_openat", 1, 120);
    let walk = add(&mut tree, open, "link_path_walk", 2, 400);
    let inode = add(&mut tree, walk, "inode_permission", 3, 45);
    let permission = add(&mut tree, inode, "security_inode_permission", 3, 84);
    add(&mut tree, permission, "selinux_inode_permission", 3, 1_100);
    // Recursion: following a link walks again.
    let link = add(&mut tree, walk, "pick_link", 1, 30);
    let again = add(&mut tree, link, "link_path_walk", 1, 50);
    let inode = add(&mut tree, again, "inode_permission", 1, 15);
    let inner = add(&mut tree, inode, "security_inode_permission", 1, 28);
    let last = add(&mut tree, open, "do_dentry_open", 1, 60);
    let file = add(&mut tree, last, "security_file_open", 1, 33);
    let ima = add(&mut tree, file, "ima_file_check", 1, 20);
    let nested = add(&mut tree, ima, "security_current_getsecid_subj", 1, 9);
    tree.sequence = vec![permission, permission, inner, permission, file, nested];
    tree
}

fn operations(tree: &CallTree) -> Vec<(String, &CallTree)> {
    vec![("open:AA".to_owned(), tree)]
}

fn folded_of(operations: &[(String, &CallTree)]) -> String {
    let mut bytes = Vec::new();
    folded(operations, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn callgrind_of(operations: &[(String, &CallTree)]) -> String {
    let mut bytes = Vec::new();
    callgrind(
        operations,
        Metric::Instructions,
        "lsmeter profile --bench open:AA",
        &mut bytes,
    )
    .unwrap();
    String::from_utf8(bytes).unwrap()
}

fn hook_of(function: &str) -> Option<String> {
    function.strip_prefix("security_").map(str::to_owned)
}

#[test]
fn folded_stacks() {
    insta::assert_snapshot!(folded_of(&operations(&open())));
}

#[test]
fn callgrind_profile() {
    insta::assert_snapshot!(callgrind_of(&operations(&open())));
}

#[test]
fn trace_of_hooks() {
    insta::assert_snapshot!(hook_trace("open:AA", &open(), &hook_of));
}

#[test]
fn trace_without_hooks() {
    let trace = hook_trace("getppid", &CallTree::default(), &hook_of);
    assert_eq!(trace, "getppid: no hook is called\n");
}

#[test]
fn trace_of_a_long_chain_and_of_what_lies() {
    let mut tree = CallTree::default();
    let mut at = 0;
    for depth in 0..40 {
        at = add(&mut tree, at, &format!("function_at_depth_{depth}"), 1, 1);
    }
    let first = add(&mut tree, at, "security_a\u{1b}[2J\n", 1, 1);
    let mut sequence = vec![first];
    let mut at = first;
    for _ in 0..12 {
        at = add(&mut tree, at, &"x".repeat(300), 1, 1);
        let hook = format!("security_{}", "y".repeat(300));
        at = add(&mut tree, at, &hook, 1, 1);
        sequence.push(at);
    }
    // This node is outside the tree.
    sequence.push(usize::MAX);
    tree.sequence = sequence;
    let trace = hook_trace("a\u{1b}b", &tree, &hook_of);
    assert!(trace.chars().all(|c| c == '\n' || !c.is_control()));
    assert!(trace.lines().all(|l| l.chars().count() <= 100), "{trace}");
    insta::assert_snapshot!(trace.lines().take(10).collect::<Vec<_>>().join("\n"));
}

#[test]
fn names_cannot_break_a_format() {
    let mut tree = CallTree::default();
    let a = add(&mut tree, 0, "a;b c\n0 99\ncalls=7 0", 1, 5);
    add(&mut tree, a, "(1)", 1, 7);
    add(&mut tree, a, "  ", 0, 2);
    let made = vec![("x y;z".to_owned(), &tree)];
    assert_eq!(
        folded_of(&made),
        "x_y_z;a_b_c?0_99?calls=7_0 5\nx_y_z;a_b_c?0_99?calls=7_0;(1) 7\n\
         x_y_z;a_b_c?0_99?calls=7_0;__ 2\n"
    );
    let read = Read::parse(&callgrind_of(&made));
    assert_eq!(read.own["a;b c?0 99?calls=7 0"], 5);
    assert_eq!(read.own["(1)"], 7);
    assert_eq!(read.own["?"], 2);
    assert_eq!(read.total(), 14);
}

#[test]
fn an_operation_named_like_a_function_stays_its_own() {
    let mut tree = CallTree::default();
    add(&mut tree, 0, "read", 1, 5);
    let read = Read::parse(&callgrind_of(&[("read".to_owned(), &tree)]));
    assert_eq!(read.own["read"], 5);
    assert_eq!(
        read.calls[&("read (operation)".to_owned(), "read".to_owned())],
        (1, 5)
    );
}

/// The contents that a reader of the format extracts.
#[derive(Default)]
struct Read {
    own: HashMap<String, u64>,
    /// Calls and inclusive cost.
    calls: HashMap<(String, String), (u64, u64)>,
    totals: Vec<u64>,
}

impl Read {
    fn parse(text: &str) -> Read {
        let mut read = Read::default();
        let mut names: HashMap<String, String> = HashMap::new();
        let mut name = |text: &str| {
            let (id, name) = text.split_once(')').unwrap();
            let name = name.trim_start();
            if !name.is_empty() {
                assert!(names.insert(id.to_owned(), name.to_owned()).is_none());
            }
            names[id].clone()
        };
        let (mut caller, mut callee, mut calls) = (String::new(), String::new(), None);
        let (_, body) = text.split_once("events: Instructions\n").unwrap();
        for line in body.lines().filter(|line| !line.is_empty()) {
            if let Some(text) = line.strip_prefix("fn=") {
                caller = name(text);
            } else if let Some(text) = line.strip_prefix("cfn=") {
                callee = name(text);
            } else if let Some(text) = line.strip_prefix("calls=") {
                calls = Some(text.strip_suffix(" 0").unwrap().parse().unwrap());
                assert!(calls > Some(0));
            } else if let Some((_, total)) = line.split_once(": ") {
                read.totals.push(total.parse().unwrap());
            } else if line.starts_with("fl=") {
            } else {
                let cost = line.strip_prefix("0 ").unwrap().parse().unwrap();
                match calls.take() {
                    Some(calls) => {
                        let edge = (caller.clone(), callee.clone());
                        assert!(read.calls.insert(edge, (calls, cost)).is_none());
                    }
                    None => assert!(read.own.insert(caller.clone(), cost).is_none()),
                }
            }
        }
        let total = read.total();
        assert_eq!(read.totals, [total, total]);
        read
    }

    fn total(&self) -> u64 {
        self.own.values().sum()
    }

    /// Cost of all calls of a function.
    fn inclusive(&self, function: &str) -> u64 {
        let edges = self.calls.iter().filter(|((_, to), _)| to == function);
        edges.map(|(_, (_, cost))| cost).sum()
    }
}

/// Whether a function is among a node's callers, or the node itself.
fn is_in(tree: &CallTree, node: usize, function: &str) -> bool {
    let mut nodes = tree.callers(node).into_iter().chain([node]);
    nodes.any(|at| &*tree.nodes()[at].function == function)
}

fn tree() -> impl Strategy<Value = CallTree> {
    let node = (any::<prop::sample::Index>(), 0usize..6, 0u64..4, 0u64..100);
    (0u64..50, prop::collection::vec(node, 0..60)).prop_map(|(own, nodes)| {
        let mut tree = CallTree::default();
        tree.node_mut(0).unwrap().instructions = own;
        for (parent, function, calls, own) in nodes {
            let parent = parent.index(tree.nodes().len());
            let function = ["a", "b", "c", "d", "e", "a.cold"][function];
            add(&mut tree, parent, function, calls, own);
        }
        tree
    })
}

proptest! {
    #[test]
    fn nothing_is_lost(trees in prop::collection::vec(tree(), 1..4)) {
        let operations = trees.iter().enumerate();
        let operations = operations.map(|(at, tree)| (format!("open:{}", at % 2), tree));
        let operations: Vec<(String, &CallTree)> = operations.collect();
        let total: u64 = trees.iter().map(CallTree::total).sum();
        let text = folded_of(&operations);
        let lines: Vec<&str> = text.lines().collect();
        prop_assert!(lines.is_sorted());
        let own = |line: &&str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
        prop_assert_eq!(lines.iter().map(own).sum::<u64>(), total);
        let read = Read::parse(&callgrind_of(&operations));
        prop_assert_eq!(read.total(), total);
        // Callees of a function count once in its inclusive cost.
        for function in ["a", "b", "c", "d", "e", "a.cold"] {
            let below = trees.iter().flat_map(|tree| {
                let nodes = (1..tree.nodes().len()).filter(|at| is_in(tree, *at, function));
                nodes.map(|at| tree.nodes()[at].instructions)
            });
            prop_assert_eq!(read.inclusive(function), below.sum::<u64>());
        }
    }
}

/// Valgrind's own reader accepts the file.
#[test]
fn callgrind_annotate_reads_it() {
    if !testing::has_program("callgrind_annotate", "valgrind") {
        return;
    }
    let tree = open();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("callgrind.out");
    let two = [("open:AA".to_owned(), &tree), ("open:BB".to_owned(), &tree)];
    std::fs::write(&path, callgrind_of(&two)).unwrap();
    let output = Command::new("callgrind_annotate")
        .args(["--inclusive=yes", "--tree=both", "--show-percs=no"])
        .arg(&path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(output.stderr.is_empty(), "{:?}", output.stderr);
    let line = text.lines().find(|line| line.contains("PROGRAM TOTALS"));
    let total: String = line.unwrap().chars().filter(char::is_ascii_digit).collect();
    assert_eq!(total.parse::<u64>().unwrap(), 2 * tree.total());
    let cost = |function: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.contains(" * ") && line.ends_with(function));
        let (cost, _) = line.unwrap().split_once('*').unwrap();
        let cost: String = cost.chars().filter(char::is_ascii_digit).collect();
        cost.parse::<u64>().unwrap()
    };
    assert_eq!(cost(":open:AA"), tree.total());
    assert_eq!(cost(":link_path_walk"), 2 * 1_752);
    assert_eq!(cost(":selinux_inode_permission"), 2 * 1_100);
}

/// From a real run: cost that SELinux adds to an open, by caller.
#[test]
fn calls_of_a_cell_stand_beside_the_baselines() {
    let suite = include_bytes!("../../../lsmeter/tests/browser/suite.json.xz");
    let mut run = Document::parse(&testing::unpack(suite)).unwrap();
    run.cells
        .retain(|cell| cell.key.stack.len() == 1 || cell.key.stack.ends_with(&["selinux".into()]));
    let shown = |pattern: &str| {
        let wanted = pattern.parse().unwrap();
        let tables = call_tables(&run, &wanted);
        let report = Report {
            tables,
            ..Report::default()
        };
        terminal(&report, &Layout::default())
    };
    insta::assert_snapshot!(shown("open:AA"));
    assert_eq!(shown("getpid-of-nobody"), "");
}
