// SPDX-License-Identifier: GPL-2.0-or-later

mod builder;
mod built_in;
mod kernels;
mod lists;
mod random;
mod trees;

use super::{Framework, HookList};
use crate::calltree::CallTree;
use builder::symbols;

/// A framework with these hooks, each with a function `security_<hook>`, and with these
/// other functions.
fn framework(hooks: &[&str], others: &[&str]) -> Framework {
    let text: String = hooks
        .iter()
        .map(|hook| format!("LSM_HOOK(int, 0, {hook}, void)\n"))
        .collect();
    let list = HookList::from_definitions(&text).expect("definitions");
    let names: Vec<String> = hooks
        .iter()
        .map(|hook| format!("security_{hook}"))
        .chain(others.iter().map(|&name| name.to_owned()))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Framework::new(&list, &symbols(&names))
}

/// A tree of `(depth, function, calls, instructions)`, in the order of calls: depth 1 is
/// below the root.
fn tree(nodes: &[(usize, &str, u64, u64)]) -> CallTree {
    let mut tree = CallTree::default();
    let mut chain = vec![0];
    for &(depth, function, calls, instructions) in nodes {
        chain.truncate(depth);
        let at = tree.add(chain[depth - 1], function);
        let node = tree.node_mut(at).expect("the new node");
        node.calls = calls;
        node.instructions = instructions;
        chain.push(at);
    }
    tree
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
