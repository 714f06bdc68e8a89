// SPDX-License-Identifier: GPL-2.0-or-later

use tree_sitter::Node as Syntax;

use super::condition::Leaning;
use super::syntax::field;
use super::{Graph, MAX_DEPTH};
use crate::body::{Callee, Hint, Node, NodeId};

impl<'a> Graph<'a> {
    pub(super) fn value(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        self.deeper(next, |graph| graph.value_inner(node, next))
    }

    fn value_inner(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        match node.kind() {
            "call_expression" => self.call(node, next),
            "binary_expression" if ["&&", "||"].contains(&self.field_text(node, "operator")) => {
                self.condition(node, (next, next), Leaning::weak(Hint::Open))
            }
            "conditional_expression" => {
                let no = field(node, "alternative").map_or(next, |part| self.value(part, next));
                let yes = field(node, "consequence").map_or(next, |part| self.value(part, next));
                field(node, "condition").map_or(next, |condition| {
                    self.condition(condition, (yes, no), Leaning::weak(Hint::Open))
                })
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
                if let Some(variable) = field(node, "left") {
                    let plain = self.field_text(node, "operator") == "=";
                    self.assign(variable, field(node, "right").filter(|_| plain));
                }
                self.values(node, next)
            }
            "update_expression" => {
                if let Some(variable) = field(node, "argument") {
                    self.assign(variable, None);
                }
                self.values(node, next)
            }
            kind if kind.ends_with("_statement") => self.statement(node, next),
            _ => self.values(node, next),
        }
    }

    fn values(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        self.parts(node, next, Self::value)
    }

    fn call(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let arguments = field(node, "arguments");
        let Some(function) = field(node, "function") else {
            return self.values(node, next);
        };
        let mut entry = next;
        match self.callee(function) {
            Some(Callee::Name(name)) if matches!(&*name, "likely" | "unlikely") => {}
            Some(callee) => {
                let passed = arguments.map_or_else(Vec::new, |all| self.passed(all));
                let texts = arguments.map_or_else(Vec::new, |all| self.arguments(all));
                entry = self.add(Node::Call {
                    callee,
                    passed: passed.into(),
                    arguments: texts.into(),
                    line: self.line(node),
                    next,
                });
            }
            None => {}
        }
        if let Some(arguments) = arguments {
            entry = self.values(arguments, entry);
        }
        if function.kind() == "identifier" {
            entry
        } else {
            self.value(function, entry)
        }
    }

    pub(super) fn callee(&self, mut node: Syntax<'_>) -> Option<Callee> {
        for _ in 0..MAX_DEPTH {
            match node.kind() {
                "identifier" => return Some(Callee::Name(self.text(node).into())),
                "parenthesized_expression" => node = node.named_child(0)?,
                "pointer_expression" => node = field(node, "argument")?,
                "field_expression" => {
                    let member = self.text(field(node, "field")?).into();
                    let before = field(node, "argument")?;
                    let owner = match before.kind() {
                        "identifier" => self.text(before),
                        "field_expression" => self.field_text(before, "field"),
                        _ => "",
                    };
                    let owner = owner.into();
                    return Some(Callee::Member { member, owner });
                }
                _ => return None,
            }
        }
        None
    }

    /// A variable whose address is passed counts as assigned.
    fn arguments(&mut self, arguments: Syntax<'_>) -> Vec<Box<str>> {
        let mut cursor = arguments.walk();
        let all: Vec<_> = arguments
            .named_children(&mut cursor)
            .filter(|argument| argument.kind() != "comment")
            .collect();
        for argument in &all {
            if argument.kind() == "pointer_expression"
                && self.text(*argument).starts_with('&')
                && let Some(variable) = field(*argument, "argument")
            {
                self.assign(variable, None);
            }
        }
        all.into_iter().map(|node| self.short(node)).collect()
    }

    /// Arguments that are only a name may be functions.
    fn passed(&self, arguments: Syntax<'_>) -> Vec<Box<str>> {
        let mut cursor = arguments.walk();
        let mut names = Vec::new();
        for mut argument in arguments.named_children(&mut cursor) {
            if argument.kind() == "pointer_expression"
                && let Some(inner) = field(argument, "argument")
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
