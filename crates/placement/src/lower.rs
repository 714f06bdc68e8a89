// SPDX-License-Identifier: GPL-2.0-or-later
//! Turns a function's syntax tree into its graph. The graph is built from the end, so that each
//! piece knows its successor.

mod condition;
mod expression;
mod parameters;
mod syntax;

use rustc_hash::FxHashMap;
use tree_sitter::{Node as Syntax, Parser};

use crate::body::{Body, EXIT, Hint, Node, NodeId};
use crate::rewrite::rewrite;
use crate::scan::{Function, Kind};

use condition::Leaning;
use parameters::{names_of_parameters, parameters};
use syntax::{fault_in, field, last_child};

/// In bytes.
const MAX_FUNCTION: usize = 1 << 20;
/// The maximum nesting depth of statements and expressions.
const MAX_DEPTH: u32 = 200;
/// In bytes; longer arguments and values are dropped.
const MAX_TEXT: usize = 160;
const MAX_NODES: usize = 100_000;

/// Create one per thread.
pub(crate) struct Lowerer {
    parser: Option<Parser>,
}

impl Lowerer {
    pub(crate) fn new() -> Self {
        let mut parser = Parser::new();
        let known = parser.set_language(&tree_sitter_c::LANGUAGE.into()).is_ok();
        Self {
            parser: known.then_some(parser),
        }
    }

    pub(crate) fn lower(&mut self, function: &Function, text: &[u8]) -> Body {
        let part = |from, to| text.get(from as usize..to as usize).unwrap_or_default();
        let (from, to) = function.range;
        let (header, body) = (part(from, function.body), part(function.body, to));
        self.lower_parts(header, body, function.kind)
    }

    pub(crate) fn lower_parts(&mut self, header: &[u8], body: &[u8], kind: Kind) -> Body {
        if body.len() > MAX_FUNCTION {
            return Body::with_fault("longer than 1 MiB");
        }
        let mut source = b"void f(void)".to_vec();
        if kind.is_macro() {
            source.push(b'{');
        }
        source.extend_from_slice(&rewrite(body));
        if kind.is_macro() {
            source.extend_from_slice(b";}");
        }
        if source.len() > MAX_FUNCTION {
            return Body::with_fault("longer than 1 MiB");
        }
        let tree = self.parser.as_mut().and_then(|parser| {
            parser.reset();
            parser.parse(&source, None)
        });
        let Some(tree) = tree else {
            return Body::with_fault("the parser gave up");
        };
        let root = tree.root_node();
        let mut graph = Graph {
            source: &source,
            before: header.iter().filter(|&&byte| byte == b'\n').count(),
            body: Body::with_fault(""),
            ..Graph::default()
        };
        graph.body.variables = parameters(header);
        graph.body.parameters = names_of_parameters(header);
        if root.has_error() {
            graph.body.fault = fault_in(root).into();
        }
        let function = root.named_child(0).and_then(|item| field(item, "body"));
        graph.body.entry = match function {
            Some(body) if root.named_child_count() == 1 => graph.statement(body, EXIT),
            // The grammar split the function into pieces.
            _ => graph.statements(root, EXIT),
        };
        let mut body = graph.body;
        body.variables.shrink_to_fit();
        body.nodes.shrink_to_fit();
        body.assigned.shrink_to_fit();
        body
    }
}

#[derive(Default)]
struct Graph<'a> {
    source: &'a [u8],
    /// Lines before the body.
    before: usize,
    body: Body,
    labels: FxHashMap<&'a str, NodeId>,
    breaks: Vec<NodeId>,
    continues: Vec<NodeId>,
    switches: Vec<Arms>,
    depth: u32,
}

#[derive(Default)]
struct Arms {
    arms: Vec<(Box<str>, NodeId)>,
    other: Option<NodeId>,
}

impl<'a> Graph<'a> {
    fn text(&self, node: Syntax<'_>) -> &'a str {
        std::str::from_utf8(&self.source[node.byte_range()]).unwrap_or("")
    }

    fn field_text(&self, node: Syntax<'_>, name: &str) -> &'a str {
        field(node, name).map_or("", |part| self.text(part))
    }

    /// Counted from the function's first line.
    fn line(&self, node: Syntax<'_>) -> u32 {
        u32::try_from(self.before + node.start_position().row).unwrap_or(u32::MAX)
    }

    fn tidy(&self, node: Syntax<'_>) -> Box<str> {
        let words: Vec<_> = self.text(node).split_whitespace().collect();
        words.join(" ").into()
    }

    fn tidy_field(&self, node: Syntax<'_>, name: &str) -> Box<str> {
        field(node, name).map_or_else(Box::default, |part| self.tidy(part))
    }

    fn short(&self, node: Syntax<'_>) -> Box<str> {
        if node.byte_range().len() > MAX_TEXT {
            return Box::default();
        }
        self.tidy(node)
    }

    fn assign(&mut self, variable: Syntax<'_>, value: Option<Syntax<'_>>) {
        if variable.kind() == "identifier" && self.body.assigned.len() < MAX_NODES {
            let value = value.map_or_else(Box::default, |value| self.short(value));
            let variable = self.text(variable).into();
            self.body.assigned.push((variable, value));
        }
    }

    fn add(&mut self, node: Node) -> NodeId {
        if self.body.nodes.len() >= MAX_NODES {
            self.body.fault = "too many statements".into();
            return EXIT;
        }
        self.body.nodes.push(node);
        u32::try_from(self.body.nodes.len() - 1).unwrap_or(EXIT)
    }

    fn set_next(&mut self, id: NodeId, to: NodeId) {
        if let Some(Node::Head { next, .. }) = self.body.nodes.get_mut(id as usize) {
            *next = to;
        }
    }

    fn statements(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        self.parts(node, next, Self::statement)
    }

    fn parts(
        &mut self,
        node: Syntax<'_>,
        next: NodeId,
        mut lower: impl FnMut(&mut Self, Syntax<'_>, NodeId) -> NodeId,
    ) -> NodeId {
        let mut cursor = node.walk();
        let parts: Vec<_> = node.named_children(&mut cursor).collect();
        let parts = parts.into_iter().rev();
        parts.fold(next, |next, part| lower(self, part, next))
    }

    /// Beyond the depth limit, the piece is left out and `otherwise` is returned.
    fn deeper(&mut self, otherwise: NodeId, lower: impl FnOnce(&mut Self) -> NodeId) -> NodeId {
        if self.depth >= MAX_DEPTH {
            self.body.fault = "too deeply nested".into();
            return otherwise;
        }
        self.depth += 1;
        let entry = lower(self);
        self.depth -= 1;
        entry
    }

    fn statement(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        self.deeper(next, |graph| graph.statement_inner(node, next))
    }

    fn statement_inner(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        match node.kind() {
            "if_statement" => self.if_statement(node, next),
            "while_statement" => self.while_loop(node, next),
            "do_statement" => self.do_loop(node, next),
            "for_statement" => self.for_loop(node, next),
            "switch_statement" => self.switch(node, next),
            "case_statement" => self.case(node, next),
            "labeled_statement" => self.labeled(node, next),
            "goto_statement" => match field(node, "label") {
                Some(label) => self.label(self.text(label)),
                None => EXIT,
            },
            "break_statement" => self.breaks.last().copied().unwrap_or(next),
            "continue_statement" => self.continues.last().copied().unwrap_or(next),
            "return_statement" => match node.named_child(0) {
                Some(value) => self.value(value, EXIT),
                None => EXIT,
            },
            "compound_statement" | "expression_statement" | "else_clause" | "ERROR" => {
                self.statements(node, next)
            }
            "declaration" => {
                self.declared(node);
                self.statements(node, next)
            }
            _ => self.value(node, next),
        }
    }

    fn label(&mut self, name: &'a str) -> NodeId {
        if let Some(&known) = self.labels.get(name) {
            return known;
        }
        let id = self.add(Node::Head {
            text: format!("{name}:").into(),
            line: 0,
            next: EXIT,
            exit: None,
        });
        self.labels.insert(name, id);
        id
    }

    fn labeled(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let id = self.label(self.field_text(node, "label"));
        let at = self.line(node);
        if let Some(Node::Head { line, .. }) = self.body.nodes.get_mut(id as usize) {
            *line = at;
        }
        let entry = match last_child(node) {
            Some(behind) if behind.kind() != "statement_identifier" => self.statement(behind, next),
            _ => next,
        };
        self.set_next(id, entry);
        id
    }

    fn declared(&mut self, node: Syntax<'_>) {
        let structure = field(node, "type")
            .filter(|structure| structure.kind() == "struct_specifier")
            .map_or("", |structure| self.field_text(structure, "name"));
        let mut cursor = node.walk();
        let declarators = node.children_by_field_name("declarator", &mut cursor);
        for declarator in declarators.collect::<Vec<_>>() {
            let mut variable = declarator;
            while let Some(inner) = field(variable, "declarator") {
                variable = inner;
            }
            if declarator.kind() == "init_declarator" {
                self.assign(variable, field(declarator, "value"));
            }
            if variable.kind() == "identifier" && !structure.is_empty() {
                let name = self.text(variable).into();
                self.body.variables.push((name, structure.into()));
            }
        }
    }

    fn if_statement(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let (consequence, alternative) = (field(node, "consequence"), field(node, "alternative"));
        let no = alternative.map_or(next, |part| self.statement(part, next));
        let yes = consequence.map_or(next, |part| self.statement(part, next));
        let Some(condition) = field(node, "condition") else {
            return yes;
        };
        let fails = consequence
            .is_some_and(|part| self.fails(part) || self.has_nothing_to_do(condition, part));
        let fails_else = alternative.is_some_and(|part| self.fails(part));
        let weak = match (fails, fails_else) {
            (true, false) => Hint::No,
            (false, true) => Hint::Yes,
            _ => Hint::Open,
        };
        self.condition(condition, (yes, no), Leaning::weak(weak))
    }

    fn head(&mut self, node: Syntax<'_>, text: String, exit: NodeId) -> NodeId {
        let line = self.line(node);
        self.add(Node::Head {
            text: text.into(),
            line,
            next: exit,
            exit: Some(exit),
        })
    }

    /// The body of a loop, followed by `again`.
    fn looped(&mut self, node: Syntax<'_>, again: NodeId, exit: NodeId) -> NodeId {
        self.breaks.push(exit);
        self.continues.push(again);
        let entry = field(node, "body").map_or(again, |body| self.statement(body, again));
        self.breaks.pop();
        self.continues.pop();
        entry
    }

    fn repeated(&mut self, node: Syntax<'_>, body: NodeId, exit: NodeId) -> NodeId {
        match field(node, "condition") {
            Some(condition) => self.condition(condition, (body, exit), Leaning::repeats()),
            None => body,
        }
    }

    fn while_loop(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let text = self.tidy_field(node, "condition");
        let head = self.head(node, format!("while {text}"), next);
        let body = self.looped(node, head, next);
        let entry = self.repeated(node, body, next);
        self.set_next(head, entry);
        head
    }

    fn do_loop(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let text = self.tidy_field(node, "condition");
        if text.trim_matches(['(', ')', ' ']) == "0" {
            return self.looped(node, next, next);
        }
        let head = self.head(node, format!("do while {text}"), next);
        let tail = self.repeated(node, head, next);
        let entry = self.looped(node, tail, next);
        self.set_next(head, entry);
        head
    }

    fn for_loop(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let [first, condition, update] =
            ["initializer", "condition", "update"].map(|name| self.tidy_field(node, name));
        let first = first.trim_end_matches(';');
        let head = self.head(node, format!("for ({first};{condition};{update})"), next);
        let again = field(node, "update").map_or(head, |update| self.value(update, head));
        let body = self.looped(node, again, next);
        let entry = self.repeated(node, body, next);
        self.set_next(head, entry);
        field(node, "initializer").map_or(head, |first| self.statement(first, head))
    }

    fn switch(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        self.breaks.push(next);
        self.switches.push(Arms::default());
        if let Some(body) = field(node, "body") {
            self.statement(body, next);
        }
        self.breaks.pop();
        let mut found = self.switches.pop().unwrap_or_default();
        found.arms.reverse();
        let Some(condition) = field(node, "condition") else {
            return next;
        };
        let text = self.tidy(condition);
        let text = text.trim_start_matches('(').trim_end_matches(')').into();
        let id = self.add(Node::Switch {
            text,
            arms: found.arms.into(),
            other: found.other.unwrap_or(next),
        });
        self.value(condition, id)
    }

    fn case(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let value = field(node, "value");
        let entry = self.parts(node, next, |graph, part, next| {
            if Some(part) == value {
                next
            } else {
                graph.statement(part, next)
            }
        });
        let text = value.map(|value| self.tidy(value));
        if let Some(arms) = self.switches.last_mut() {
            match text {
                Some(text) => arms.arms.push((text, entry)),
                None => arms.other = Some(entry),
            }
        }
        entry
    }
}

#[cfg(test)]
mod tests;
