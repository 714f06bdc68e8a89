// SPDX-License-Identifier: GPL-2.0-or-later
//! The graphs of functions, with names resolved and facts attached.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::body::{Body, Callee, EXIT, Hint, Node, NodeId, squeeze};
use crate::config::Config;
use crate::facts::{Fact, Of};
use crate::framework::{Cuts, Framework};
use crate::load::Bodies;
use crate::program::{FunctionId, View};
use crate::reach::leading_to;

/// A fact: an index of all facts about code.
pub(crate) type FactId = u16;

/// A step of a function, as [`Node`] with what is known of it.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Exit,
    Pass(NodeId),
    Call {
        targets: Vec<FunctionId>,
        /// Functions that are passed and may be called back, with facts about that.
        passed: Vec<(FunctionId, Vec<FactId>)>,
        facts: Vec<FactId>,
        next: NodeId,
    },
    Branch {
        hint: Hint,
        repeats: bool,
        /// Its value, if it is the same on every path.
        constant: Option<bool>,
        facts: Vec<FactId>,
        yes: NodeId,
        no: NodeId,
    },
    Switch {
        arms: Box<[(Box<str>, NodeId)]>,
        other: NodeId,
        facts: Vec<FactId>,
    },
    /// A label or the head of a loop; the latter knows what comes behind the loop.
    Head {
        facts: Vec<FactId>,
        next: NodeId,
        exit: Option<NodeId>,
    },
}

impl Step {
    pub(crate) fn successors(&self) -> Vec<NodeId> {
        match self {
            Step::Exit => Vec::new(),
            Step::Pass(next) | Step::Call { next, .. } | Step::Head { next, .. } => vec![*next],
            Step::Branch { yes, no, .. } => vec![*yes, *no],
            Step::Switch { arms, other, .. } => {
                arms.iter().map(|arm| arm.1).chain([*other]).collect()
            }
        }
    }

    /// What it may call, and functions that are passed, with facts about their being called
    /// back.
    fn calls(&self) -> (&[FunctionId], &[(FunctionId, Vec<FactId>)]) {
        match self {
            Step::Call {
                targets, passed, ..
            } => (targets, passed),
            _ => (&[], &[]),
        }
    }

    pub(crate) fn callees(&self) -> impl Iterator<Item = FunctionId> {
        let (targets, passed) = self.calls();
        targets
            .iter()
            .chain(passed.iter().map(|(to, _)| to))
            .copied()
    }

    /// Facts about it and about what it passes.
    pub(crate) fn all_facts(&self) -> impl Iterator<Item = FactId> {
        let passed = self.calls().1.iter().flat_map(|(_, facts)| facts);
        self.facts().iter().chain(passed).copied()
    }

    pub(crate) fn facts(&self) -> &[FactId] {
        match self {
            Step::Call { facts, .. }
            | Step::Branch { facts, .. }
            | Step::Switch { facts, .. }
            | Step::Head { facts, .. } => facts,
            Step::Exit | Step::Pass(_) => &[],
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Linked {
    pub(crate) steps: Vec<Step>,
    pub(crate) entry: NodeId,
}

impl Linked {
    /// Leads every way past the steps that lead to no hook.
    fn shorten(&mut self) {
        let past = past(&self.steps);
        let lead = |to: &mut NodeId| *to = past.get(*to as usize).copied().unwrap_or(EXIT);
        lead(&mut self.entry);
        for step in &mut self.steps {
            match step {
                Step::Exit => {}
                Step::Pass(next) | Step::Call { next, .. } => lead(next),
                Step::Head { next, exit, .. } => exit.iter_mut().chain([next]).for_each(lead),
                Step::Branch { yes, no, .. } => [yes, no].into_iter().for_each(lead),
                Step::Switch { arms, other, .. } => {
                    let arms = arms.iter_mut().map(|arm| &mut arm.1);
                    arms.chain([other]).for_each(lead);
                }
            }
        }
    }
}

/// For each step, the first one from there on that is not [`Step::Pass`].
fn past(steps: &[Step]) -> Vec<NodeId> {
    let mut past: Vec<Option<NodeId>> = vec![None; steps.len()];
    for from in (0..).take(steps.len()) {
        let (mut at, mut passed) = (from, Vec::new());
        let end = loop {
            match (past.get(at as usize), steps.get(at as usize)) {
                (Some(Some(end)), _) => break *end,
                (_, Some(Step::Pass(next))) => {
                    // What leads back to itself ends there.
                    past[at as usize] = Some(EXIT);
                    passed.push(at);
                    at = *next;
                }
                _ => break at,
            }
        };
        for at in passed {
            past[at as usize] = Some(end);
        }
        past[from as usize] = Some(end);
    }
    past.into_iter().map(|end| end.unwrap_or(EXIT)).collect()
}

/// The functions between system calls and hooks, linked.
#[derive(Default)]
pub(crate) struct Graphs {
    pub(crate) functions: FxHashMap<FunctionId, Linked>,
    pub(crate) matched: FxHashSet<FactId>,
}

pub(crate) struct Linker<'x, 'p, 'a> {
    pub(crate) view: &'x View<'p, 'a>,
    pub(crate) framework: &'x Framework,
    pub(crate) cuts: &'x Cuts,
    pub(crate) config: &'x Config,
    pub(crate) facts: &'x [Fact],
    pub(crate) bodies: &'x [Bodies],
}

impl Linker<'_, '_, '_> {
    /// Links the functions that were kept, and drops what leads to no hook after all.
    pub(crate) fn link(&self, kept: &[FunctionId]) -> Graphs {
        let mut graphs = Graphs::default();
        let all: FxHashSet<FunctionId> = kept.iter().copied().collect();
        for &id in kept {
            if let Some(body) = self.view.program.body(self.bodies, id) {
                let linked = self.function(id, body, &all, &mut graphs.matched);
                graphs.functions.insert(id, linked);
            }
        }
        self.drop_idle(&mut graphs.functions);
        graphs
    }

    /// Matches the facts about functions that were parsed but are not kept.
    pub(crate) fn match_facts(&self, ids: &[FunctionId], matched: &mut FxHashSet<FactId>) {
        for &id in ids {
            if let Some(body) = self.view.program.body(self.bodies, id) {
                self.function(id, body, &FxHashSet::default(), matched);
            }
        }
    }

    fn function(
        &self,
        id: FunctionId,
        body: &Body,
        kept: &FxHashSet<FunctionId>,
        matched: &mut FxHashSet<FactId>,
    ) -> Linked {
        let mut matcher = Matcher::new(self, id, body, matched);
        let mut step = |(at, node): (usize, &Node)| match node {
            Node::Exit => Step::Exit,
            Node::Call {
                callee,
                passed,
                next,
                ..
            } => {
                let mut targets = self.callees(id, body, callee);
                targets.retain(|to| kept.contains(to));
                let facts = matcher.facts(at, &[Of::Call, Of::Nest], callee.name());
                let mut called_back = Vec::new();
                for name in passed {
                    if let Some(to) = self.passed(id, body, name) {
                        called_back.push((to, matcher.facts(at, &[Of::Callback], name)));
                    }
                }
                called_back.retain(|(to, _)| kept.contains(to) && !targets.contains(to));
                if targets.is_empty() && called_back.is_empty() {
                    return Step::Pass(*next);
                }
                Step::Call {
                    targets,
                    passed: called_back,
                    facts,
                    next: *next,
                }
            }
            Node::Branch {
                text,
                hint,
                repeats,
                tests,
                yes,
                no,
            } => Step::Branch {
                hint: *hint,
                repeats: *repeats,
                constant: self.constant(id, body, text, tests.as_ref()),
                facts: matcher.facts(at, &[Of::Branch], text),
                yes: *yes,
                no: *no,
            },
            Node::Switch { text, arms, other } => Step::Switch {
                arms: arms.clone(),
                other: *other,
                facts: matcher.facts(at, &[Of::Switch], text),
            },
            Node::Head {
                text, next, exit, ..
            } => Step::Head {
                facts: matcher.facts(at, &[Of::Loop], text),
                next: *next,
                exit: *exit,
            },
        };
        Linked {
            steps: body.nodes.iter().enumerate().map(&mut step).collect(),
            entry: body.entry,
        }
    }

    /// The value of a condition that is always the same: a configuration option, or a
    /// pointer that tables set, or do not set.
    fn constant(
        &self,
        id: FunctionId,
        body: &Body,
        text: &str,
        tests: Option<&Callee>,
    ) -> Option<bool> {
        for start in ["IS_ENABLED(", "IS_BUILTIN(", "IS_REACHABLE("] {
            let option = text.strip_prefix(start);
            if let Some(option) = option.and_then(|rest| rest.strip_suffix(')')) {
                return Some(self.config.is_defined(option));
            }
        }
        let Some(Callee::Member { member, of }) = tests else {
            return None;
        };
        let name = self.view.program.id(member)?;
        let types = self.types(body, of);
        if types.is_empty() {
            return None;
        }
        let known = self.view.targets(name, &types)?;
        let called = known.iter().any(|&to| !self.is_cut(id, to));
        // The success path is that of a regular file, if there is such a table of one.
        let success_path = self.view.regular_sets(name, &types) != Some(false);
        (known.is_empty() || (called && success_path)).then_some(!known.is_empty())
    }

    /// The structs that a variable or member can be.
    fn types(&self, body: &Body, of: &str) -> Vec<u32> {
        let program = self.view.program;
        let variable = body.variables.iter().rev().find(|(name, _)| **name == *of);
        match variable {
            Some((_, of)) => program.id(of).into_iter().collect(),
            None => program
                .id(of)
                .map_or_else(Vec::new, |of| self.view.types_of_member(of).to_vec()),
        }
    }

    fn callees(&self, id: FunctionId, body: &Body, callee: &Callee) -> Vec<FunctionId> {
        let mut found = match callee {
            Callee::Name(name) => match self.resolve(id, name) {
                Some(to) => vec![to],
                None => self.held(id, body, name),
            },
            Callee::Member { member, of } => self.of_member(body, member, of),
        };
        found.retain(|&to| !self.is_cut(id, to));
        found
    }

    fn of_member(&self, body: &Body, member: &str, of: &str) -> Vec<FunctionId> {
        let types = self.types(body, of);
        let member = self.view.program.id(member);
        let targets = member.and_then(|member| self.view.targets(member, &types));
        targets.unwrap_or_default()
    }

    /// The functions that a variable holds, as far as it is assigned names and members.
    fn held(&self, id: FunctionId, body: &Body, name: &str) -> Vec<FunctionId> {
        let mut found = Vec::new();
        for (_, value) in body.assigned.iter().filter(|(of, _)| **of == *name) {
            let Some((before, member)) = value.rsplit_once("->") else {
                found.extend(self.resolve(id, value));
                continue;
            };
            let of = before.rsplit_once("->").map_or(before, |(_, of)| of);
            for to in self.of_member(body, member, of) {
                if !found.contains(&to) {
                    found.push(to);
                }
            }
        }
        found
    }

    /// The function that a name means in another function, unless it is not followed there.
    fn resolve(&self, id: FunctionId, name: &str) -> Option<FunctionId> {
        let place = self.view.program.functions[id as usize];
        let name = self.view.program.id(name)?;
        if self.cuts.is_cut(name, place.name) {
            return None;
        }
        self.view.resolve(name, place.file)
    }

    fn is_cut(&self, from: FunctionId, to: FunctionId) -> bool {
        let functions = &self.view.program.functions;
        let (from, to) = (functions[from as usize], functions[to as usize]);
        self.cuts.is_cut(to.name, from.name) || self.cuts.is_apart(from.file, to.file)
    }

    /// The function that is passed as an argument, if it is one.
    fn passed(&self, id: FunctionId, body: &Body, name: &str) -> Option<FunctionId> {
        let mut variables = body.variables.iter();
        // The framework names the hook that it calls.
        if variables.any(|(variable, _)| **variable == *name)
            || self.framework.of_function.contains_key(&id)
        {
            return None;
        }
        let to = self.resolve(id, name)?;
        let kind = self.view.program.functions[to as usize].kind;
        (kind.is_plain() && !self.is_cut(id, to)).then_some(to)
    }

    /// Drops calls of functions that lead to no hook.
    fn drop_idle(&self, functions: &mut FxHashMap<FunctionId, Linked>) {
        let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
        for (&id, linked) in functions.iter() {
            for to in linked.steps.iter().flat_map(Step::callees) {
                callers.entry(to).or_default().push(id);
            }
        }
        let hooks = functions.keys().copied();
        let busy = leading_to(hooks.filter(|&id| self.framework.is_hook(id)), &callers);
        functions.retain(|id, _| busy.contains(id));
        for linked in functions.values_mut() {
            for step in &mut linked.steps {
                if let Step::Call {
                    targets,
                    passed,
                    next,
                    ..
                } = step
                {
                    targets.retain(|to| busy.contains(to));
                    passed.retain(|(to, _)| busy.contains(to));
                    if targets.is_empty() && passed.is_empty() {
                        *step = Step::Pass(*next);
                    }
                }
            }
            linked.shorten();
        }
    }
}

/// The facts about a function, to be matched with its code.
struct Matcher<'m> {
    /// Each with its code, without blanks.
    facts: Vec<(FactId, &'m Fact, Vec<String>)>,
    /// Which of several equal pieces of code each node is, from 1.
    nth: Vec<u32>,
    matched: &'m mut FxHashSet<FactId>,
}

impl<'m> Matcher<'m> {
    fn new(
        linker: &Linker<'m, '_, '_>,
        id: FunctionId,
        body: &Body,
        matched: &'m mut FxHashSet<FactId>,
    ) -> Self {
        let (name, path) = (linker.view.program.name(id), linker.view.program.path(id));
        let of = |fact: &Fact| {
            fact.function.iter().any(|f| f == name)
                && fact.file.iter().any(|f| f == path)
                && body.has_any(&fact.beside)
        };
        let code = |fact: &Fact| fact.code.iter().map(|code| squeeze(code)).collect();
        let facts = (0u16..).zip(linker.facts).filter(|(_, fact)| of(fact));
        let facts: Vec<_> = facts.map(|(id, fact)| (id, fact, code(fact))).collect();
        let mut nth = vec![0; body.nodes.len()];
        if facts.iter().any(|(_, fact, _)| fact.nth.is_some()) {
            let mut seen: FxHashMap<String, u32> = FxHashMap::default();
            // Nodes are made from the end of a function.
            for (at, node) in body.nodes.iter().enumerate().rev() {
                if let Some(text) = node.text() {
                    let count = seen.entry(squeeze(text)).or_default();
                    *count += 1;
                    nth[at] = *count;
                }
            }
        }
        Self {
            facts,
            nth,
            matched,
        }
    }

    /// The facts of some kinds about a piece of code at a node.
    fn facts(&mut self, at: usize, of: &[Of], text: &str) -> Vec<FactId> {
        if self.facts.is_empty() {
            return Vec::new();
        }
        let text = squeeze(text);
        let applies = |(_, fact, codes): &&(FactId, &Fact, Vec<String>)| {
            of.contains(&fact.of)
                && codes.contains(&text)
                && fact.nth.is_none_or(|wanted| wanted == self.nth[at])
        };
        let found: Vec<FactId> = self
            .facts
            .iter()
            .filter(applies)
            .map(|fact| fact.0)
            .collect();
        self.matched.extend(&found);
        found
    }
}
