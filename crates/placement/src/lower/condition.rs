// SPDX-License-Identifier: GPL-2.0-or-later
//! Turns conditions into edges, including short circuits. Hints come from the code itself.

use tree_sitter::Node as Syntax;

use super::syntax::{field, last_child};
use super::{Graph, MAX_DEPTH};
use crate::body::{Callee, Hint, Node, NodeId};

/// Successors if the condition holds, and if not.
type Ways = (NodeId, NodeId);

#[derive(Debug, Clone, Copy)]
pub(super) struct Leaning {
    /// `likely()` and `unlikely()`.
    strong: Hint,
    /// One way ends with an error.
    weak: Hint,
    /// It decides whether a loop continues.
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

    /// Hint for a part of `a && b` (`whole` is yes) or of `a || b` (no). If the hint equals
    /// `whole`, it applies to each part; otherwise it applies only to the last part.
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

/// Kernel variables for errors.
const ERRORS: [&str; 10] = [
    "error", "err", "ret", "retval", "rc", "res", "result", "status", "rv", "r",
];

/// Kernel variables for amounts.
const AMOUNTS: [&str; 5] = ["len", "length", "count", "size", "nbytes"];

impl<'a> Graph<'a> {
    pub(super) fn condition(
        &mut self,
        node: Syntax<'_>,
        (yes, no): Ways,
        leaning: Leaning,
    ) -> NodeId {
        self.deeper(no, |graph| graph.condition_inner(node, (yes, no), leaning))
    }

    fn condition_inner(&mut self, node: Syntax<'_>, (yes, no): Ways, leaning: Leaning) -> NodeId {
        let operator = self.field_text(node, "operator");
        match (node.kind(), operator) {
            ("parenthesized_expression", _) if node.named_child_count() == 1 => {
                let inner = node.named_child(0);
                if let Some(inner) = inner.filter(|n| n.kind() != "compound_statement") {
                    return self.condition(inner, (yes, no), leaning);
                }
            }
            ("unary_expression", "!") => {
                if let Some(inner) = field(node, "argument") {
                    return self.condition(inner, (no, yes), leaning.not());
                }
            }
            ("binary_expression", "&&" | "||") => {
                if let Some(sides) = field(node, "left").zip(field(node, "right")) {
                    return self.short_circuit(sides, operator == "&&", (yes, no), leaning);
                }
            }
            ("call_expression", _) => {
                if let Some((strong, inner)) = self.annotated(node) {
                    return self.condition(inner, (yes, no), Leaning { strong, ..leaning });
                }
            }
            ("number_literal", _) => {
                let digits = self.text(node).trim_matches(['0', 'x', 'u', 'U', 'l', 'L']);
                return if digits.is_empty() { no } else { yes };
            }
            ("true", _) => return yes,
            ("false", _) => return no,
            _ => {}
        }
        self.branch(node, (yes, no), leaning)
    }

    fn short_circuit(
        &mut self,
        (left, right): (Syntax<'_>, Syntax<'_>),
        and: bool,
        (yes, no): Ways,
        leaning: Leaning,
    ) -> NodeId {
        let whole = if and { Hint::Yes } else { Hint::No };
        let second = self.condition(right, (yes, no), leaning.part(whole, true));
        let ways = if and { (second, no) } else { (yes, second) };
        self.condition(left, ways, leaning.part(whole, false))
    }

    fn annotated<'t>(&self, call: Syntax<'t>) -> Option<(Hint, Syntax<'t>)> {
        let hint = match self.field_text(call, "function") {
            "likely" => Hint::Yes,
            "unlikely" => Hint::No,
            _ => return None,
        };
        Some((hint, field(call, "arguments")?.named_child(0)?))
    }

    fn branch(&mut self, node: Syntax<'_>, (yes, no): Ways, leaning: Leaning) -> NodeId {
        let text = self.tidy(node);
        let hints = [leaning.strong, own_hint(&text), leaning.weak];
        let hint = hints.into_iter().find(|hint| *hint != Hint::Open);
        let member = Some(node).filter(|node| node.kind() == "field_expression");
        let tests = member.and_then(|member| self.callee(member));
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

    /// Whether a statement assigns an error to an error variable.
    fn sets_error(&self, block: Syntax<'_>) -> bool {
        let mut cursor = block.walk();
        let mut statements = block.named_children(&mut cursor);
        statements.any(|statement| {
            let set = self.text(statement).split_once('=');
            set.is_some_and(|(left, right)| {
                ERRORS.contains(&left.trim())
                    && starts_with_any(right.trim_start(), "-E ERR_PTR(-E")
            })
        })
    }

    /// An early return for an amount of 0, which the caller's amount is not.
    pub(super) fn has_nothing_to_do(&self, condition: Syntax<'_>, then: Syntax<'_>) -> bool {
        let text = self.tidy(condition);
        let text = text.trim_start_matches('(');
        let text = text.strip_suffix(')').unwrap_or(text);
        let amount = text.strip_prefix('!').or(text.strip_suffix(" == 0"));
        let amount = amount.unwrap_or_default();
        let counted = amount.strip_prefix("iov_iter_count(");
        let counted = counted.and_then(|rest| rest.strip_suffix(')'));
        let mut given = self.body.parameters.iter();
        let is_given = given.any(|name| **name == *counted.unwrap_or(amount));
        let named = counted.is_some() || AMOUNTS.contains(&amount);
        let mut last = then;
        if then.kind() == "compound_statement" && then.named_child_count() == 1 {
            last = last_child(then).unwrap_or(then);
        }
        let value = last.named_child(0).map_or("", |value| self.text(value));
        is_given && named && last.kind() == "return_statement" && ["", "0"].contains(&value)
    }

    pub(super) fn fails(&self, mut node: Syntax<'_>) -> bool {
        for _ in 0..MAX_DEPTH {
            match node.kind() {
                "compound_statement" | "else_clause" => match last_child(node) {
                    Some(last) if is_jump(last) && self.sets_error(node) => return true,
                    Some(last) => node = last,
                    None => return false,
                },
                "goto_statement" => {
                    let label = self.field_text(node, "label");
                    return FAILURES.iter().any(|part| label.contains(part));
                }
                "return_statement" => {
                    let value = node.named_child(0).map_or("", |value| self.text(value));
                    return starts_with_any(value, "-E ERR_ PTR_ERR")
                        || ["error", "err", "NULL"].contains(&value);
                }
                _ => return false,
            }
        }
        false
    }
}

fn is_jump(node: Syntax<'_>) -> bool {
    ["break_statement", "goto_statement", "return_statement"].contains(&node.kind())
}

fn starts_with_any(text: &str, words: &str) -> bool {
    words.split(' ').any(|word| text.starts_with(word))
}

/// Names that mostly mean that a call failed.
fn own_hint(text: &str) -> Hint {
    let failure = "IS_ERR WARN_ON PTR_ERR BUG_ON VM_BUG_ON signal_pending fatal_signal_pending";
    if starts_with_any(text, failure) || ERRORS.contains(&text) {
        return Hint::No;
    }
    let Some((left, operator, right)) = comparison(text) else {
        return own_hint_of_value(text);
    };
    let error = ERRORS.contains(&left) || left.starts_with("PTR_ERR(");
    match (operator, right) {
        ("==", right) if starts_with_any(right, "-E ERR_PTR(") => Hint::No,
        ("!=", right) if starts_with_any(right, "-E ERR_PTR(") => Hint::Yes,
        ("<" | "!=", "0") if error => Hint::No,
        (">=" | "==", "0") if error => Hint::Yes,
        // The name is a number of bytes, or a descriptor.
        ("!=", "0") if compares_names(left) => Hint::Yes,
        ("==", "0") if compares_names(left) => Hint::No,
        (">", "0") if error => Hint::Yes,
        (">=", "0") if left == "fd" => Hint::Yes,
        _ => Hint::Open,
    }
}

/// Comparisons with special names; the success path has ordinary ones.
fn compares_names(text: &str) -> bool {
    starts_with_any(text, "strcmp( strncmp( memcmp(")
}

/// Tests that a descriptor permits the operation.
fn allows(text: &str) -> bool {
    let modes = ["READ", "WRITE", "PREAD", "PWRITE", "CAN_READ", "CAN_WRITE"];
    let asks = |mode: &str| text.ends_with(&format!("FMODE_{mode}"));
    text.contains("->f_mode & FMODE_") && !text.contains('(') && modes.into_iter().any(asks)
}

/// A regular file is the usual object. Assignments to error variables are calls that may fail.
fn own_hint_of_value(text: &str) -> Hint {
    let assigned = text.split_once(" = ").map_or("", |(left, _)| left);
    let exceptional = "S_ISDIR( S_ISLNK( d_is_dir( d_is_symlink( retry_estale(";
    if ERRORS.contains(&assigned) || starts_with_any(text, exceptional) {
        Hint::No
    } else if compares_names(text)
        || allows(text)
        || starts_with_any(text, "S_ISREG( d_is_reg( fd_file(")
        || ["f.file", "fd.file"].contains(&text)
    {
        Hint::Yes
    } else {
        Hint::Open
    }
}

/// Parts of cleanup labels.
const FAILURES: [&str; 18] = [
    "out", "err", "fail", "bad", "unlock", "free", "put", "drop", "abort", "exit", "cleanup",
    "release", "undo", "done", "einval", "efault", "eperm", "enomem",
];

fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    for operator in [" == ", " != ", " >= ", " <= ", " < ", " > "] {
        if let Some((left, right)) = text.split_once(operator) {
            return Some((left.trim(), operator.trim(), right.trim()));
        }
    }
    None
}
