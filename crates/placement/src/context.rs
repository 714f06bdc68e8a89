// SPDX-License-Identifier: GPL-2.0-or-later
//! The part of the call string that facts refer to.

use rustc_hash::FxHashMap;

use crate::Count;
use crate::body::NodeId;
use crate::facts::{Fact, FactKind, MAX_NESTS};
use crate::framework::{Cuts, Framework};
use crate::graph::leads;
use crate::linked::{FactId, Graphs, Linked, Step};
use crate::program::{FunctionId, Numbered, Program};
use crate::scan::number;

/// A bit for each function, system call or case further up in the call string that a fact names.
pub(crate) type Tags = u128;

pub(crate) struct World<'x, 'a> {
    pub(crate) program: &'x Program<'a>,
    pub(crate) framework: &'x Framework,
    pub(crate) cuts: &'x Cuts,
    pub(crate) facts: &'x [Fact],
    pub(crate) graphs: &'x Graphs,
    tags: Numbered<String>,
    /// For each fact, the tags that it requires (one is enough) and excludes.
    conditions: Vec<(Tags, Tags)>,
    /// For each nesting fact, a tag per allowed call.
    nests: FxHashMap<FactId, Tags>,
    /// For each function, the tags that facts use in it and below.
    relevant: FxHashMap<FunctionId, Tags>,
}

impl<'x, 'a> World<'x, 'a> {
    pub(crate) fn new(
        program: &'x Program<'a>,
        framework: &'x Framework,
        cuts: &'x Cuts,
        facts: &'x [Fact],
        graphs: &'x Graphs,
    ) -> Self {
        let mut tags = Numbered::default();
        let mut mask = |names: &[String]| {
            let numbers = names.iter().map(|name| tags.insert_full(name.clone()).0);
            numbers.fold(0, |mask, at| mask | bit(number(at)))
        };
        let conditions: Vec<(Tags, Tags)> = facts
            .iter()
            .map(|fact| (mask(&fact.within), mask(&fact.unless)))
            .collect();
        let mut next = number(tags.len());
        let mut nests = FxHashMap::default();
        let numbered = (0u16..).zip(facts);
        for (id, fact) in numbered.filter(|(_, fact)| fact.kind == FactKind::Nest) {
            let most = fact.max.map_or(0, |max| max.constant.min(MAX_NESTS));
            let bits = (next..next.saturating_add(most)).map(bit);
            nests.insert(id, bits.fold(0, |mask, bit| mask | bit));
            next = next.saturating_add(most);
        }
        let asked = |id: FactId| {
            let (within, unless) = conditions[usize::from(id)];
            within | unless | nests.get(&id).copied().unwrap_or_default()
        };
        let relevant = relevant(framework, graphs, &asked);
        Self {
            program,
            framework,
            cuts,
            facts,
            graphs,
            tags,
            conditions,
            nests,
            relevant,
        }
    }

    /// Of a function, `syscall:NAME` or `case:NAME`.
    pub(crate) fn tag(&self, name: &str) -> Tags {
        let at = self.tags.get_index_of(name);
        at.map_or(0, |at| bit(number(at)))
    }

    pub(crate) fn enter(&self, tags: Tags, function: FunctionId) -> Tags {
        let relevant = self.relevant.get(&function).copied().unwrap_or_default();
        (tags | self.tag(self.program.name(function))) & relevant
    }

    /// The first applicable fact for which `says` has a value.
    pub(crate) fn fact<T>(
        &self,
        facts: &[FactId],
        tags: Tags,
        says: impl Fn(&'x Fact) -> Option<T>,
    ) -> Option<T> {
        facts.iter().find_map(|&id| {
            let (within, unless) = self.conditions[usize::from(id)];
            let applies = (within == 0 || tags & within != 0) && tags & unless == 0;
            says(&self.facts[usize::from(id)]).filter(|_| applies)
        })
    }

    pub(crate) fn is_nested(&self, facts: &[FactId]) -> bool {
        facts.iter().any(|id| self.nests.contains_key(id))
    }

    /// The tags below a call; `None` if the limit is reached.
    pub(crate) fn nested(&self, facts: &[FactId], tags: Tags) -> Option<Tags> {
        let mut below = tags;
        for all in facts.iter().filter_map(|id| self.nests.get(id)) {
            let left = all & !tags;
            if left == 0 {
                return None;
            }
            below |= left & left.wrapping_neg();
        }
        Some(below)
    }

    pub(crate) fn ways(&self, step: &Step, tags: Tags) -> Vec<NodeId> {
        if let Step::Branch {
            constant,
            facts,
            no,
            ..
        } = step
        {
            let never = self.fact(facts, tags, |fact| fact.max) == Some(Count::ZERO);
            if never || *constant == Some(false) {
                return vec![*no];
            }
        }
        step.successors()
    }

    pub(crate) fn leads(&self, linked: &Linked, from: NodeId, to: NodeId, tags: Tags) -> bool {
        let ways = |at: NodeId| match linked.steps.get(at as usize) {
            Some(step) => self.ways(step, tags),
            None => Vec::new(),
        };
        leads(from, to, ways)
    }

    pub(crate) fn is_teardown(&self, function: FunctionId) -> bool {
        self.cuts
            .is_teardown(self.program.functions[function as usize].name)
    }
}

fn bit(number: u32) -> Tags {
    1u128.checked_shl(number).unwrap_or(0)
}

/// Tags that matter to each function or its callees. Other tags are dropped on entry, so that
/// results can be shared.
fn relevant(
    framework: &Framework,
    graphs: &Graphs,
    asked: &dyn Fn(FactId) -> Tags,
) -> FxHashMap<FunctionId, Tags> {
    let mut found: FxHashMap<FunctionId, Tags> = FxHashMap::default();
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    for (&id, linked) in &graphs.functions {
        let facts = linked.steps.iter().flat_map(Step::all_facts);
        let own = facts.fold(0, |mask, fact| mask | asked(fact));
        found.insert(id, own);
        for to in callees(framework, graphs, id, &|_| true) {
            callers.entry(to).or_default().push(id);
        }
    }
    let mut queue: Vec<FunctionId> = found.keys().copied().collect();
    while let Some(id) = queue.pop() {
        let mask = found.get(&id).copied().unwrap_or_default();
        for &caller in callers.get(&id).into_iter().flatten() {
            let known = found.entry(caller).or_default();
            if *known | mask != *known {
                *known |= mask;
                queue.push(caller);
            }
        }
    }
    found
}

pub(crate) fn callees(
    framework: &Framework,
    graphs: &Graphs,
    id: FunctionId,
    wanted: &dyn Fn(&[FactId]) -> bool,
) -> Vec<FunctionId> {
    let linked = graphs.functions.get(&id);
    let steps = linked.into_iter().flat_map(|linked| &linked.steps);
    let called = steps
        .filter(|step| wanted(step.facts()))
        .flat_map(Step::callees);
    let implementations = framework.implementations(id).map(|(_, to)| to);
    let implementations = implementations.filter(|to| graphs.functions.contains_key(to));
    let mut found: Vec<FunctionId> = called.chain(implementations).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) hook: u16,
    pub(crate) teardown: bool,
    /// One bit per module.
    pub(crate) modules: u32,
}

impl Key {
    /// A key outside other hooks and outside teardown.
    pub(crate) fn own(hook: u16) -> Self {
        Self {
            hook,
            ..Self::default()
        }
    }

    pub(crate) fn in_teardown(self) -> Self {
        Self {
            teardown: true,
            ..self
        }
    }

    pub(crate) fn inside(self, module: u8) -> Self {
        Self {
            modules: self.modules | 1 << module,
            ..self
        }
    }
}
