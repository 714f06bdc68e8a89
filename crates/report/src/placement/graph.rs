// SPDX-License-Identifier: GPL-2.0-or-later
//! The call strings of nominal paths, drawn: DOT for graphviz, Mermaid for Markdown.

use std::fmt::Write as _;

use model::PlacementDocument;
use model::placement::{SyscallPlacement, TraceEntry};

use super::trace::{remark, repeated};
use super::{names, title};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// Most nodes of a drawing; nobody can read a larger one.
const NODES_MAX: usize = 4_000;

/// A function of a call string, or a hook at the end of one.
struct Node {
    /// Who calls it; None for the system call.
    parent: Option<usize>,
    /// What it is: a function's name, or the lines of a hook's box.
    lines: Vec<String>,
    hook: bool,
}

/// The call strings of a system call as a tree: what two strings begin with is one.
struct Strings {
    title: String,
    nodes: Vec<Node>,
    cut: bool,
}

impl Strings {
    fn of(document: &PlacementDocument, call: &SyscallPlacement) -> Strings {
        let mut strings = Strings {
            title: title(document, call),
            nodes: Vec::new(),
            cut: false,
        };
        let mut known = std::collections::HashMap::new();
        for (number, entry) in (1u64..).zip(&call.trace) {
            let mut at = None;
            for function in &entry.calls {
                at = match known.get(&(at, function.as_str())) {
                    Some(&node) => Some(node),
                    None => {
                        let line = printable(function, TEXT_LIMIT);
                        let Some(node) = strings.add(at, vec![line], false) else {
                            break;
                        };
                        known.insert((at, function.as_str()), node);
                        Some(node)
                    }
                };
            }
            let modules = call.hooks.iter().find(|hook| hook.hook == entry.hook);
            let modules = modules.map_or(&[][..], |hook| hook.modules.as_slice());
            strings.add(at, hook_lines(number, entry, modules), true);
        }
        strings
    }

    fn add(&mut self, parent: Option<usize>, lines: Vec<String>, hook: bool) -> Option<usize> {
        if self.nodes.len() >= NODES_MAX {
            self.cut = true;
            return None;
        }
        self.nodes.push(Node {
            parent,
            lines,
            hook,
        });
        Some(self.nodes.len() - 1)
    }

    /// The title, with what is missing.
    fn heading(&self) -> String {
        if self.cut {
            format!("{} (the first {NODES_MAX} boxes)", self.title)
        } else {
            self.title.clone()
        }
    }
}

fn hook_lines(number: u64, entry: &TraceEntry, modules: &[String]) -> Vec<String> {
    let hook = printable(&entry.hook, TEXT_LIMIT);
    let call = format!("{number}: {hook} {}", repeated(entry.times));
    let mut lines = vec![
        call.trim_end().to_owned(),
        remark(entry),
        names(modules).text(),
    ];
    lines.retain(|line| !line.is_empty());
    lines
}

/// The hooks of each system call's nominal path and the functions that lead to them, in the
/// language of graphviz: a cluster for each. Hooks are numbered in the order of their calls.
pub fn dot(document: &PlacementDocument) -> String {
    let mut out = String::from(
        "digraph placement {\n\trankdir=LR;\n\tnode [shape=plaintext, fontname=\"monospace\"];\n",
    );
    for (graph, call) in document.syscalls.iter().enumerate() {
        let strings = Strings::of(document, call);
        let _ = writeln!(out, "\tsubgraph cluster_{graph} {{");
        let _ = writeln!(out, "\t\tlabel={};", dot_text(&[strings.heading()]));
        for (id, node) in strings.nodes.iter().enumerate() {
            let shape = if node.hook { ", shape=box" } else { "" };
            let _ = writeln!(
                out,
                "\t\tn{graph}_{id} [label={}{shape}];",
                dot_text(&node.lines)
            );
        }
        for (id, node) in strings.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                let _ = writeln!(out, "\t\tn{graph}_{parent} -> n{graph}_{id};");
            }
        }
        out.push_str("\t}\n");
    }
    out.push_str("}\n");
    out
}

/// A quoted string, in which only quotes and backslashes mean anything.
fn dot_text(lines: &[String]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.replace('\\', "\\\\").replace('"', "\\\""))
        .collect();
    // Graphviz reads entities of HTML in labels.
    format!(
        "\"{}\"",
        lines.join("\n").replace('&', "&amp;").replace('\n', "\\n")
    )
}

/// As [`dot`], in the language of Mermaid, which Markdown on many sites draws.
pub fn mermaid(document: &PlacementDocument) -> String {
    let mut out = String::from("flowchart LR\n");
    for (graph, call) in document.syscalls.iter().enumerate() {
        let strings = Strings::of(document, call);
        let heading = mermaid_text(&[strings.heading()]);
        let _ = writeln!(out, "  subgraph g{graph}[{heading}]");
        for (id, node) in strings.nodes.iter().enumerate() {
            let text = mermaid_text(&node.lines);
            let (open, close) = if node.hook { ("[", "]") } else { ("(", ")") };
            let _ = writeln!(out, "    n{graph}_{id}{open}{text}{close}");
        }
        for (id, node) in strings.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                let _ = writeln!(out, "    n{graph}_{parent} --> n{graph}_{id}");
            }
        }
        out.push_str("  end\n");
    }
    out
}

/// A quoted string in which all that could mean something is written as its number.
fn mermaid_text(lines: &[String]) -> String {
    let mut out = String::from("\"");
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            out.push_str("<br/>");
        }
        for c in line.chars() {
            if c.is_alphanumeric() || " _.,:/()+-×@".contains(c) {
                out.push(c);
            } else {
                let _ = write!(out, "#{};", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}
