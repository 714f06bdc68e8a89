// SPDX-License-Identifier: GPL-2.0-or-later
//! The order in which an operation called LSM hooks, and from where.

use std::collections::HashSet;

use counts::calltree::CallTree;

use crate::format::count;
use crate::text::printable;

/// In columns; such lines fit into an e-mail.
const WIDTH: usize = 100;
const HOOK_WIDTH: usize = 44;
const NAME_LIMIT: usize = 60;
const INDENT_LEVELS: usize = 6;
/// The hooks of one operation in call order, in lines of at most 100 columns: the call's number,
/// the hook, and its callers from the system call's function inwards. A hook called inside another
/// one is indented below it. Several equal calls in a row become one line with `×n` and the number
/// of the first.
///
/// `hook_of` maps a function to its hook: `security_inode_permission` to `inode_permission`. Other
/// functions keep their name.
pub fn hook_trace(
    title: &str,
    tree: &CallTree,
    hook_of: &dyn Fn(&str) -> Option<String>,
) -> String {
    let calls = calls(tree, hook_of);
    let n = tree.sequence.len();
    let distinct: HashSet<&str> = calls.iter().map(|call| call.hook.as_str()).collect();
    let plural = if distinct.len() == 1 { "" } else { "s" };
    let summary = match n {
        0 => "no hook is called".to_owned(),
        1 => "1 hook call".to_owned(),
        n => format!(
            "{} hook calls of {} hook{plural}",
            count(n as u64),
            distinct.len()
        ),
    };
    let mut out = format!("{}: {summary}\n", printable(title, NAME_LIMIT));
    let labels: Vec<String> = calls.iter().map(Call::label).collect();
    let number_width = calls.last().map_or(1, |call| call.number.to_string().len());
    let widths = labels.iter().map(|label| label.chars().count());
    let hook_width = widths.filter(|width| *width <= HOOK_WIDTH).max();
    let hook_width = hook_width.unwrap_or(HOOK_WIDTH);
    let indent = number_width + 2 + hook_width + 2;
    for (call, label) in calls.iter().zip(&labels) {
        out += &format!("{:>number_width$}  {label}", call.number);
        let mut used = number_width + 2 + label.chars().count();
        let room = WIDTH - indent;
        for (at, function) in call.chain.iter().enumerate() {
            let last = at + 1 == call.chain.len();
            let word = printable(function, room - 2) + if last { "" } else { " >" };
            let gap = if at == 0 {
                indent.saturating_sub(used)
            } else {
                1
            };
            let width = word.chars().count();
            if used + gap + width > WIDTH || gap == 0 {
                out.push('\n');
                out += &" ".repeat(indent);
                used = indent;
            } else {
                out += &" ".repeat(gap);
                used += gap;
            }
            out += &word;
            used += width;
        }
        out.push('\n');
    }
    out
}

#[derive(PartialEq, Eq)]
pub(crate) struct Call {
    number: usize,
    pub(crate) times: usize,
    pub(crate) depth: usize,
    pub(crate) hook: String,
    pub(crate) chain: Vec<String>,
}

impl Call {
    fn label(&self) -> String {
        let mut label = "  ".repeat(self.depth.min(INDENT_LEVELS));
        label += &self.hook;
        if self.times > 1 {
            label += &format!(" ×{}", self.times);
        }
        label
    }
}

/// Hook calls in order; equal calls in a row are merged.
pub(crate) fn calls(tree: &CallTree, hook_of: &dyn Fn(&str) -> Option<String>) -> Vec<Call> {
    let nodes = tree.nodes();
    let hooks: HashSet<usize> = tree.sequence.iter().copied().collect();
    let mut calls: Vec<Call> = Vec::new();
    for (at, &node) in tree.sequence.iter().enumerate() {
        let Some(function) = nodes.get(node).map(|node| node.function.as_str()) else {
            continue;
        };
        let callers = tree.callers(node);
        let depth = callers.iter().filter(|at| hooks.contains(at)).count();
        let start = match callers.iter().rposition(|at| hooks.contains(at)) {
            Some(outer) => outer + 1,
            None => {
                let is_entry = |at: &&usize| kernels::arch::is_syscall_path(&nodes[**at].function);
                callers.iter().take_while(is_entry).count()
            }
        };
        let chain = callers[start..]
            .iter()
            .map(|at| nodes[*at].function.to_string());
        let chain: Vec<String> = chain.collect();
        let hook = hook_of(function).unwrap_or_else(|| function.to_owned());
        let hook = printable(&hook, NAME_LIMIT);
        match calls.last_mut() {
            Some(last) if last.depth == depth && last.hook == hook && last.chain == chain => {
                last.times += 1;
            }
            _ => calls.push(Call {
                number: at + 1,
                times: 1,
                depth,
                hook,
                chain,
            }),
        }
    }
    calls
}
