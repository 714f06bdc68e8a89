// SPDX-License-Identifier: GPL-2.0-or-later
//! Upper bounds: the most expensive path through each function and its callees. Loops run as often
//! as facts allow; loops without a fact are unbounded.

mod cause;
mod region;

use std::cell::Cell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Count;
use crate::body::NodeId;
use crate::context::{Key, Tags, World, callees};
use crate::facts::{Fact, FactKind};
use crate::graph::{components, reachable};
use crate::linked::{FactId, Linked, Step};
use crate::program::FunctionId;
use cause::Causes;
pub(crate) use cause::{Cause, CauseSet, Most};
use region::Region;

/// Loops that are nested more deeply are unbounded.
const MAX_NESTING: u32 = 40;

/// Calls in 6.12 nest less than 300 deep.
pub(crate) const MAX_CALLS: u32 = 10_000;

pub(crate) type Counts = FxHashMap<Key, Most>;

/// Sorted; shared by all functions with the same counts.
pub(crate) type Shared = Rc<[(Key, Most)]>;

#[derive(Debug, Clone, Copy)]
struct At {
    tags: Tags,
    circle: Option<usize>,
    framework: bool,
}

pub(crate) struct Maximum<'w, 'x, 'a> {
    world: &'w World<'x, 'a>,
    known: FxHashMap<(FunctionId, Tags), Shared>,
    distinct: FxHashSet<Shared>,
    /// Recursion cycles, and the number of a function's.
    pub(crate) circles: Vec<Vec<FunctionId>>,
    circle_of: FxHashMap<FunctionId, usize>,
    pub(crate) causes: Causes,
    depth: u32,
    /// Whether calls nest too deeply, so that results are incomplete.
    pub(crate) too_deep: bool,
    /// Steps and edges visited, for tests.
    work: Cell<usize>,
}

impl<'w, 'x, 'a> Maximum<'w, 'x, 'a> {
    pub(crate) fn new(world: &'w World<'x, 'a>) -> Self {
        let mut ids: Vec<FunctionId> = world.graphs.functions.keys().copied().collect();
        ids.sort_unstable();
        let numbers: FxHashMap<FunctionId, usize> =
            ids.iter().enumerate().map(|(n, &id)| (id, n)).collect();
        let edges = ids.iter().map(|&id| {
            let wanted = |facts: &[FactId]| !world.is_nested(facts);
            let callees = callees(world.framework, world.graphs, id, &wanted);
            let known = callees.iter().filter_map(|to| numbers.get(to).copied());
            known.collect()
        });
        let edges: Vec<Vec<usize>> = edges.collect();
        let mut circles = Vec::new();
        let mut circle_of = FxHashMap::default();
        for component in components(&edges) {
            if component.len() > 1 || edges[component[0]].contains(&component[0]) {
                let mut functions: Vec<_> = component.iter().map(|&n| ids[n]).collect();
                functions.sort_unstable();
                circle_of.extend(functions.iter().map(|&id| (id, circles.len())));
                circles.push(functions);
            }
        }
        Self {
            world,
            known: FxHashMap::default(),
            distinct: FxHashSet::default(),
            circles,
            circle_of,
            causes: Causes::default(),
            depth: 0,
            too_deep: false,
            work: Cell::new(0),
        }
    }

    pub(crate) fn circle_of(&self, id: FunctionId) -> &[FunctionId] {
        let circle = self.circle_of.get(&id);
        circle.map_or(&[], |&circle| &self.circles[circle])
    }

    pub(crate) fn counts(&mut self, id: FunctionId, tags: Tags) -> Shared {
        let tags = self.world.enter(tags, id);
        if let Some(known) = self.known.get(&(id, tags)) {
            return Rc::clone(known);
        }
        if self.depth >= MAX_CALLS {
            self.too_deep = true;
            return Rc::default();
        }
        self.depth += 1;
        let counts = match self.circle_of.get(&id) {
            Some(&circle) => self.circle(circle, tags),
            None => {
                let counts = self.function(id, tags, None);
                self.shared(counts)
            }
        };
        self.depth -= 1;
        self.known.insert((id, tags), Rc::clone(&counts));
        counts
    }

    /// Interns counts, because most functions only call another function.
    fn shared(&mut self, counts: Counts) -> Shared {
        let counts = frozen(counts);
        if let Some(known) = self.distinct.get(&counts) {
            return Rc::clone(known);
        }
        self.distinct.insert(Rc::clone(&counts));
        counts
    }

    fn circle(&mut self, circle: usize, tags: Tags) -> Shared {
        let members = self.circles[circle].clone();
        let mut all = Counts::default();
        let mut teardown = false;
        for &id in &members {
            teardown |= self.world.is_teardown(id);
            let own = self.function(id, tags, Some(circle));
            self.causes.or(&mut all, own);
        }
        if teardown {
            let released: Vec<_> = all.keys().map(|key| key.in_teardown()).collect();
            all.extend(released.into_iter().map(|key| (key, Most::ONE)));
        }
        self.causes
            .without_bound(&mut all, Cause::Circle(members[0]));
        let shared = self.shared(all);
        for id in members {
            let tags = self.world.enter(tags, id);
            self.known.insert((id, tags), Rc::clone(&shared));
        }
        shared
    }

    fn call(&mut self, id: FunctionId, at: At) -> Shared {
        let known = at.circle.is_some() && self.circle_of.get(&id).copied() == at.circle;
        let inner = if known {
            Rc::default()
        } else {
            self.counts(id, at.tags)
        };
        let direct = self.world.framework.direct.get(&id).copied();
        let teardown = self.world.is_teardown(id);
        if direct.is_none() && !teardown {
            return inner;
        }
        let mut counts = Counts::default();
        if let Some((hook, module)) = direct {
            // The framework's calls are the hook's implementations.
            if !at.framework {
                counts.insert(Key::own(hook), Most::ONE);
            }
            self.causes.add(&mut counts, self.inside(&inner, module));
        } else {
            counts.extend(inner.iter().copied());
        }
        if teardown {
            let counted = std::mem::take(&mut counts).into_iter();
            let in_teardown = counted.map(|(key, count)| (key.in_teardown(), count));
            self.causes.add(&mut counts, in_teardown);
        }
        frozen(counts)
    }

    fn function(&mut self, id: FunctionId, tags: Tags, circle: Option<usize>) -> Counts {
        let world = self.world;
        let framework = world.framework.of_function.contains_key(&id);
        let at = At {
            tags,
            circle,
            framework,
        };
        let mut counts = Counts::default();
        if let Some(linked) = world.graphs.functions.get(&id) {
            counts = self.body(id, linked, at);
        }
        if let Some(&hook) = world.framework.of_function.get(&id) {
            self.causes.add(&mut counts, [(Key::own(hook), Most::ONE)]);
        }
        for (module, to) in world.framework.implementations(id) {
            if world.graphs.functions.contains_key(&to) {
                let inner = self.call(to, at);
                self.causes.add(&mut counts, self.inside(&inner, module));
            }
        }
        for most in counts.values_mut() {
            if most.count.unbounded && most.causes == 0 {
                most.causes = self.causes.one(Cause::Large(id));
            }
        }
        counts
    }

    fn body(&mut self, id: FunctionId, linked: &Linked, at: At) -> Counts {
        let world = self.world;
        let steps = (0u32..).zip(&linked.steps);
        let costs = steps.map(|(number, step)| self.step(step, (id, number), at));
        let costs: Vec<Option<Shared>> = costs.collect();
        if costs.iter().all(Option::is_none) {
            return Counts::default();
        }
        let edges = linked.steps.iter().map(|step| world.ways(step, at.tags));
        let edges: Vec<Vec<NodeId>> = edges.collect();
        let region = Region {
            maximum: self,
            id,
            linked,
            costs: &costs,
            edges: &edges,
            tags: at.tags,
        };
        let next = |at: NodeId| edges[at as usize].iter().copied();
        let mut all: Vec<NodeId> = reachable([linked.entry], next).into_iter().collect();
        all.sort_unstable();
        region.most(&all, linked.entry, true, 0)
    }

    fn step(&mut self, step: &Step, place: (FunctionId, NodeId), at: At) -> Option<Shared> {
        let Step::Call {
            targets,
            passed,
            facts,
            ..
        } = step
        else {
            return None;
        };
        let tags = self.world.nested(facts, at.tags)?;
        let nested = At { tags, ..at };
        let times = |fact: &Fact| fact.max.filter(|_| fact.kind == FactKind::Call);
        let times = self.world.fact(facts, at.tags, times);
        let counts = if let ([to], [], None) = (&targets[..], &passed[..], times) {
            self.call(*to, nested)
        } else {
            let mut counts = Counts::default();
            for &to in targets {
                let one = self.call(to, nested);
                self.causes.or(&mut counts, one.iter().copied());
            }
            if let Some(times) = times {
                // The number in the fact, which is never unbounded.
                let cause = Cause::Large(place.0);
                counts = self.causes.repeated(counts, times, cause).collect();
            }
            for (to, facts) in passed {
                // Unknown unless a fact gives it.
                let times = self.world.fact(facts, at.tags, |fact| fact.max);
                let times = times.unwrap_or(Count::UNBOUNDED);
                let one = self.call(*to, at);
                let cause = Cause::Callback(place.0, place.1, *to);
                let one = self.causes.repeated(one.iter().copied(), times, cause);
                self.causes.add(&mut counts, one);
            }
            frozen(counts)
        };
        (!counts.is_empty()).then_some(counts)
    }

    fn inside(&self, counts: &[(Key, Most)], module: u8) -> Counts {
        let mut nested = Counts::default();
        let counts = counts.iter();
        let inside = counts.map(|&(key, count)| (key.inside(module), count));
        self.causes.add(&mut nested, inside);
        nested
    }
}

fn frozen(counts: Counts) -> Shared {
    let mut sorted: Vec<(Key, Most)> = counts.into_iter().collect();
    sorted.sort_unstable_by_key(|&(key, _)| key);
    sorted.into()
}

#[cfg(test)]
mod tests;
