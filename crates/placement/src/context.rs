// SPDX-License-Identifier: GPL-2.0-or-later
//! Where in a call string an evaluation is, as far as any fact asks for it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Count;
use crate::body::NodeId;
use crate::facts::Fact;
use crate::framework::{Cuts, Framework};
use crate::linked::{FactId, Graphs, Linked, Step};
use crate::program::{FunctionId, Program};

/// The functions, system calls and cases above, of those that a fact names.
pub(crate) type Tags = u128;

/// What an evaluation needs.
pub(crate) struct World<'x, 'a> {
    pub(crate) program: &'x Program<'a>,
    pub(crate) framework: &'x Framework,
    pub(crate) cuts: &'x Cuts,
    pub(crate) facts: &'x [Fact],
    pub(crate) graphs: &'x Graphs,
    tags: FxHashMap<String, u32>,
    /// Of each fact: any of these tags, none of those.
    conditions: Vec<(Tags, Tags)>,
    /// Of each function, the tags that facts ask for in it and below.
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
        let mut tags: FxHashMap<String, u32> = FxHashMap::default();
        let mut mask = |names: &[String]| {
            names.iter().fold(0, |mask, name| {
                let next = u32::try_from(tags.len()).unwrap_or(u32::MAX);
                let bit = *tags.entry(name.clone()).or_insert(next);
                mask | 1u128.checked_shl(bit).unwrap_or(0)
            })
        };
        let conditions: Vec<(Tags, Tags)> = facts
            .iter()
            .map(|fact| (mask(&fact.within), mask(&fact.unless)))
            .collect();
        let relevant = relevant(framework, graphs, &conditions);
        Self {
            program,
            framework,
            cuts,
            facts,
            graphs,
            tags,
            conditions,
            relevant,
        }
    }

    /// The tag of a function, of `syscall:NAME` or of `case:NAME`.
    pub(crate) fn tag(&self, name: &str) -> Tags {
        self.tags
            .get(name)
            .and_then(|&bit| 1u128.checked_shl(bit))
            .unwrap_or(0)
    }

    pub(crate) fn enter(&self, tags: Tags, function: FunctionId) -> Tags {
        let relevant = self.relevant.get(&function).copied().unwrap_or_default();
        (tags | self.tag(self.program.name(function))) & relevant
    }

    /// The first of some facts that applies and says what is asked for.
    pub(crate) fn fact<T>(
        &self,
        facts: &[FactId],
        tags: Tags,
        says: impl Fn(&'x Fact) -> Option<T>,
    ) -> Option<T> {
        facts.iter().find_map(|&id| {
            let (within, unless) = self.conditions[usize::from(id)];
            let applies = (within == 0 || tags & within != 0) && tags & unless == 0;
            if applies {
                says(&self.facts[usize::from(id)])
            } else {
                None
            }
        })
    }

    /// Where a step can lead to.
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

    /// Can one step lead to another?
    pub(crate) fn leads(&self, linked: &Linked, from: NodeId, to: NodeId, tags: Tags) -> bool {
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut queue = vec![from];
        while let Some(at) = queue.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                let step = linked.steps.get(at as usize);
                queue.extend(step.map(|step| self.ways(step, tags)).unwrap_or_default());
            }
        }
        false
    }

    pub(crate) fn is_teardown(&self, function: FunctionId) -> bool {
        self.cuts
            .is_teardown(self.program.functions[function as usize].name)
    }
}

/// For each function, the tags that matter to it or to what it may call. Others are
/// dropped when it is entered, so that what was found for it serves everywhere else.
fn relevant(
    framework: &Framework,
    graphs: &Graphs,
    conditions: &[(Tags, Tags)],
) -> FxHashMap<FunctionId, Tags> {
    let mut found: FxHashMap<FunctionId, Tags> = FxHashMap::default();
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    for (&id, linked) in &graphs.functions {
        let facts = linked.steps.iter().flat_map(Step::all_facts);
        let own = facts.fold(0, |mask, fact| {
            let (within, unless) = conditions[usize::from(fact)];
            mask | within | unless
        });
        found.insert(id, own);
        for to in callees(framework, graphs, id) {
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

/// All that a function may call.
pub(crate) fn callees(framework: &Framework, graphs: &Graphs, id: FunctionId) -> Vec<FunctionId> {
    let mut found = Vec::new();
    if let Some(linked) = graphs.functions.get(&id) {
        for step in &linked.steps {
            if let Step::Call {
                targets, passed, ..
            } = step
            {
                found.extend(targets.iter().chain(passed.iter().map(|(to, _)| to)));
            }
        }
    }
    if let Some(hook) = framework.of_function.get(&id) {
        let all = framework.implementations.get(hook).into_iter().flatten();
        found.extend(
            all.map(|&(_, to)| to)
                .filter(|to| graphs.functions.contains_key(to)),
        );
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A hook as it is counted: in teardown or not, and inside the hooks of which modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) hook: u16,
    pub(crate) teardown: bool,
    /// One bit for each module.
    pub(crate) modules: u32,
}
