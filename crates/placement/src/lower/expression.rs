// SPDX-License-Identifier: GPL-2.0-or-later
//! Expressions: the calls in them, in the order of execution.

use tree_sitter::Node as Syntax;

use super::condition::Leaning;
use super::{Graph, MAX_DEPTH};
use crate::body::{Callee, Hint, Node, NodeId};

impl<'a> Graph<'a> {
    /// Lowers what an expression calls before its value is there.
    pub(super) fn value(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        if self.depth >= MAX_DEPTH {
            "too deeply nested".clone_into(&mut self.fault);
            return next;
        }
        self.depth += 1;
        let entry = self.value_inner(node, next);
        self.depth -= 1;
        entry
    }

    fn value_inner(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        match node.kind() {
            "call_expression" => self.call(node, next),
            "binary_expression" => {
                let operator = node
                    .child_by_field_name("operator")
                    .map_or("", |op| self.text(op));
                if operator == "&&" || operator == "||" {
                    return self.condition(node, (next, next), Leaning::weak(Hint::Open));
                }
                self.parts(node, next)
            }
            "conditional_expression" => {
                let field = |name| node.child_by_field_name(name);
                let no = field("alternative").map_or(next, |part| self.value(part, next));
                let yes = field("consequence").map_or(next, |part| self.value(part, next));
                match field("condition") {
                    Some(condition) => {
                        self.condition(condition, (yes, no), Leaning::weak(Hint::Open))
                    }
                    None => next,
                }
            }
            "identifier"
            | "number_literal"
            | "string_literal"
            | "field_identifier"
            | "type_descriptor"
            | "sizeof_expression"
            | "offsetof_expression"
            | "primitive_type"
            | "type_identifier"
            | "struct_specifier"
            | "parameter_list"
            | "comment" => next,
            "compound_statement" | "declaration" | "expression_statement" => {
                self.statement(node, next)
            }
            "assignment_expression" => {
                if let Some(variable) = node.child_by_field_name("left") {
                    let plain = node
                        .child_by_field_name("operator")
                        .is_some_and(|operator| self.text(operator) == "=");
                    let value = node.child_by_field_name("right").filter(|_| plain);
                    self.assign(variable, value);
                }
                self.parts(node, next)
            }
            "update_expression" => {
                if let Some(variable) = node.child_by_field_name("argument") {
                    self.assign(variable, None);
                }
                self.parts(node, next)
            }
            kind if kind.ends_with("_statement") => self.statement(node, next),
            _ => self.parts(node, next),
        }
    }

    fn parts(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let mut cursor = node.walk();
        let parts: Vec<_> = node.named_children(&mut cursor).collect();
        parts
            .into_iter()
            .rev()
            .fold(next, |next, part| self.value(part, next))
    }

    fn call(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let arguments = node.child_by_field_name("arguments");
        let Some(function) = node.child_by_field_name("function") else {
            return self.parts(node, next);
        };
        let mut entry = next;
        match self.callee(function) {
            Some(Callee::Name(name)) if matches!(&*name, "likely" | "unlikely") => {}
            Some(callee) => {
                let passed = arguments
                    .map_or_else(Vec::new, |all| self.passed(all))
                    .into();
                let arguments = arguments
                    .map_or_else(Vec::new, |all| self.arguments(all))
                    .into();
                entry = self.add(Node::Call {
                    callee,
                    passed,
                    arguments,
                    line: self.line(node),
                    next,
                });
            }
            None => {}
        }
        if let Some(arguments) = arguments {
            entry = self.parts(arguments, entry);
        }
        if function.kind() == "identifier" {
            entry
        } else {
            self.value(function, entry)
        }
    }

    /// What is called: a name, or a member that holds a function.
    pub(super) fn callee(&self, mut node: Syntax<'_>) -> Option<Callee> {
        for _ in 0..MAX_DEPTH {
            match node.kind() {
                "identifier" => return Some(Callee::Name(self.text(node).into())),
                "parenthesized_expression" => node = node.named_child(0)?,
                "pointer_expression" => node = node.child_by_field_name("argument")?,
                "field_expression" => {
                    let member = self.text(node.child_by_field_name("field")?).into();
                    let before = node.child_by_field_name("argument")?;
                    let of = match before.kind() {
                        "identifier" => self.text(before),
                        "field_expression" => before
                            .child_by_field_name("field")
                            .map_or("", |f| self.text(f)),
                        _ => "",
                    };
                    let of = of.into();
                    return Some(Callee::Member { member, of });
                }
                _ => return None,
            }
        }
        None
    }

    /// The text of each argument. A variable whose place is passed may be assigned there.
    fn arguments(&mut self, arguments: Syntax<'_>) -> Vec<Box<str>> {
        let mut cursor = arguments.walk();
        let all: Vec<_> = arguments
            .named_children(&mut cursor)
            .filter(|argument| argument.kind() != "comment")
            .collect();
        for argument in &all {
            if argument.kind() == "pointer_expression"
                && self.text(*argument).starts_with('&')
                && let Some(variable) = argument.child_by_field_name("argument")
            {
                self.assign(variable, None);
            }
        }
        all.into_iter()
            .map(|argument| self.short(argument))
            .collect()
    }

    /// Arguments that are only a name: they may be functions.
    fn passed(&self, arguments: Syntax<'_>) -> Vec<Box<str>> {
        let mut cursor = arguments.walk();
        let mut names = Vec::new();
        for mut argument in arguments.named_children(&mut cursor) {
            if argument.kind() == "pointer_expression"
                && let Some(inner) = argument.child_by_field_name("argument")
            {
                argument = inner;
            }
            if argument.kind() == "identifier" {
                names.push(self.text(argument).into());
            }
        }
        names
    }
}
