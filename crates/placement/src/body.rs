// SPDX-License-Identifier: GPL-2.0-or-later
//! A function as a graph of calls and decisions, in execution order.

use serde::{Deserialize, Serialize};

pub(crate) type NodeId = u32;

/// The node at which a function ends.
pub(crate) const EXIT: NodeId = 0;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Callee {
    Name(Box<str>),
    /// A member that holds a function: `file->f_op->read` is `read` of `f_op`.
    Member {
        member: Box<str>,
        /// The member or variable before it: `f_op`, or empty.
        owner: Box<str>,
    },
}

impl Callee {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Member { member, .. } => member,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Hint {
    Yes,
    No,
    Open,
}

impl Hint {
    pub(crate) fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Open => Self::Open,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Node {
    Exit,
    /// `passed`: arguments that may be functions. `arguments`: their text, empty for long ones.
    Call {
        callee: Callee,
        passed: Box<[Box<str>]>,
        arguments: Box<[Box<str>]>,
        /// Counted from the function's first line, which is 0.
        line: u32,
        next: NodeId,
    },
    /// A condition without `!`, `&&` and `||`, which are edges.
    Branch {
        text: Box<str>,
        hint: Hint,
        repeats: bool,
        /// The function pointer, if it only tests one.
        tests: Option<Callee>,
        yes: NodeId,
        no: NodeId,
    },
    /// The text of each `case`, and its successor.
    Switch {
        text: Box<str>,
        arms: Box<[(Box<str>, NodeId)]>,
        other: NodeId,
    },
    /// A label (`retry:`) or a loop's head (`while (x)`, `for (;;)`) with the loop's successor.
    Head {
        text: Box<str>,
        line: u32,
        next: NodeId,
        exit: Option<NodeId>,
    },
}

impl Node {
    /// Counted from the function's first line; only calls, labels and loops have a line.
    pub(crate) fn line(&self) -> u32 {
        match self {
            Node::Call { line, .. } | Node::Head { line, .. } => *line,
            Node::Exit | Node::Branch { .. } | Node::Switch { .. } => 0,
        }
    }

    /// The condition, label, head or called name, which facts refer to.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Node::Exit => None,
            Node::Call { callee, .. } => Some(callee.name()),
            Node::Branch { text, .. } | Node::Switch { text, .. } | Node::Head { text, .. } => {
                Some(text)
            }
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    /// [`EXIT`] is the first.
    pub(crate) nodes: Vec<Node>,
    pub(crate) entry: NodeId,
    /// (name, struct) of variables and parameters that are structs or pointers to them.
    pub(crate) variables: Vec<(Box<str>, Box<str>)>,
    pub(crate) parameters: Vec<Box<str>>,
    /// (variable, value); the value is empty if it is long or assigned through a pointer.
    pub(crate) assigned: Vec<(Box<str>, Box<str>)>,
    /// The reason why parsing failed in part, or empty.
    pub(crate) fault: Box<str>,
}

impl Body {
    pub(crate) fn with_fault(fault: &str) -> Self {
        Self {
            nodes: vec![Node::Exit],
            entry: EXIT,
            fault: fault.into(),
            ..Self::default()
        }
    }

    /// True for an empty list.
    pub(crate) fn has_any(&self, codes: &[String]) -> bool {
        let codes: Vec<String> = codes.iter().map(|code| squeeze(code)).collect();
        let mut texts = self.nodes.iter().filter_map(Node::text);
        codes.is_empty() || texts.any(|text| codes.contains(&squeeze(text)))
    }
}

/// The text without blanks, for comparison with facts.
pub(crate) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
