// SPDX-License-Identifier: GPL-2.0-or-later
//! The calls of one operation as a tree: which functions were called, from where, how often, and
//! with how many instructions.

use std::collections::HashMap;
use std::ops::AddAssign;

use model::{Events, IrqsOff, PathCall, PathTree};

/// Each distinct chain of callers is a separate node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    /// Nodes of hook calls, in call order.
    pub sequence: Vec<usize>,
    /// The longest stretch without interrupts, if events were counted.
    pub irqs_off: Option<IrqsOff>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallNode {
    pub function: String,
    /// Index of the caller, which is smaller than the node's own. The root is its own parent.
    pub parent: usize,
    pub calls: u64,
    /// The function's own instructions, without those of the functions that it called.
    pub instructions: u64,
    /// Present if events were counted; boxed, because few trees have events.
    pub events: Option<Box<Events>>,
}

impl CallNode {
    pub fn did(&mut self, events: Events) {
        **self.events.get_or_insert_default() += events;
    }
}

impl Default for CallTree {
    fn default() -> CallTree {
        CallTree {
            nodes: vec![CallNode::default()],
            sequence: Vec::new(),
            irqs_off: None,
        }
    }
}

impl CallTree {
    /// Callers come before callees; the root is the first.
    pub fn nodes(&self) -> &[CallNode] {
        &self.nodes
    }

    /// Adds a function without calls and instructions; returns its index.
    ///
    /// # Panics
    /// If `parent` is out of range.
    pub fn add(&mut self, parent: usize, function: &str) -> usize {
        assert!(parent < self.nodes.len(), "no node {parent}");
        self.nodes.push(CallNode {
            function: function.to_owned(),
            parent,
            ..CallNode::default()
        });
        self.nodes.len() - 1
    }

    pub fn node_mut(&mut self, node: usize) -> Option<&mut CallNode> {
        self.nodes.get_mut(node)
    }

    pub fn inclusive(&self) -> Vec<u64> {
        self.sums(|node| node.instructions)
    }

    /// Events by node index; None if events were not counted.
    pub fn inclusive_events(&self) -> Option<Vec<Events>> {
        self.nodes.iter().find(|node| node.events.is_some())?;
        Some(self.sums(|node| node.events.as_deref().copied().unwrap_or_default()))
    }

    fn sums<T: Copy + AddAssign>(&self, own: impl Fn(&CallNode) -> T) -> Vec<T> {
        let mut sums: Vec<T> = self.nodes.iter().map(own).collect();
        for at in (1..self.nodes.len()).rev() {
            let sum = sums[at];
            sums[self.nodes[at].parent] += sum;
        }
        sums
    }

    /// None if events were not counted.
    pub fn total_events(&self) -> Option<Events> {
        self.inclusive_events().map(|sums| sums[0])
    }

    pub fn total(&self) -> u64 {
        self.nodes.iter().map(|node| node.instructions).sum()
    }

    /// Adds another tree's calls and instructions, `times` times. Keeps the order of hook calls,
    /// unless this tree had none.
    pub fn merge(&mut self, other: &CallTree, times: u64) {
        let mut children: HashMap<(usize, String), usize> = HashMap::new();
        for (at, node) in self.nodes.iter().enumerate().skip(1) {
            children.insert((node.parent, node.function.clone()), at);
        }
        let mut here = vec![0; other.nodes.len()];
        for (at, node) in other.nodes.iter().enumerate() {
            if at > 0 {
                let child = children.entry((here[node.parent], node.function.clone()));
                here[at] =
                    *child.or_insert_with_key(|(parent, function)| self.add(*parent, function));
            }
            let sum = &mut self.nodes[here[at]];
            sum.calls += node.calls * times;
            sum.instructions += node.instructions * times;
            if let Some(events) = node.events.as_deref() {
                sum.did(*events * times);
            }
        }
        let length = |irqs_off: &Option<IrqsOff>| irqs_off.as_ref().map(|off| off.instructions);
        if length(&other.irqs_off) > length(&self.irqs_off) {
            self.irqs_off.clone_from(&other.irqs_off);
        }
        if self.sequence.is_empty() {
            self.sequence = other.sequence.iter().map(|&at| here[at]).collect();
        }
    }

    /// Adds another tree below `parent`, as calls of `function`.
    ///
    /// # Panics
    /// If `parent` is out of range.
    pub fn graft(&mut self, parent: usize, function: &str, calls: u64, other: &CallTree) {
        let mut here = Vec::with_capacity(other.nodes.len());
        for (at, node) in other.nodes.iter().enumerate() {
            let position = match at {
                0 => self.add(parent, function),
                _ => self.add(here[node.parent], &node.function),
            };
            let copy = &mut self.nodes[position];
            copy.calls = if at == 0 { calls } else { node.calls };
            copy.instructions = node.instructions;
            copy.events.clone_from(&node.events);
            here.push(position);
        }
    }

    /// The callers, outermost first, without the root and the node itself.
    pub fn callers(&self, node: usize) -> Vec<usize> {
        let mut chain = Vec::new();
        let mut at = self.nodes[node].parent;
        while at != 0 {
            chain.push(at);
            at = self.nodes[at].parent;
        }
        chain.reverse();
        chain
    }
}

/// The tree for result files, without events; None if it has too many nodes.
pub fn kept(tree: &CallTree) -> Option<PathTree> {
    if tree.nodes.len() > PathTree::NODES_LIMIT {
        return None;
    }
    let mut functions: Vec<String> = Vec::new();
    let mut places: HashMap<&str, u32> = HashMap::new();
    let mut place = |name| {
        *places.entry(name).or_insert_with(|| {
            functions.push(String::from(name));
            functions.len() as u32 - 1
        })
    };
    let nodes = tree.nodes.iter().enumerate().map(|(at, node)| PathCall {
        caller: node.parent as u32,
        function: if at == 0 { 0 } else { place(&node.function) },
        calls: node.calls,
        instructions: node.instructions,
    });
    let nodes = nodes.collect();
    let hooks = tree.sequence.iter().take(PathTree::HOOKS_LIMIT);
    Some(PathTree {
        nodes,
        hooks: hooks.map(|&at| at as u32).collect(),
        functions,
    })
}

impl From<&PathTree> for CallTree {
    fn from(kept: &PathTree) -> CallTree {
        let mut tree = CallTree::default();
        for (at, node) in kept.nodes.iter().enumerate() {
            if at > 0 {
                tree.add(node.caller as usize, kept.function(node));
            }
            tree.nodes[at].calls = node.calls;
            tree.nodes[at].instructions = node.instructions;
        }
        tree.sequence = kept.hooks.iter().map(|&at| at as usize).collect();
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_kept_whole_or_not_at_all() {
        let mut whole = CallTree::default();
        for (parent, function) in [(0, "open"), (1, "hook"), (0, "close"), (3, "hook")] {
            let node = whole.add(parent, function);
            whole.nodes[node].calls = 1;
            whole.nodes[node].instructions = 1;
        }
        whole.sequence = vec![2, 4];
        let document = kept(&whole).unwrap();
        assert_eq!(document.functions, ["open", "hook", "close"]);
        assert_eq!(CallTree::from(&document), whole);

        let mut large = CallTree::default();
        for _ in 0..PathTree::NODES_LIMIT {
            large.add(0, "open");
        }
        assert_eq!(kept(&large), None);
    }
}
