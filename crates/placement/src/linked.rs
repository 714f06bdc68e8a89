// SPDX-License-Identifier: GPL-2.0-or-later

use rustc_hash::{FxHashMap, FxHashSet};

use crate::body::{Body, Callee, EXIT, Hint, Node, NodeId, squeeze};
use crate::config::Config;
use crate::facts::{Fact, FactKind};
use crate::framework::{Cuts, Framework};
use crate::layers::Layers;
use crate::load::Bodies;
use crate::program::{FunctionId, View};
use crate::reach::leading_to;

pub(crate) type FactId = u16;

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Exit,
    Pass(NodeId),
    Call {
        targets: Vec<FunctionId>,
        /// Functions passed as arguments that may be called back, with their facts.
        passed: Vec<(FunctionId, Vec<FactId>)>,
        facts: Vec<FactId>,
        next: NodeId,
    },
    Branch {
        hint: Hint,
        repeats: bool,
        /// The condition's value, if it is always the same.
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
    /// A loop's head, with its exit, or a label.
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
    /// Skips steps that lead to no hook.
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

/// For each step, the first step from there on that is not [`Step::Pass`].
fn past(steps: &[Step]) -> Vec<NodeId> {
    let mut past: Vec<Option<NodeId>> = vec![None; steps.len()];
    for from in (0..).take(steps.len()) {
        let (mut at, mut passed) = (from, Vec::new());
        let end = loop {
            match (past.get(at as usize), steps.get(at as usize)) {
                (Some(Some(end)), _) => break *end,
                (_, Some(Step::Pass(next))) => {
                    // A cycle of passes ends at the exit.
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

#[derive(Default)]
pub(crate) struct Graphs {
    pub(crate) functions: FxHashMap<FunctionId, Linked>,
    pub(crate) matched: FxHashSet<FactId>,
}

pub(crate) struct Linker<'x, 'p, 'a> {
    pub(crate) layers: &'x Layers<'p, 'a>,
    pub(crate) framework: &'x Framework,
    pub(crate) cuts: &'x Cuts,
    pub(crate) config: &'x Config,
    pub(crate) facts: &'x [Fact],
    pub(crate) bodies: &'x [Bodies],
}

impl Linker<'_, '_, '_> {
    /// Links the kept functions and drops those that lead to no hook.
    pub(crate) fn link(&self, kept: &[FunctionId]) -> Graphs {
        let mut graphs = Graphs::default();
        let all: FxHashSet<FunctionId> = kept.iter().copied().collect();
        for &id in kept {
            if let Some(body) = self.layers.program.body(self.bodies, id) {
                let linked = self.function(id, body, &all, &mut graphs.matched);
                graphs.functions.insert(id, linked);
            }
        }
        self.drop_idle(&mut graphs.functions);
        graphs
    }

    pub(crate) fn match_facts(&self, ids: &[FunctionId], matched: &mut FxHashSet<FactId>) {
        for &id in ids {
            if let Some(body) = self.layers.program.body(self.bodies, id) {
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
                let facts = matcher.facts(at, &[FactKind::Call, FactKind::Nest], callee.name());
                let mut called_back = Vec::new();
                for name in passed {
                    for to in self.passed(id, body, name) {
                        called_back.push((to, matcher.facts(at, &[FactKind::Callback], name)));
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
                facts: matcher.facts(at, &[FactKind::Branch], text),
                yes: *yes,
                no: *no,
            },
            Node::Switch { text, arms, other } => Step::Switch {
                arms: arms.clone(),
                other: *other,
                facts: matcher.facts(at, &[FactKind::Switch], text),
            },
            Node::Head {
                text, next, exit, ..
            } => Step::Head {
                facts: matcher.facts(at, &[FactKind::Loop], text),
                next: *next,
                exit: *exit,
            },
        };
        Linked {
            steps: body.nodes.iter().enumerate().map(&mut step).collect(),
            entry: body.entry,
        }
    }

    /// Constant conditions: configuration options, and pointers that tables set or leave unset.
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
        let Some(Callee::Member { member, owner }) = tests else {
            return None;
        };
        let name = self.layers.program.id(member)?;
        let types = self.types(id, body, owner);
        if types.is_empty() {
            return None;
        }
        let constant = |view: &View<'_, '_>| {
            let known = view.targets(name, &types)?;
            let called = known.iter().any(|&to| !self.is_cut(id, to));
            // The success path is a regular file's, if it has such a table.
            let success_path = view.regular_sets(name, &types) != Some(false);
            (known.is_empty() || (called && success_path)).then_some(!known.is_empty())
        };
        let mut all = self.layers.pointed(id, name).iter().map(constant);
        let first = all.next().flatten();
        first.filter(|_| all.all(|other| other == first))
    }

    fn types(&self, id: FunctionId, body: &Body, owner: &str) -> Vec<u32> {
        let program = self.layers.program;
        let mut variables = body.variables.iter().rev();
        match variables.find(|(name, _)| **name == *owner) {
            Some((_, structure)) => program.id(structure).into_iter().collect(),
            None => program.id(owner).map_or_else(Vec::new, |owner| {
                self.layers.types_of_member(id, owner).to_vec()
            }),
        }
    }

    fn callees(&self, id: FunctionId, body: &Body, callee: &Callee) -> Vec<FunctionId> {
        let mut found = match callee {
            Callee::Name(name) => {
                let named: Vec<_> = self.resolve(id, name).collect();
                if named.is_empty() {
                    self.held(id, body, name)
                } else {
                    named
                }
            }
            Callee::Member { member, owner } => self.of_member(id, body, member, owner),
        };
        found.retain(|&to| !self.is_cut(id, to));
        found
    }

    fn of_member(&self, id: FunctionId, body: &Body, member: &str, owner: &str) -> Vec<FunctionId> {
        let types = self.types(id, body, owner);
        let member = self.layers.program.id(member);
        let targets = member.and_then(|member| self.layers.targets(id, member, &types));
        targets.unwrap_or_default()
    }

    /// Only values that are names or members are followed.
    fn held(&self, id: FunctionId, body: &Body, name: &str) -> Vec<FunctionId> {
        let mut found = Vec::new();
        let assigned = body.assigned.iter();
        for (_, value) in assigned.filter(|(variable, _)| **variable == *name) {
            let Some((before, member)) = value.rsplit_once("->") else {
                found.extend(self.resolve(id, value));
                continue;
            };
            let owner = before.rsplit_once("->").map_or(before, |(_, owner)| owner);
            for to in self.of_member(id, body, member, owner) {
                if !found.contains(&to) {
                    found.push(to);
                }
            }
        }
        found
    }

    /// Empty if the call is not followed.
    fn resolve(&self, id: FunctionId, name: &str) -> impl Iterator<Item = FunctionId> + use<> {
        let place = self.layers.program.functions[id as usize];
        let name = self.layers.program.id(name);
        let followed = name.filter(|&name| !self.cuts.is_cut(name, place.name));
        let found = followed.map(|name| self.layers.resolve(id, name));
        found.into_iter().flatten()
    }

    fn is_cut(&self, from: FunctionId, to: FunctionId) -> bool {
        let functions = &self.layers.program.functions;
        let (from, to) = (functions[from as usize], functions[to as usize]);
        self.cuts.is_cut(to.name, from.name) || self.cuts.is_apart(from.file, to.file)
    }

    fn passed(&self, id: FunctionId, body: &Body, name: &str) -> Vec<FunctionId> {
        let mut variables = body.variables.iter();
        // The framework passes the name of the hook that it calls.
        if variables.any(|(variable, _)| **variable == *name)
            || self.framework.of_function.contains_key(&id)
        {
            return Vec::new();
        }
        let functions = &self.layers.program.functions;
        let plain = |to: &FunctionId| functions[*to as usize].kind.is_plain();
        let found = self.resolve(id, name).filter(plain);
        found.filter(|&to| !self.is_cut(id, to)).collect()
    }

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

struct Matcher<'m> {
    /// The facts, each with its code without blanks.
    facts: Vec<(FactId, &'m Fact, Vec<String>)>,
    /// For each node, which of several equal pieces it is, counted from 1.
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
        let program = linker.layers.program;
        let (name, path) = (program.name(id), program.path(id));
        let applies = |fact: &Fact| {
            fact.function.iter().any(|f| f == name)
                && fact.file.iter().any(|f| f == path)
                && body.has_any(&fact.beside)
        };
        let code = |fact: &Fact| fact.code.iter().map(|code| squeeze(code)).collect();
        let facts = (0u16..).zip(linker.facts).filter(|(_, fact)| applies(fact));
        let facts: Vec<_> = facts.map(|(id, fact)| (id, fact, code(fact))).collect();
        let mut nth = vec![0; body.nodes.len()];
        if facts.iter().any(|(_, fact, _)| fact.nth.is_some()) {
            let mut seen: FxHashMap<String, u32> = FxHashMap::default();
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

    fn facts(&mut self, at: usize, kinds: &[FactKind], text: &str) -> Vec<FactId> {
        if self.facts.is_empty() {
            return Vec::new();
        }
        let text = squeeze(text);
        let applies = |(_, fact, codes): &&(FactId, &Fact, Vec<String>)| {
            kinds.contains(&fact.kind)
                && codes.contains(&text)
                && fact.nth.is_none_or(|wanted| wanted == self.nth[at])
        };
        let found = self.facts.iter().filter(applies);
        let found: Vec<FactId> = found.map(|fact| fact.0).collect();
        self.matched.extend(&found);
        found
    }
}
