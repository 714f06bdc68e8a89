// SPDX-License-Identifier: GPL-2.0-or-later
//! Call trees in callgrind's format, version 1 (Valgrind manual, "Callgrind Format
//! Specification"), and as folded stacks, the input of flame graph programs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::ops::AddAssign;

use counts::calltree::CallTree;
use model::{Events, Metric};

use crate::text::printable;

/// Writes the operations as one callgrind profile, which `callgrind_annotate` and KCachegrind read.
/// Each operation is a function without callers, named by its title; operations with the same title
/// become one function.
///
/// Callgrind has a call graph, not a tree: a function appears once for all its callers. A call line
/// has the inclusive cost. Calls of a function that is already running (recursion, cycles) are
/// counted with cost 0, because the outer call includes them. Thus each instruction is counted once
/// in a function's calls.
///
/// A function that was reached by a jump instead of a call is written as one call. Otherwise
/// readers would add its cost to the caller's own.
pub fn callgrind(
    operations: &[(String, &CallTree)],
    metric: Metric,
    command: &str,
    mut writer: impl Write,
) -> io::Result<()> {
    let graph = Graph::new(operations);
    let mut total = Cost::default();
    for function in &graph.functions {
        total += function.own;
    }
    let total = graph.line(total);
    let command = name(command);
    let (event, what) = match metric.is_of_transfers() {
        true => ("Transfers", "transfers between processors"),
        false => ("Instructions", "guest kernel instructions"),
    };
    write!(
        writer,
        "# callgrind format\nversion: 1\ncreator: lsmeter\ncmd: {command}\n\
         desc: Unit: {what} per operation\npositions: line\n\
         event: {event} : {what}\n"
    )?;
    let mut events = format!("events: {event}");
    if graph.with_events {
        for kind in Events::KINDS {
            writeln!(writer, "event: {} : {}", kind.name, kind.title)?;
            events += &format!(" {}", kind.name);
        }
    }
    writeln!(writer, "{events}\nsummary: {total}")?;
    let mut named = HashSet::new();
    let mut file = "fl=(1) ???\n";
    for (id, function) in graph.functions.iter().enumerate() {
        let (name, own) = (graph.reference(id, &mut named), graph.line(function.own));
        writeln!(writer, "\n{file}fn={name}\n0 {own}")?;
        file = "fl=(1)\n";
        for &(callee, ref edge) in &function.calls {
            let (name, calls) = (graph.reference(callee, &mut named), edge.calls.max(1));
            let inclusive = graph.line(edge.inclusive);
            writeln!(writer, "cfn={name}\ncalls={calls} 0\n0 {inclusive}")?;
        }
    }
    writeln!(writer, "\ntotals: {total}")?;
    writer.flush()
}

fn name(name: &str) -> String {
    let name = printable(name, SYMBOL_LIMIT);
    match name.trim() {
        "" => "?".to_owned(),
        name => name.to_owned(),
    }
}

#[derive(Default)]
struct Edge {
    calls: u64,
    inclusive: Cost,
}

#[derive(Clone, Copy, Default)]
struct Cost {
    instructions: u64,
    events: Events,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.events += other.events;
    }
}

struct Function {
    name: String,
    own: Cost,
    calls: Vec<(usize, Edge)>,
}

#[derive(Default)]
struct Graph {
    functions: Vec<Function>,
    by_name: HashMap<String, usize>,
    edges: HashMap<(usize, usize), usize>,
    with_events: bool,
}

impl Graph {
    fn new(operations: &[(String, &CallTree)]) -> Graph {
        let nodes = operations.iter().flat_map(|(_, tree)| &tree.nodes()[1..]);
        let symbols: HashSet<String> = nodes.map(|node| name(&node.function)).collect();
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
                own: Cost::default(),
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
        let (inclusive, events) = (tree.inclusive(), tree.inclusive_events());
        self.with_events |= events.is_some();
        let inclusive = |at: usize| Cost {
            instructions: inclusive[at],
            events: events.as_ref().map(|events| events[at]).unwrap_or_default(),
        };
        let running = |at| {
            tree.callers(at)
                .iter()
                .any(|caller| ids[*caller] == ids[at])
        };
        for (at, node) in nodes.iter().enumerate() {
            self.functions[ids[at]].own += Cost {
                instructions: node.instructions,
                events: node.events.as_deref().copied().unwrap_or_default(),
            };
            if at == 0 {
                continue;
            }
            let edge = self.edge(ids[node.parent], ids[at]);
            edge.calls = edge.calls.saturating_add(node.calls);
            if !running(at) {
                edge.inclusive += inclusive(at);
            }
        }
    }

    fn line(&self, cost: Cost) -> String {
        let mut line = cost.instructions.to_string();
        for kind in Events::KINDS.iter().filter(|_| self.with_events) {
            line += &format!(" {}", (kind.count)(&cost.events));
        }
        line
    }

    fn reference(&self, id: usize, named: &mut HashSet<usize>) -> String {
        match named.insert(id) {
            true => format!("({}) {}", id + 1, self.functions[id].name),
            false => format!("({})", id + 1),
        }
    }
}

/// In characters: the kernel's KSYM_NAME_LEN.
const SYMBOL_LIMIT: usize = 512;

/// Writes a line for each call chain that has instructions of its own, outermost function first:
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
    match printable(name, SYMBOL_LIMIT).replace(separates, "_") {
        name if name.is_empty() => "?".to_owned(),
        name => name,
    }
}
