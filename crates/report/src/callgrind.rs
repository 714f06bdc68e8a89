// SPDX-License-Identifier: GPL-2.0-or-later
//! Call trees in callgrind's format, version 1 (Valgrind manual, "Callgrind Format
//! Specification").

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use instructions::calltree::CallTree;

use crate::folded::SYMBOL_LIMIT;
use crate::group::sum;
use crate::text::printable;

/// Writes the operations as one callgrind profile, which `callgrind_annotate` and
/// KCachegrind read. Each operation is a function without callers, by its title;
/// operations with the same title are one. `command` is what the profile says it is of.
///
/// Callgrind knows a graph of functions, not a tree: whatever called it, a function is
/// one. Its own instructions are summed up, and sum up to the trees' totals. What a
/// caller's line says of a callee is the inclusive cost of those calls; calls of a
/// function that is already running (recursion, cycles) are counted there, but with no
/// cost, for the outer call has it. So the costs of the calls of a function sum up to
/// the instructions between its entry and its return, each once.
///
/// A call that was never counted as one (a function that was jumped to) is written as
/// one call: readers take a call's cost for the caller's own otherwise.
///
/// # Errors
/// When the writer fails. Flushes at the end.
pub fn callgrind(
    operations: &[(String, &CallTree)],
    command: &str,
    mut writer: impl Write,
) -> io::Result<()> {
    let graph = Graph::of(operations);
    let total = sum(graph.functions.iter().map(|function| function.own));
    let command = name(command);
    writeln!(writer, "# callgrind format")?;
    writeln!(writer, "version: 1")?;
    writeln!(writer, "creator: lsmeter")?;
    writeln!(writer, "cmd: {command}")?;
    writeln!(
        writer,
        "desc: Unit: guest kernel instructions per operation"
    )?;
    writeln!(writer, "positions: line")?;
    writeln!(writer, "event: Instructions : Guest kernel instructions")?;
    writeln!(writer, "events: Instructions")?;
    writeln!(writer, "summary: {total}")?;
    let mut named = HashSet::new();
    let mut file = "fl=(1) ???\n";
    for (id, function) in graph.functions.iter().enumerate() {
        writeln!(writer)?;
        write!(writer, "{file}")?;
        file = "fl=(1)\n";
        writeln!(writer, "fn={}", graph.reference(id, &mut named))?;
        writeln!(writer, "0 {}", function.own)?;
        for &(callee, ref edge) in &function.calls {
            writeln!(writer, "cfn={}", graph.reference(callee, &mut named))?;
            writeln!(writer, "calls={} 0", edge.calls.max(1))?;
            writeln!(writer, "0 {}", edge.inclusive)?;
        }
    }
    writeln!(writer)?;
    writeln!(writer, "totals: {total}")?;
    writer.flush()
}

/// A name in one line that is not taken for a reference to another.
fn name(name: &str) -> String {
    let name = printable(name, SYMBOL_LIMIT);
    match name.trim() {
        "" => "?".to_owned(),
        name => name.to_owned(),
    }
}

/// Calls of one function by another.
#[derive(Default)]
struct Edge {
    calls: u64,
    inclusive: u64,
}

struct Function {
    name: String,
    own: u64,
    /// What it calls, in the order in which it first did.
    calls: Vec<(usize, Edge)>,
}

#[derive(Default)]
struct Graph {
    functions: Vec<Function>,
    by_name: HashMap<String, usize>,
    /// Where a caller's list has a callee.
    edges: HashMap<(usize, usize), usize>,
}

impl Graph {
    fn of(operations: &[(String, &CallTree)]) -> Graph {
        let symbols: HashSet<String> = operations
            .iter()
            .flat_map(|(_, tree)| tree.nodes().iter().skip(1))
            .map(|node| name(&node.function))
            .collect();
        let mut graph = Graph::default();
        for (title, tree) in operations {
            let mut title = name(title);
            while symbols.contains(&title) {
                title += " (operation)";
            }
            graph.add(title, tree);
        }
        graph
    }

    fn function(&mut self, name: String) -> usize {
        let next = self.functions.len();
        let id = *self.by_name.entry(name.clone()).or_insert(next);
        if id == next {
            self.functions.push(Function {
                name,
                own: 0,
                calls: Vec::new(),
            });
        }
        id
    }

    fn edge(&mut self, caller: usize, callee: usize) -> &mut Edge {
        let calls = &mut self.functions[caller].calls;
        let at = *self.edges.entry((caller, callee)).or_insert(calls.len());
        if at == calls.len() {
            calls.push((callee, Edge::default()));
        }
        &mut calls[at].1
    }

    fn add(&mut self, title: String, tree: &CallTree) {
        let nodes = tree.nodes();
        let mut ids = vec![self.function(title)];
        for node in &nodes[1..] {
            ids.push(self.function(name(&node.function)));
        }
        let inclusive = tree.inclusive();
        let running = |at| {
            tree.callers(at)
                .iter()
                .any(|&caller| ids[caller] == ids[at])
        };
        for (at, node) in nodes.iter().enumerate() {
            let own = &mut self.functions[ids[at]].own;
            *own = own.saturating_add(node.instructions);
            if at == 0 {
                continue;
            }
            let edge = self.edge(ids[node.parent], ids[at]);
            edge.calls = edge.calls.saturating_add(node.calls);
            if !running(at) {
                edge.inclusive = edge.inclusive.saturating_add(inclusive[at]);
            }
        }
    }

    /// How a function is written: with its name only the first time.
    fn reference(&self, id: usize, named: &mut HashSet<usize>) -> String {
        if named.insert(id) {
            format!("({}) {}", id + 1, self.functions[id].name)
        } else {
            format!("({})", id + 1)
        }
    }
}
