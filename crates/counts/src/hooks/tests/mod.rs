// SPDX-License-Identifier: GPL-2.0-or-later

mod framework;
mod random;
mod trees;

use super::Framework;
use crate::calltree::CallTree;
use kernels::hooks::HookList;
use kernels::symbols::SymbolTable;

/// A name that begins with `=` is data.
fn symbols(names: &[&str]) -> SymbolTable {
    let symbols = names.iter().chain(&["_end"]).enumerate();
    let map: String = symbols
        .map(|(at, name)| match name.strip_prefix('=') {
            Some(data) => format!("{:x} D {data}\n", 0x1000 + 16 * at),
            None => format!("{:x} T {name}\n", 0x1000 + 16 * at),
        })
        .collect();
    SymbolTable::from_map(kernels::arch::native(), &map).expect("symbols")
}

fn list(hooks: &[&str]) -> HookList {
    let entries = hooks
        .iter()
        .map(|hook| format!("LSM_HOOK(int, 0, {hook}, void)\n"));
    HookList::from_definitions(&entries.collect::<String>()).expect("definitions")
}

/// Each hook has a function `security_<hook>`.
fn framework(hooks: &[&str], others: &[&str]) -> Framework {
    let names: Vec<String> = hooks
        .iter()
        .map(|hook| format!("security_{hook}"))
        .chain(others.iter().map(|&name| name.to_owned()))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Framework::new(&list(hooks), &symbols(&names))
}

/// `(depth, function, calls, instructions)` in call order; depth 1 is below the root.
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

/// Like [`tree`], but from text.
fn tree_of(nodes: &str) -> CallTree {
    let node = |node| match str::split_whitespace(node).collect::<Vec<_>>()[..] {
        [depth, function, calls, instructions] => {
            let number = |text: &str| text.parse::<u64>().expect("a number");
            (
                number(depth) as usize,
                function,
                number(calls),
                number(instructions),
            )
        }
        _ => panic!("{node}"),
    };
    tree(&nodes.split(';').map(node).collect::<Vec<_>>())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
