// SPDX-License-Identifier: GPL-2.0-or-later
//! Folded stacks, the input of flame graph programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use counts::calltree::CallTree;

use crate::text::printable;

/// In characters: the kernel's KSYM_NAME_LEN.
pub(crate) const SYMBOL_LIMIT: usize = 512;

/// Writes a line per chain of calls with instructions of its own, outermost function first:
/// `open:AA;entry_SYSCALL_64;do_syscall_64 12`. The operation's title is the root. Lines are
/// sorted; equal chains of operations with the same title are merged. The numbers add up to the
/// trees' totals.
pub fn folded(operations: &[(String, &CallTree)], mut writer: impl Write) -> io::Result<()> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (title, tree) in operations {
        let names = tree.nodes().iter().enumerate();
        let names: Vec<String> = names
            .map(|(at, node)| frame(if at == 0 { title } else { &node.function }))
            .collect();
        for (at, node) in tree.nodes().iter().enumerate() {
            if node.instructions == 0 {
                continue;
            }
            let below = (at != 0).then_some(at);
            let chain = [0].into_iter().chain(tree.callers(at)).chain(below);
            let chain: Vec<&str> = chain.map(|at| names[at].as_str()).collect();
            let sum = lines.entry(chain.join(";")).or_default();
            *sum = sum.saturating_add(node.instructions);
        }
    }
    for (line, instructions) in lines {
        writeln!(writer, "{line} {instructions}")?;
    }
    writer.flush()
}

fn frame(name: &str) -> String {
    let separates = |c: char| c == ';' || c.is_whitespace();
    let name = printable(name, SYMBOL_LIMIT).replace(separates, "_");
    if name.is_empty() {
        "?".to_owned()
    } else {
        name
    }
}
