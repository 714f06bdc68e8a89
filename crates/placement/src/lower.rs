// SPDX-License-Identifier: GPL-2.0-or-later
//! From the syntax tree of a function to its graph. The graph is built from its end: each
//! piece is given what comes behind it.

mod condition;
mod expression;
mod parameters;

use rustc_hash::FxHashMap;
use tree_sitter::{Node as Syntax, Parser};

use crate::body::{Body, EXIT, Node, NodeId};
use crate::rewrite::rewrite;
use crate::scan::Kind;

use condition::Leaning;
use parameters::{names_of_parameters, parameters};

/// Longest function that is parsed, in bytes.
const MAX_FUNCTION: usize = 1 << 20;
/// Deepest nesting of statements and expressions that is followed.
const MAX_DEPTH: u32 = 200;
/// Longest argument or value whose text is kept, in bytes.
const MAX_TEXT: usize = 160;
/// Most nodes of one function.
const MAX_NODES: usize = 100_000;

/// Turns functions into graphs. Made once per thread.
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

    /// The graph of one function. `header` is what stands before its body: its type, name
    /// and parameters.
    pub(crate) fn lower(&mut self, header: &[u8], body: &[u8], kind: Kind) -> Body {
        let empty = |fault: &str| Body {
            nodes: vec![Node::Exit],
            entry: EXIT,
            variables: Vec::new(),
            parameters: Vec::new(),
            assigned: Vec::new(),
            fault: fault.into(),
        };
        if body.len() > MAX_FUNCTION {
            return empty("longer than 1 MiB");
        }
        let mut source = b"void f(void)".to_vec();
        let wrapped = matches!(kind, Kind::Macro | Kind::Alias);
        if wrapped {
            source.push(b'{');
        }
        source.extend_from_slice(&rewrite(body));
        if wrapped {
            source.extend_from_slice(b";}");
        }
        if source.len() > MAX_FUNCTION {
            return empty("longer than 1 MiB");
        }
        let tree = self.parser.as_mut().and_then(|parser| {
            parser.reset();
            parser.parse(&source, None)
        });
        let Some(tree) = tree else {
            return empty("the parser gave up");
        };
        let root = tree.root_node();
        let before = header.iter().filter(|&&byte| byte == b'\n').count();
        let mut graph = Graph::new(&source, before);
        if root.has_error() {
            graph.fault = fault_in(root);
        }
        let function = root
            .named_child(0)
            .and_then(|item| item.child_by_field_name("body"));
        let entry = match function {
            Some(body) if root.named_child_count() == 1 => graph.statement(body, EXIT),
            // Pieces of a function that the grammar took apart.
            _ => graph.children(root, EXIT),
        };
        let mut variables = parameters(header);
        variables.append(&mut graph.variables);
        // They are kept for as long as the analysis lasts.
        variables.shrink_to_fit();
        graph.nodes.shrink_to_fit();
        graph.assigned.shrink_to_fit();
        Body {
            nodes: graph.nodes,
            entry,
            variables,
            parameters: names_of_parameters(header),
            assigned: graph.assigned,
            fault: graph.fault.into(),
        }
    }
}

/// Line, from that of the opening brace, and text of the first thing that did not parse.
fn fault_in(root: Syntax<'_>) -> String {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return format!("line {} of it", node.start_position().row + 1);
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return "somewhere in it".to_owned();
            }
        }
    }
}

struct Graph<'a> {
    source: &'a [u8],
    /// Lines of the function before its body's.
    before: usize,
    nodes: Vec<Node>,
    labels: FxHashMap<&'a str, NodeId>,
    breaks: Vec<NodeId>,
    continues: Vec<NodeId>,
    switches: Vec<Arms>,
    variables: Vec<(Box<str>, Box<str>)>,
    assigned: Vec<(Box<str>, Box<str>)>,
    depth: u32,
    fault: String,
}

#[derive(Default)]
struct Arms {
    arms: Vec<(Box<str>, NodeId)>,
    other: Option<NodeId>,
}

impl<'a> Graph<'a> {
    fn new(source: &'a [u8], before: usize) -> Self {
        Self {
            source,
            before,
            nodes: vec![Node::Exit],
            labels: FxHashMap::default(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            variables: Vec::new(),
            assigned: Vec::new(),
            depth: 0,
            fault: String::new(),
        }
    }

    fn text(&self, node: Syntax<'_>) -> &'a str {
        std::str::from_utf8(&self.source[node.byte_range()]).unwrap_or("")
    }

    /// The line of a piece, from the function's first.
    fn line(&self, node: Syntax<'_>) -> u32 {
        u32::try_from(self.before + node.start_position().row).unwrap_or(u32::MAX)
    }

    /// Text with every run of blanks as one.
    fn tidy(&self, node: Syntax<'_>) -> Box<str> {
        let words: Vec<_> = self.text(node).split_whitespace().collect();
        words.join(" ").into()
    }

    /// As [`Self::tidy`]; empty for what is long.
    fn short(&self, node: Syntax<'_>) -> Box<str> {
        if node.byte_range().len() > MAX_TEXT {
            return Box::default();
        }
        self.tidy(node)
    }

    /// Notes that a variable is given a value.
    fn assign(&mut self, variable: Syntax<'_>, value: Option<Syntax<'_>>) {
        if variable.kind() == "identifier" && self.assigned.len() < MAX_NODES {
            let value = value.map_or_else(Box::default, |value| self.short(value));
            self.assigned.push((self.text(variable).into(), value));
        }
    }

    fn add(&mut self, node: Node) -> NodeId {
        if self.nodes.len() >= MAX_NODES {
            "too many statements".clone_into(&mut self.fault);
            return EXIT;
        }
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).unwrap_or(EXIT)
    }

    fn set_next(&mut self, id: NodeId, to: NodeId) {
        if let Some(Node::Label { next, .. } | Node::Loop { next, .. }) =
            self.nodes.get_mut(id as usize)
        {
            *next = to;
        }
    }

    /// All parts in their order, whatever they are.
    fn children(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let mut cursor = node.walk();
        let parts: Vec<_> = node.named_children(&mut cursor).collect();
        parts
            .into_iter()
            .rev()
            .fold(next, |next, part| self.statement(part, next))
    }

    fn statement(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        if self.depth >= MAX_DEPTH {
            "too deeply nested".clone_into(&mut self.fault);
            return next;
        }
        self.depth += 1;
        let entry = self.statement_inner(node, next);
        self.depth -= 1;
        entry
    }

    fn statement_inner(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        match node.kind() {
            "if_statement" => self.if_statement(node, next),
            "while_statement" => self.while_loop(node, next),
            "do_statement" => self.do_loop(node, next),
            "for_statement" => self.for_loop(node, next),
            "switch_statement" => self.switch(node, next),
            "case_statement" => self.case(node, next),
            "labeled_statement" => {
                let label = node.child_by_field_name("label");
                let name = label.map_or("", |label| self.text(label));
                let id = self.label(name);
                let at = self.line(node);
                if let Some(Node::Label { line, .. }) = self.nodes.get_mut(id as usize) {
                    *line = at;
                }
                let behind = node.named_child(node.named_child_count().saturating_sub(1) as u32);
                let entry = match behind {
                    Some(behind) if behind.kind() != "statement_identifier" => {
                        self.statement(behind, next)
                    }
                    _ => next,
                };
                self.set_next(id, entry);
                id
            }
            "goto_statement" => match node.child_by_field_name("label") {
                Some(label) => {
                    let name = self.text(label);
                    self.label(name)
                }
                None => EXIT,
            },
            "break_statement" => self.breaks.last().copied().unwrap_or(next),
            "continue_statement" => self.continues.last().copied().unwrap_or(next),
            "return_statement" => match node.named_child(0) {
                Some(value) => self.value(value, EXIT),
                None => EXIT,
            },
            "compound_statement" | "expression_statement" | "else_clause" | "ERROR" => {
                self.children(node, next)
            }
            "declaration" => {
                self.declared(node);
                self.children(node, next)
            }
            _ => self.value(node, next),
        }
    }

    fn label(&mut self, name: &'a str) -> NodeId {
        if let Some(&known) = self.labels.get(name) {
            return known;
        }
        let text = format!("{name}:").into();
        let id = self.add(Node::Label {
            text,
            line: 0,
            next: EXIT,
        });
        self.labels.insert(name, id);
        id
    }

    fn declared(&mut self, node: Syntax<'_>) {
        let mut cursor = node.walk();
        let declarators: Vec<_> = node
            .children_by_field_name("declarator", &mut cursor)
            .filter(|declarator| declarator.kind() == "init_declarator")
            .collect();
        for declarator in declarators {
            let mut variable = declarator.child_by_field_name("declarator");
            while let Some(inner) = variable.and_then(|v| v.child_by_field_name("declarator")) {
                variable = Some(inner);
            }
            if let Some(variable) = variable {
                self.assign(variable, declarator.child_by_field_name("value"));
            }
        }
        let of = node
            .child_by_field_name("type")
            .filter(|of| of.kind() == "struct_specifier")
            .and_then(|of| of.child_by_field_name("name"));
        let Some(of) = of else {
            return;
        };
        let of = self.text(of);
        let mut cursor = node.walk();
        let declarators: Vec<_> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        for mut declarator in declarators {
            while let Some(inner) = declarator.child_by_field_name("declarator") {
                declarator = inner;
            }
            if declarator.kind() == "identifier" {
                let name = self.text(declarator);
                self.variables.push((name.into(), of.into()));
            }
        }
    }

    fn if_statement(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let field = |name| node.child_by_field_name(name);
        let (consequence, alternative) = (field("consequence"), field("alternative"));
        let no = alternative.map_or(next, |part| self.statement(part, next));
        let yes = consequence.map_or(next, |part| self.statement(part, next));
        let Some(condition) = field("condition") else {
            return yes;
        };
        let fails = consequence.is_some_and(|part| self.fails(part));
        let fails_else = alternative.is_some_and(|part| self.fails(part));
        let weak = match (fails, fails_else) {
            (true, false) => crate::body::Hint::No,
            (false, true) => crate::body::Hint::Yes,
            _ => crate::body::Hint::Open,
        };
        self.condition(condition, (yes, no), Leaning::weak(weak))
    }

    fn head(&mut self, node: Syntax<'_>, text: String, exit: NodeId) -> NodeId {
        let text = text.into();
        let line = self.line(node);
        self.add(Node::Loop {
            text,
            line,
            next: exit,
            exit,
        })
    }

    fn looped(&mut self, body: Option<Syntax<'_>>, again: NodeId, exit: NodeId) -> NodeId {
        self.breaks.push(exit);
        self.continues.push(again);
        let entry = body.map_or(again, |body| self.statement(body, again));
        self.breaks.pop();
        self.continues.pop();
        entry
    }

    fn while_loop(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let condition = node.child_by_field_name("condition");
        let text = condition.map_or_else(Box::default, |condition| self.tidy(condition));
        let head = self.head(node, format!("while {text}"), next);
        let body = self.looped(node.child_by_field_name("body"), head, next);
        let entry = match condition {
            Some(condition) => self.condition(condition, (body, next), Leaning::repeats()),
            None => body,
        };
        self.set_next(head, entry);
        head
    }

    fn do_loop(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let condition = node.child_by_field_name("condition");
        let text = condition.map_or_else(Box::default, |condition| self.tidy(condition));
        let body = node.child_by_field_name("body");
        let plain = text.trim_matches(['(', ')', ' ']);
        if plain == "0" {
            // A block that can be left by `break`.
            return self.looped(body, next, next);
        }
        let head = self.head(node, format!("do while {text}"), next);
        let tail = match condition {
            Some(condition) => self.condition(condition, (head, next), Leaning::repeats()),
            None => head,
        };
        let entry = self.looped(body, tail, next);
        self.set_next(head, entry);
        head
    }

    fn for_loop(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        let field = |name| node.child_by_field_name(name);
        let part =
            |graph: &Self, name| field(name).map_or_else(Box::default, |part| graph.tidy(part));
        let first = part(self, "initializer");
        let first = first.trim_end_matches(';');
        let text = format!(
            "for ({first};{};{})",
            part(self, "condition"),
            part(self, "update")
        );
        let head = self.head(node, text, next);
        let again = field("update").map_or(head, |update| self.value(update, head));
        let body = self.looped(field("body"), again, next);
        let entry = match field("condition") {
            Some(condition) => self.condition(condition, (body, next), Leaning::repeats()),
            None => body,
        };
        self.set_next(head, entry);
        field("initializer").map_or(head, |first| self.statement(first, head))
    }

    fn switch(&mut self, node: Syntax<'_>, next: NodeId) -> NodeId {
        self.breaks.push(next);
        self.switches.push(Arms::default());
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body, next);
        }
        self.breaks.pop();
        let mut found = self.switches.pop().unwrap_or_default();
        found.arms.reverse();
        let Some(condition) = node.child_by_field_name("condition") else {
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
        let value = node.child_by_field_name("value");
        let mut cursor = node.walk();
        let parts: Vec<_> = node
            .named_children(&mut cursor)
            .filter(|part| Some(part.id()) != value.map(|value| value.id()))
            .collect();
        let entry = parts
            .into_iter()
            .rev()
            .fold(next, |next, part| self.statement(part, next));
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
