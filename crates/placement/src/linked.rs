// SPDX-License-Identifier: GPL-2.0-or-later
//! The graphs of functions, with names resolved and facts attached.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::body::{Body, Callee, EXIT, Hint, Node, NodeId, squeeze};
use crate::config::Config;
use crate::facts::{Fact, Of};
use crate::framework::{Cuts, Framework};
use crate::load::Bodies;
use crate::program::{FunctionId, View};
use crate::scan::Kind;

/// A fact: an index of all facts about code.
pub(crate) type FactId = u16;

/// A step of a function, as [`Node`] with what is known of it.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Exit,
    /// Of no interest.
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
        /// What it is on every path.
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

    /// Facts about it and about what it passes.
    pub(crate) fn all_facts(&self) -> Vec<FactId> {
        let mut facts = self.facts().to_vec();
        if let Step::Call { passed, .. } = self {
            facts.extend(passed.iter().flat_map(|(_, facts)| facts));
        }
        facts
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

/// A function, linked.
#[derive(Debug, Clone)]
pub(crate) struct Linked {
    pub(crate) steps: Vec<Step>,
    pub(crate) entry: NodeId,
}

impl Linked {
    /// Leads every way past the steps that are of no interest.
    fn shorten(&mut self) {
        let steps = &self.steps;
        let past: Vec<NodeId> = (0..).take(steps.len()).map(|at| past(steps, at)).collect();
        let lead = |to: &mut NodeId| *to = past.get(*to as usize).copied().unwrap_or(EXIT);
        lead(&mut self.entry);
        for step in &mut self.steps {
            match step {
                Step::Exit => {}
                Step::Pass(next) | Step::Call { next, .. } => lead(next),
                Step::Head { next, exit, .. } => {
                    lead(next);
                    exit.as_mut().map(lead);
                }
                Step::Branch { yes, no, .. } => {
                    lead(yes);
                    lead(no);
                }
                Step::Switch { arms, other, .. } => {
                    arms.iter_mut().for_each(|arm| lead(&mut arm.1));
                    lead(other);
                }
            }
        }
    }
}

/// The first step of interest from here on.
fn past(steps: &[Step], from: NodeId) -> NodeId {
    let mut at = from;
    for _ in 0..steps.len() {
        match steps.get(at as usize) {
            Some(Step::Pass(next)) => at = *next,
            _ => return at,
        }
    }
    EXIT
}

/// The functions between system calls and hooks, linked.
pub(crate) struct Graphs {
    pub(crate) functions: FxHashMap<FunctionId, Linked>,
    /// Facts that matched something.
    pub(crate) matched: FxHashSet<FactId>,
}

/// What linking needs.
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
        let mut graphs = Graphs {
            functions: FxHashMap::default(),
            matched: FxHashSet::default(),
        };
        let all: FxHashSet<FunctionId> = kept.iter().copied().collect();
        for &id in kept {
            let place = self.view.program.functions[id as usize];
            if let Some(body) = self.bodies[place.file as usize].get(&place.index) {
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
            let place = self.view.program.functions[id as usize];
            if let Some(body) = self.bodies[place.file as usize].get(&place.index) {
                self.function(id, body, &FxHashSet::default(), matched);
            }
        }
    }

    fn facts_of(&self, id: FunctionId, body: &Body) -> Vec<(FactId, Vec<String>)> {
        let (name, path) = (self.view.program.name(id), self.view.program.path(id));
        let of = |fact: &Fact| {
            fact.function.iter().any(|f| f == name) && fact.file.iter().any(|f| f == path)
        };
        let facts = (0u16..)
            .zip(self.facts)
            .filter(|(_, fact)| of(fact) && body.has_any(&fact.beside));
        facts
            .map(|(id, fact)| (id, fact.code.iter().map(|code| squeeze(code)).collect()))
            .collect()
    }

    fn function(
        &self,
        id: FunctionId,
        body: &Body,
        kept: &FxHashSet<FunctionId>,
        matched: &mut FxHashSet<FactId>,
    ) -> Linked {
        let facts = self.facts_of(id, body);
        // Which of its kind each piece is: nodes are made from the end of a function.
        let mut seen: FxHashMap<String, u32> = FxHashMap::default();
        let mut nth: Vec<u32> = vec![0; body.nodes.len()];
        if facts
            .iter()
            .any(|(id, _)| self.facts[usize::from(*id)].nth.is_some())
        {
            for (at, node) in body.nodes.iter().enumerate().rev() {
                if let Some(text) = node.text() {
                    let count = seen.entry(squeeze(text)).or_default();
                    *count += 1;
                    nth[at] = *count;
                }
            }
        }
        let mut find = |at: usize, of: &[Of], text: &str| -> Vec<FactId> {
            if facts.is_empty() {
                return Vec::new();
            }
            let text = squeeze(text);
            let found: Vec<FactId> = facts
                .iter()
                .filter(|(id, codes)| {
                    let fact = &self.facts[usize::from(*id)];
                    of.contains(&fact.of)
                        && codes.contains(&text)
                        && fact.nth.is_none_or(|wanted| wanted == nth[at])
                })
                .map(|(id, _)| *id)
                .collect();
            matched.extend(found.iter().copied());
            found
        };
        let steps = body
            .nodes
            .iter()
            .enumerate()
            .map(|(at, node)| match node {
                Node::Exit => Step::Exit,
                Node::Call {
                    callee,
                    passed,
                    next,
                    ..
                } => {
                    let text = node.text().unwrap_or_default();
                    let facts = find(at, &[Of::Call, Of::Nest], text);
                    let mut targets = self.callees(id, body, callee);
                    targets.retain(|to| kept.contains(to));
                    let mut passed: Vec<_> = passed
                        .iter()
                        .filter_map(|name| {
                            Some((
                                self.passed(id, body, name)?,
                                find(at, &[Of::Callback], name),
                            ))
                        })
                        .collect();
                    passed.retain(|(to, _)| kept.contains(to) && !targets.contains(to));
                    if targets.is_empty() && passed.is_empty() {
                        return Step::Pass(*next);
                    }
                    let next = *next;
                    Step::Call {
                        targets,
                        passed,
                        facts,
                        next,
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
                    facts: find(at, &[Of::Branch], text),
                    yes: *yes,
                    no: *no,
                },
                Node::Switch { text, arms, other } => Step::Switch {
                    arms: arms.clone(),
                    other: *other,
                    facts: find(at, &[Of::Switch], text),
                },
                Node::Label { text, next, .. } => Step::Head {
                    facts: find(at, &[Of::Loop], text),
                    next: *next,
                    exit: None,
                },
                Node::Loop {
                    text, next, exit, ..
                } => Step::Head {
                    facts: find(at, &[Of::Loop], text),
                    next: *next,
                    exit: Some(*exit),
                },
            })
            .collect();
        let entry = body.entry;
        Linked { steps, entry }
    }

    /// What a condition is whatever happens: an option, or a table that sets a pointer or
    /// does not.
    fn constant(
        &self,
        id: FunctionId,
        body: &Body,
        text: &str,
        tests: Option<&Callee>,
    ) -> Option<bool> {
        for start in ["IS_ENABLED(", "IS_BUILTIN(", "IS_REACHABLE("] {
            if let Some(option) = text
                .strip_prefix(start)
                .and_then(|rest| rest.strip_suffix(')'))
            {
                return Some(self.config.is_defined(option));
            }
        }
        let Some(Callee::Member { member, of }) = tests else {
            return None;
        };
        let name = self.view.program.id(member)?;
        let types = self.types(body, of);
        let known = (!types.is_empty())
            .then(|| self.view.targets(name, &types))
            .flatten()?;
        let called = known.iter().any(|&to| !self.is_cut(id, to));
        // A regular file is what is at hand, if it has such a table at all.
        let nominal = self.view.regular_sets(name, &types) != Some(false);
        (known.is_empty() || (called && nominal)).then_some(!known.is_empty())
    }

    /// The structs that a variable or member can be.
    fn types(&self, body: &Body, of: &str) -> Vec<u32> {
        let program = self.view.program;
        let variable = body.variables.iter().rev().find(|(name, _)| **name == *of);
        match variable {
            Some((_, of)) => program.id(of).into_iter().collect(),
            None => program
                .id(of)
                .map_or_else(Vec::new, |of| program.types_of_member(of).to_vec()),
        }
    }

    fn callees(&self, id: FunctionId, body: &Body, callee: &Callee) -> Vec<FunctionId> {
        let program = self.view.program;
        let place = program.functions[id as usize];
        let found = match callee {
            Callee::Name(name) => {
                let name = program
                    .id(name)
                    .filter(|&name| !self.cuts.is_cut(name, place.name));
                name.and_then(|name| self.view.resolve(name, place.file))
                    .into_iter()
                    .collect()
            }
            Callee::Member { member, of } => {
                let types = self.types(body, of);
                program
                    .id(member)
                    .and_then(|member| self.view.targets(member, &types))
                    .unwrap_or_default()
            }
        };
        found
            .into_iter()
            .filter(|&to| !self.is_cut(id, to))
            .collect()
    }

    fn is_cut(&self, from: FunctionId, to: FunctionId) -> bool {
        let functions = &self.view.program.functions;
        let (from, to) = (functions[from as usize], functions[to as usize]);
        self.cuts.is_cut(to.name, from.name) || self.cuts.is_apart(from.file, to.file)
    }

    fn passed(&self, id: FunctionId, body: &Body, name: &str) -> Option<FunctionId> {
        let program = self.view.program;
        let place = program.functions[id as usize];
        let variable = body
            .variables
            .iter()
            .any(|(variable, _)| **variable == *name);
        // The framework names the hook that it calls.
        if variable || self.framework.of_function.contains_key(&id) {
            return None;
        }
        let name = program
            .id(name)
            .filter(|&name| !self.cuts.is_cut(name, place.name))?;
        let to = self.view.resolve(name, place.file)?;
        let kind = program.functions[to as usize].kind;
        (matches!(kind, Kind::Static | Kind::Global) && !self.is_cut(id, to)).then_some(to)
    }

    /// Drops calls of functions that lead to no hook.
    fn drop_idle(&self, functions: &mut FxHashMap<FunctionId, Linked>) {
        let framework = self.framework;
        let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
        for (&id, linked) in functions.iter() {
            for step in &linked.steps {
                if let Step::Call {
                    targets, passed, ..
                } = step
                {
                    for &to in targets.iter().chain(passed.iter().map(|(to, _)| to)) {
                        callers.entry(to).or_default().push(id);
                    }
                }
            }
        }
        let is_hook = |id: &FunctionId| {
            framework.of_function.contains_key(id) || framework.direct.contains_key(id)
        };
        let mut queue: Vec<_> = functions.keys().copied().filter(is_hook).collect();
        let mut busy: FxHashSet<_> = queue.iter().copied().collect();
        while let Some(id) = queue.pop() {
            for &caller in callers.get(&id).into_iter().flatten() {
                if busy.insert(caller) {
                    queue.push(caller);
                }
            }
        }
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
