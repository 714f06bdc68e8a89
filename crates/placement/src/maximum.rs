// SPDX-License-Identifier: GPL-2.0-or-later
//! How often each hook is called at most: the costliest way through each function, loops
//! as often as a fact says, else without bound. Summed up from the callees.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::body::NodeId;
use crate::context::{Key, Tags, World};
use crate::count::Count;
use crate::linked::{Linked, Step};
use crate::program::FunctionId;

/// Deepest nesting of loops that is taken apart; deeper ones have no bound.
const MAX_NESTING: u32 = 40;

/// Counts by hook.
pub(crate) type Counts = FxHashMap<Key, Count>;

/// Where a call is made.
#[derive(Debug, Clone, Copy)]
struct At {
    tags: Tags,
    /// The circle of functions that is being taken apart.
    circle: Option<usize>,
    /// In a function of the framework?
    framework: bool,
}

pub(crate) struct Maximum<'w, 'x, 'a> {
    world: &'w World<'x, 'a>,
    known: FxHashMap<(FunctionId, Tags), Rc<Counts>>,
    /// Functions that call each other in a circle, by a number of the circle.
    circles: FxHashMap<FunctionId, usize>,
    members: Vec<Vec<FunctionId>>,
}

fn add(counts: &mut Counts, other: &Counts) {
    for (&key, &count) in other {
        let sum = counts.entry(key).or_default();
        *sum = sum.plus(count);
    }
}

fn or(counts: &mut Counts, other: &Counts) {
    for (&key, &count) in other {
        let most = counts.entry(key).or_default();
        *most = most.or(count);
    }
}

fn repeated(counts: &Counts, rounds: Count) -> Counts {
    let all = counts.iter().map(|(&key, count)| (key, count.repeated(rounds)));
    all.filter(|(_, count)| !count.is_zero()).collect()
}

impl<'w, 'x, 'a> Maximum<'w, 'x, 'a> {
    pub(crate) fn new(world: &'w World<'x, 'a>) -> Self {
        let mut ids: Vec<FunctionId> = world.graphs.functions.keys().copied().collect();
        ids.sort_unstable();
        let numbers: FxHashMap<FunctionId, usize> = ids.iter().enumerate().map(|(n, &id)| (id, n)).collect();
        let edges: Vec<Vec<usize>> = ids
            .iter()
            .map(|&id| callees(world, id).iter().filter_map(|to| numbers.get(to).copied()).collect())
            .collect();
        let mut circles = FxHashMap::default();
        let mut members = Vec::new();
        for component in components(&edges) {
            if component.len() > 1 || edges[component[0]].contains(&component[0]) {
                let functions: Vec<_> = component.iter().map(|&n| ids[n]).collect();
                circles.extend(functions.iter().map(|&id| (id, members.len())));
                members.push(functions);
            }
        }
        Self {
            world,
            known: FxHashMap::default(),
            circles,
            members,
        }
    }

    /// Functions that call each other in circles, for those who write facts.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        let name = |id: &FunctionId| self.world.program.name(*id).to_owned();
        if std::env::var("PLACE_DEBUG").is_ok() {
            for members in &self.members {
                for &m in members {
                    let c: Vec<_> = callees(self.world, m).into_iter().filter(|c| members.contains(c)).map(|c| name(&c)).collect();
                    eprintln!("edge {} {} -> {}", members.len(), name(&m), c.join(" "));
                }
            }
        }
        self.members.iter().map(|members| members.iter().map(name).collect()).collect()
    }

    /// What a function calls at most.
    pub(crate) fn of(&mut self, id: FunctionId, tags: Tags) -> Rc<Counts> {
        let tags = self.world.enter(tags, id);
        if let Some(known) = self.known.get(&(id, tags)) {
            return Rc::clone(known);
        }
        let counts = match self.circles.get(&id) {
            Some(&circle) => self.circle(circle, tags),
            None => self.function(id, tags, None),
        };
        let counts = Rc::new(counts);
        self.known.insert((id, tags), Rc::clone(&counts));
        counts
    }

    /// Whatever any function of a circle calls, it calls without a bound that is known.
    fn circle(&mut self, circle: usize, tags: Tags) -> Counts {
        let members = self.members[circle].clone();
        let mut all = Counts::default();
        let mut teardown = false;
        for &id in &members {
            teardown |= self.world.is_teardown(id);
            let own = self.function(id, tags, Some(circle));
            or(&mut all, &own);
        }
        if teardown {
            let released: Vec<_> = all.keys().map(|&key| Key { teardown: true, ..key }).collect();
            all.extend(released.into_iter().map(|key| (key, Count::ONE)));
        }
        for count in all.values_mut() {
            *count = Count::UNBOUNDED;
        }
        for id in members {
            self.known.insert((id, self.world.enter(tags, id)), Rc::new(all.clone()));
        }
        all
    }

    /// A call of a function: its hooks, as the caller counts them.
    fn call(&mut self, id: FunctionId, at: At) -> Counts {
        let mut counts = Counts::default();
        let known = at.circle.is_some() && self.circles.get(&id).copied() == at.circle;
        if let Some(&(hook, module)) = self.world.framework.direct.get(&id) {
            // What the framework calls stands for a hook's implementation.
            if !at.framework {
                let modules = 0;
                counts.insert(Key { hook, teardown: false, modules }, Count::ONE);
            }
            if !known {
                let inner = self.of(id, at.tags);
                add(&mut counts, &inside(&inner, module));
            }
        } else if !known {
            counts = (*self.of(id, at.tags)).clone();
        }
        if self.world.is_teardown(id) {
            let mut released = Counts::default();
            for (key, count) in counts {
                let sum = released.entry(Key { teardown: true, ..key }).or_default();
                *sum = sum.plus(count);
            }
            return released;
        }
        counts
    }

    fn function(&mut self, id: FunctionId, tags: Tags, circle: Option<usize>) -> Counts {
        let world = self.world;
        let framework = world.framework.of_function.contains_key(&id);
        let at = At { tags, circle, framework };
        let mut counts = Counts::default();
        if let Some(linked) = world.graphs.functions.get(&id) {
            counts = self.body(linked, at);
        }
        if let Some(&hook) = world.framework.of_function.get(&id) {
            let own = Key { hook, teardown: false, modules: 0 };
            let sum = counts.entry(own).or_default();
            *sum = sum.plus(Count::ONE);
            for &(module, to) in world.framework.implementations.get(&hook).into_iter().flatten() {
                if world.graphs.functions.contains_key(&to) {
                    let inner = self.call(to, at);
                    add(&mut counts, &inside(&inner, module));
                }
            }
        }
        counts
    }

    fn body(&mut self, linked: &Linked, at: At) -> Counts {
        let mut costs: Vec<Option<Counts>> = Vec::with_capacity(linked.steps.len());
        let mut any = false;
        for step in &linked.steps {
            let cost = self.step(step, at);
            any |= cost.is_some();
            costs.push(cost);
        }
        if !any {
            return Counts::default();
        }
        let edges: Vec<Vec<NodeId>> = linked.steps.iter().map(|step| self.ways(step, at.tags)).collect();
        let mut region = Region {
            maximum: self,
            linked,
            costs: &costs,
            edges: &edges,
            tags: at.tags,
        };
        let all: Vec<NodeId> = (0..).take(linked.steps.len()).collect();
        region.most(&all, linked.entry, true, 0)
    }

    fn step(&mut self, step: &Step, at: At) -> Option<Counts> {
        let Step::Call { targets, passed, facts, .. } = step else {
            return None;
        };
        let mut counts = Counts::default();
        for &to in targets {
            let one = self.call(to, at);
            or(&mut counts, &one);
        }
        for &to in passed {
            // How often it is called back is not known.
            let one = self.call(to, at);
            add(&mut counts, &repeated(&one, Count::UNBOUNDED));
        }
        if let Some(times) = self.world.fact(facts, at.tags, |fact| fact.max) {
            // Bounded callbacks are what the fact speaks of, too.
            if !passed.is_empty() {
                counts.clear();
                for &to in targets.iter().chain(passed) {
                    let one = self.call(to, at);
                    add(&mut counts, &one);
                }
            }
            counts = repeated(&counts, times);
        }
        (!counts.is_empty()).then_some(counts)
    }

    /// Where a step can lead to.
    fn ways(&self, step: &Step, tags: Tags) -> Vec<NodeId> {
        if let Step::Branch { constant, facts, yes, no, .. } = step {
            let never = self.world.fact(facts, tags, |fact| fact.max) == Some(Count::ZERO);
            return match constant {
                _ if never => vec![*no],
                Some(false) => vec![*no],
                _ => vec![*yes, *no],
            };
        }
        step.successors()
    }
}

/// Hooks that a module calls from inside its own.
fn inside(counts: &Counts, module: u8) -> Counts {
    let mut nested = Counts::default();
    for (key, &count) in counts {
        let modules = key.modules | 1 << module;
        let sum = nested.entry(Key { modules, ..*key }).or_default();
        *sum = sum.plus(count);
    }
    nested
}

/// All that a function may call.
fn callees(world: &World<'_, '_>, id: FunctionId) -> Vec<FunctionId> {
    let mut found = Vec::new();
    if let Some(linked) = world.graphs.functions.get(&id) {
        for step in &linked.steps {
            if let Step::Call { targets, passed, .. } = step {
                found.extend(targets.iter().chain(passed));
            }
        }
    }
    if let Some(hook) = world.framework.of_function.get(&id) {
        let all = world.framework.implementations.get(hook).into_iter().flatten();
        found.extend(all.map(|&(_, to)| to).filter(|to| world.graphs.functions.contains_key(to)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A part of a function's graph.
struct Region<'r, 'w, 'x, 'a> {
    maximum: &'r Maximum<'w, 'x, 'a>,
    linked: &'r Linked,
    costs: &'r [Option<Counts>],
    edges: &'r [Vec<NodeId>],
    tags: Tags,
}

impl Region<'_, '_, '_, '_> {
    /// The costliest way from `entry` to anywhere in a part of the graph. Except for the
    /// whole function, edges back to the entry are not in it.
    fn most(&mut self, nodes: &[NodeId], entry: NodeId, whole: bool, nesting: u32) -> Counts {
        let place: FxHashMap<NodeId, usize> = nodes.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        let Some(&start) = place.get(&entry) else {
            return Counts::default();
        };
        let edges: Vec<Vec<usize>> = nodes
            .iter()
            .map(|&node| {
                let next = self.edges[node as usize].iter();
                next.filter(|&&to| whole || to != entry).filter_map(|to| place.get(to).copied()).collect()
            })
            .collect();
        // Callers come last in the order of components.
        let mut order = components(&edges);
        order.reverse();
        let mut reached: Vec<Option<Counts>> = vec![None; nodes.len()];
        reached[start] = Some(Counts::default());
        let mut most = Counts::default();
        for component in order {
            let mut before: Option<Counts> = None;
            for &node in &component {
                if let Some(counts) = reached[node].take() {
                    match &mut before {
                        Some(before) => or(before, &counts),
                        None => before = Some(counts),
                    }
                }
            }
            let Some(mut counts) = before else {
                continue;
            };
            let node = component[0];
            if component.len() > 1 || edges[node].contains(&node) {
                let part: Vec<NodeId> = component.iter().map(|&at| nodes[at]).collect();
                if part.iter().any(|&node| self.costs[node as usize].is_some()) {
                    let head = self.head(&component, nodes, &edges, start);
                    let rounds = self.rounds(head);
                    let body = if nesting < MAX_NESTING {
                        self.most(&part, head, false, nesting + 1)
                    } else {
                        Counts::default()
                    };
                    add(&mut counts, &repeated(&body, rounds));
                }
            } else if let Some(cost) = &self.costs[nodes[node] as usize] {
                add(&mut counts, cost);
            }
            let inside: rustc_hash::FxHashSet<usize> = component.iter().copied().collect();
            or(&mut most, &counts);
            for &node in &component {
                for &to in edges[node].iter().filter(|to| !inside.contains(to)) {
                    match &mut reached[to] {
                        Some(known) => or(known, &counts),
                        None => reached[to] = Some(counts.clone()),
                    }
                }
            }
        }
        most
    }

    /// Where a loop is entered: preferably at its head.
    fn head(&self, component: &[usize], nodes: &[NodeId], edges: &[Vec<usize>], start: usize) -> NodeId {
        let inside: rustc_hash::FxHashSet<usize> = component.iter().copied().collect();
        let is_head = |at: usize| matches!(self.linked.steps[nodes[at] as usize], Step::Head { .. });
        let entered = |at: usize| {
            at == start || edges.iter().enumerate().any(|(from, to)| !inside.contains(&from) && to.contains(&at))
        };
        let mut entries: Vec<usize> = component.iter().copied().filter(|&at| entered(at)).collect();
        entries.sort_by_key(|&at| (!is_head(at), nodes[at]));
        let found = entries.first().or(component.first()).copied();
        found.map_or(0, |at| nodes[at])
    }

    fn rounds(&self, head: NodeId) -> Count {
        let facts = self.linked.steps[head as usize].facts();
        let said = self.maximum.world.fact(facts, self.tags, |fact| fact.max);
        said.unwrap_or(Count::UNBOUNDED)
    }
}

/// The strongly connected components of a graph, callees before callers (Tarjan, without
/// recursion).
pub(crate) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut index = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if index[root] != NEW {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, next)) = work.pop() {
            if next == 0 {
                (index[node], low[node]) = (counter, counter);
                counter += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&to) = edges[node].get(next) {
                work.push((node, next + 1));
                if index[to] == NEW {
                    work.push((to, 0));
                } else if on_stack[to] {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            if let Some(&(parent, _)) = work.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found() {
        let edges = vec![vec![1], vec![2, 3], vec![1], vec![]];
        let mut found = components(&edges);
        found.iter_mut().for_each(|component| component.sort_unstable());
        assert_eq!(found, [vec![3], vec![1, 2], vec![0]]);
        let long: Vec<Vec<usize>> = (1..200_000).map(|to| vec![to]).chain([vec![]]).collect();
        assert_eq!(components(&long).len(), 200_000);
    }
}
