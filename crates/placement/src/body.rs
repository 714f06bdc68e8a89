// SPDX-License-Identifier: GPL-2.0-or-later
//! A function as the graph of its calls and decisions, in the order of execution.

use serde::{Deserialize, Serialize};

/// A node of a [`Body`]: an index of [`Body::nodes`].
pub(crate) type NodeId = u32;

/// The node at which a function ends.
pub(crate) const EXIT: NodeId = 0;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Callee {
    /// A function or macro, or a variable of that name.
    Name(Box<str>),
    /// A member that holds a function: `file->f_op->read` is `read` of `f_op`.
    Member {
        /// `read`.
        member: Box<str>,
        /// The member or variable before it: `f_op`. Empty if it is neither.
        of: Box<str>,
    },
}

impl Callee {
    /// The function, macro, variable or member that is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Member { member, .. } => member,
        }
    }
}

/// What the code itself says about a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Hint {
    /// `likely()`, or a test that a call succeeded.
    Yes,
    /// `unlikely()`, a test for failure, or of what ends with an error.
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
    /// A call, the names among its arguments that may be functions, and the text of each
    /// argument; empty for one that is long.
    Call {
        callee: Callee,
        passed: Box<[Box<str>]>,
        arguments: Box<[Box<str>]>,
        /// From the first line of the function, which is 0.
        line: u32,
        next: NodeId,
    },
    /// A condition without `!`, `&&` and `||`, which are edges.
    Branch {
        text: Box<str>,
        hint: Hint,
        /// Does it decide whether a loop goes on?
        repeats: bool,
        /// The pointer to a function that it tests, if that is all it does.
        tests: Option<Callee>,
        yes: NodeId,
        no: NodeId,
    },
    /// A `switch`: the text behind each `case`, and where it goes on.
    Switch {
        text: Box<str>,
        arms: Box<[(Box<str>, NodeId)]>,
        other: NodeId,
    },
    /// A label (`retry:`), or the head of a loop (`while (x)`, `for (;;)`) with what comes
    /// behind the loop.
    Head {
        text: Box<str>,
        line: u32,
        next: NodeId,
        exit: Option<NodeId>,
    },
}

impl Node {
    /// Its line, from the first of the function, if it is a call, a label or a loop.
    pub(crate) fn line(&self) -> u32 {
        match self {
            Node::Call { line, .. } | Node::Head { line, .. } => *line,
            Node::Exit | Node::Branch { .. } | Node::Switch { .. } => 0,
        }
    }

    /// What facts know it by: its condition, label, head, or the name that is called.
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

/// A function after parsing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    /// [`EXIT`] is the first.
    pub(crate) nodes: Vec<Node>,
    pub(crate) entry: NodeId,
    /// Variables and parameters that are structs or point to some.
    pub(crate) variables: Vec<(Box<str>, Box<str>)>,
    /// Names of the parameters in order, as far as they were understood.
    pub(crate) parameters: Vec<Box<str>>,
    /// Variables that are assigned, and what; empty if that is long, or done by a function
    /// that is given the variable's place.
    pub(crate) assigned: Vec<(Box<str>, Box<str>)>,
    /// Why it was not understood in full; empty if it was.
    pub(crate) fault: Box<str>,
}

impl Body {
    /// A function without any code.
    pub(crate) fn with_fault(fault: &str) -> Self {
        Self {
            nodes: vec![Node::Exit],
            entry: EXIT,
            variables: Vec::new(),
            parameters: Vec::new(),
            assigned: Vec::new(),
            fault: fault.into(),
        }
    }

    /// Does the function have one of these pieces of code, as facts name them? If there are
    /// none, yes.
    pub(crate) fn has_any(&self, codes: &[String]) -> bool {
        let codes: Vec<String> = codes.iter().map(|code| squeeze(code)).collect();
        let mut texts = self.nodes.iter().filter_map(Node::text);
        codes.is_empty() || texts.any(|text| codes.contains(&squeeze(text)))
    }
}

/// A condition or name without blanks, as facts are compared with code.
pub(crate) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
