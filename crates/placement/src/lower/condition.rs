// SPDX-License-Identifier: GPL-2.0-or-later
//! Conditions: short circuits become edges, and what the code says about its own
//! conditions becomes hints.

use tree_sitter::Node as Syntax;

use super::{Graph, MAX_DEPTH};
use crate::body::{Callee, Hint, Node, NodeId};

/// What the surroundings say of a condition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaning {
    /// `likely()` and `unlikely()`.
    strong: Hint,
    /// One of its ways ends with an error.
    weak: Hint,
    /// It decides whether a loop goes on.
    repeats: bool,
}

impl Leaning {
    pub(super) fn weak(weak: Hint) -> Self {
        Self {
            strong: Hint::Open,
            weak,
            repeats: false,
        }
    }

    pub(super) fn repeats() -> Self {
        Self {
            repeats: true,
            ..Self::weak(Hint::Open)
        }
    }

    fn not(self) -> Self {
        Self {
            strong: self.strong.not(),
            weak: self.weak.not(),
            repeats: self.repeats,
        }
    }

    /// Of a part of `a && b` (`whole` is yes) or `a || b` (no): if the whole is so, each
    /// part is; if it is not, only the last is taken to be the reason.
    fn part(self, whole: Hint, last: bool) -> Self {
        let keep = |hint: Hint| {
            if hint == whole || last {
                hint
            } else {
                Hint::Open
            }
        };
        Self {
            strong: keep(self.strong),
            weak: keep(self.weak),
            repeats: self.repeats,
        }
    }
}

/// Names that kernel code keeps errors in.
const ERRORS: [&str; 10] = [
    "error", "err", "ret", "retval", "rc", "res", "result", "status", "rv", "r",
];

impl<'a> Graph<'a> {
    /// Lowers a condition to the edges that it takes.
    pub(super) fn condition(
        &mut self,
        node: Syntax<'_>,
        (yes, no): (NodeId, NodeId),
        leaning: Leaning,
    ) -> NodeId {
        if self.depth >= MAX_DEPTH {
            "too deeply nested".clone_into(&mut self.fault);
            return no;
        }
        self.depth += 1;
        let entry = self.condition_inner(node, (yes, no), leaning);
        self.depth -= 1;
        entry
    }

    fn condition_inner(
        &mut self,
        node: Syntax<'_>,
        (yes, no): (NodeId, NodeId),
        leaning: Leaning,
    ) -> NodeId {
        let operator = node
            .child_by_field_name("operator")
            .map_or("", |op| self.text(op));
        match (node.kind(), operator) {
            ("parenthesized_expression", _) if node.named_child_count() == 1 => {
                if let Some(inner) = node
                    .named_child(0)
                    .filter(|n| n.kind() != "compound_statement")
                {
                    return self.condition(inner, (yes, no), leaning);
                }
            }
            ("unary_expression", "!") => {
                if let Some(inner) = node.child_by_field_name("argument") {
                    return self.condition(inner, (no, yes), leaning.not());
                }
            }
            ("binary_expression", "&&" | "||") => {
                let sides = (
                    node.child_by_field_name("left"),
                    node.child_by_field_name("right"),
                );
                if let (Some(left), Some(right)) = sides {
                    let and = operator == "&&";
                    let whole = if and { Hint::Yes } else { Hint::No };
                    let second = self.condition(right, (yes, no), leaning.part(whole, true));
                    let ways = if and { (second, no) } else { (yes, second) };
                    return self.condition(left, ways, leaning.part(whole, false));
                }
            }
            ("call_expression", _) => {
                let function = node
                    .child_by_field_name("function")
                    .map_or("", |f| self.text(f));
                let strong = match function {
                    "likely" => Some(Hint::Yes),
                    "unlikely" => Some(Hint::No),
                    _ => None,
                };
                let inner = node
                    .child_by_field_name("arguments")
                    .and_then(|all| all.named_child(0));
                if let (Some(strong), Some(inner)) = (strong, inner) {
                    return self.condition(inner, (yes, no), Leaning { strong, ..leaning });
                }
            }
            ("number_literal", _) => {
                return if self
                    .text(node)
                    .trim_matches(['0', 'x', 'u', 'U', 'l', 'L'])
                    .is_empty()
                {
                    no
                } else {
                    yes
                };
            }
            ("true", _) => return yes,
            ("false", _) => return no,
            _ => {}
        }
        let text = self.tidy(node);
        let own = self.own_hint(&text);
        let hint = [leaning.strong, own, leaning.weak]
            .into_iter()
            .find(|hint| *hint != Hint::Open);
        let tests = if node.kind() == "field_expression" {
            self.callee(node)
        } else {
            None
        };
        let id = self.add(Node::Branch {
            text,
            hint: hint.unwrap_or(Hint::Open),
            repeats: leaning.repeats,
            tests: tests.filter(|callee| matches!(callee, Callee::Member { .. })),
            yes,
            no,
        });
        self.value(node, id)
    }

    /// What a condition says of itself: that a call failed, mostly.
    fn own_hint(&self, text: &str) -> Hint {
        let failure = [
            "IS_ERR",
            "WARN_ON",
            "PTR_ERR",
            "BUG_ON",
            "VM_BUG_ON",
            "signal_pending",
            "fatal_signal_pending",
        ];
        if failure.iter().any(|start| text.starts_with(start)) || ERRORS.contains(&text) {
            return Hint::No;
        }
        let Some((left, operator, right)) = comparison(text) else {
            return own_hint_of_value(text);
        };
        let error = ERRORS.contains(&left) || left.starts_with("PTR_ERR(");
        match (operator, right) {
            ("==", right) if right.starts_with("-E") || right.starts_with("ERR_PTR(") => Hint::No,
            ("!=", right) if right.starts_with("-E") || right.starts_with("ERR_PTR(") => Hint::Yes,
            ("<" | "!=", "0") if error => Hint::No,
            (">=" | "==", "0") if error => Hint::Yes,
            // A number of bytes, or a descriptor.
            ("!=", "0") if compares_names(left) => Hint::Yes,
            ("==", "0") if compares_names(left) => Hint::No,
            (">", "0") if error => Hint::Yes,
            (">=", "0") if left == "fd" => Hint::Yes,
            _ => Hint::Open,
        }
    }

    /// Does a statement end with an error?
    pub(super) fn fails(&self, mut node: Syntax<'_>) -> bool {
        for _ in 0..MAX_DEPTH {
            match node.kind() {
                "compound_statement" | "else_clause" => {
                    let Some(last) =
                        node.named_child(node.named_child_count().saturating_sub(1) as u32)
                    else {
                        return false;
                    };
                    node = last;
                }
                "goto_statement" => {
                    let label = node
                        .child_by_field_name("label")
                        .map_or("", |label| self.text(label));
                    return FAILURES.iter().any(|part| label.contains(part));
                }
                "return_statement" => {
                    let value = node.named_child(0).map_or("", |value| self.text(value));
                    return value.starts_with("-E")
                        || value.starts_with("ERR_")
                        || ["error", "err", "NULL"].contains(&value)
                        || value.starts_with("PTR_ERR");
                }
                _ => return false,
            }
        }
        false
    }
}

/// Names that are treated in their own way are rarely those at hand.
fn compares_names(text: &str) -> bool {
    ["strcmp(", "strncmp(", "memcmp("]
        .iter()
        .any(|start| text.starts_with(start))
}

/// A descriptor allows what is done with it.
fn allows(text: &str) -> bool {
    if !text.contains("->f_mode & FMODE_") || text.contains('(') {
        return false;
    }
    ["READ", "WRITE", "PREAD", "PWRITE", "CAN_READ", "CAN_WRITE"]
        .iter()
        .any(|mode| text.ends_with(&format!("FMODE_{mode}")))
}

/// What a condition that is no comparison says: a regular file is what calls are made on,
/// and an assignment to what holds errors is a call that may fail.
fn own_hint_of_value(text: &str) -> Hint {
    let assigned = text.split_once(" = ").map_or("", |(left, _)| left);
    let starts = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    if ERRORS.contains(&assigned)
        || starts(&[
            "S_ISDIR(",
            "S_ISLNK(",
            "d_is_dir(",
            "d_is_symlink(",
            "retry_estale(",
        ])
    {
        Hint::No
    } else if compares_names(text)
        || allows(text)
        || starts(&["S_ISREG(", "d_is_reg(", "fd_file("])
        || ["f.file", "fd.file"].contains(&text)
    {
        Hint::Yes
    } else {
        Hint::Open
    }
}

/// Parts of labels behind which functions clean up.
const FAILURES: [&str; 18] = [
    "out", "err", "fail", "bad", "unlock", "free", "put", "drop", "abort", "exit", "cleanup",
    "release", "undo", "done", "einval", "efault", "eperm", "enomem",
];

/// The two sides of a comparison that is all a text is.
fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    for operator in [" == ", " != ", " >= ", " <= ", " < ", " > "] {
        if let Some((left, right)) = text.split_once(operator) {
            let operator = operator.trim();
            let left = left.trim();
            return Some((left, operator, right.trim()));
        }
    }
    None
}
