// SPDX-License-Identifier: GPL-2.0-or-later

use rustc_hash::FxHashMap;

use super::cause::{Cause, Most};

use super::{Counts, MAX_NESTING, Maximum, Shared};
use crate::Count;
use crate::body::NodeId;
use crate::context::{Key, Tags};
use crate::graph::components;
use crate::linked::{Linked, Step};
use crate::program::FunctionId;

pub(super) struct Region<'r, 'w, 'x, 'a> {
    pub(super) maximum: &'r Maximum<'w, 'x, 'a>,
    pub(super) id: FunctionId,
    pub(super) linked: &'r Linked,
    pub(super) costs: &'r [Option<Shared>],
    pub(super) edges: &'r [Vec<NodeId>],
    pub(super) tags: Tags,
}

impl Region<'_, '_, '_, '_> {
    /// The largest counts from `entry` to anywhere in `nodes`. Edges back to the entry are
    /// excluded, except for a complete function.
    pub(super) fn most(
        &self,
        nodes: &[NodeId],
        entry: NodeId,
        whole: bool,
        nesting: u32,
    ) -> Counts {
        let place = nodes.iter().enumerate().map(|(at, &node)| (node, at));
        let place: FxHashMap<NodeId, usize> = place.collect();
        let Some(&start) = place.get(&entry) else {
            return Counts::default();
        };
        let edges = nodes.iter().map(|&node| {
            let next = self.edges[node as usize].iter();
            let next = next.filter(|&&to| whole || to != entry);
            next.filter_map(|to| place.get(to).copied()).collect()
        });
        let edges: Vec<Vec<usize>> = edges.collect();
        let causes = &self.maximum.causes;
        // Components are ordered with callees first, so process them in reverse.
        let mut order = components(&edges);
        order.reverse();
        let (number, entered) = entries(&order, &edges, start);
        let work = nodes.len() + edges.iter().map(Vec::len).sum::<usize>();
        self.maximum.work.set(self.maximum.work.get() + work);
        let mut reached: Vec<Option<Counts>> = vec![None; nodes.len()];
        reached[start] = Some(Counts::default());
        let mut most = Counts::default();
        for component in &order {
            let mut before = component.iter().filter_map(|&node| reached[node].take());
            let Some(mut counts) = before.next() else {
                continue;
            };
            before.for_each(|other| causes.or(&mut counts, other));
            let node = component[0];
            if component.len() > 1 || edges[node].contains(&node) {
                let part: Vec<NodeId> = component.iter().map(|&at| nodes[at]).collect();
                if part.iter().any(|&node| self.costs[node as usize].is_some()) {
                    let head = self.head(component, nodes, &entered);
                    let rounds = self.rounds(head);
                    let body = if nesting < MAX_NESTING {
                        self.most(&part, head, false, nesting + 1)
                    } else {
                        self.without_bound(&part)
                    };
                    let cause = Cause::Loop(self.id, head);
                    causes.add(&mut counts, causes.repeated(body, rounds, cause));
                }
            } else if let Some(cost) = &self.costs[nodes[node] as usize] {
                causes.add(&mut counts, cost.iter().copied());
            }
            causes.or(&mut most, each(&counts));
            for &node in component {
                let outside = |to: &&usize| number[**to] != number[node];
                for &to in edges[node].iter().filter(outside) {
                    match &mut reached[to] {
                        Some(known) => causes.or(known, each(&counts)),
                        None => reached[to] = Some(counts.clone()),
                    }
                }
            }
        }
        most
    }

    fn without_bound(&self, part: &[NodeId]) -> Counts {
        let causes = &self.maximum.causes;
        let mut all = Counts::default();
        for cost in part.iter().flat_map(|&node| &self.costs[node as usize]) {
            causes.or(&mut all, cost.iter().copied());
        }
        causes.without_bound(&mut all, Cause::Nested(self.id));
        all
    }

    /// The entry of a component, preferably the loop's head.
    fn head(&self, component: &[usize], nodes: &[NodeId], entered: &[bool]) -> NodeId {
        let is_head =
            |at: usize| matches!(self.linked.steps[nodes[at] as usize], Step::Head { .. });
        let entries = component.iter().filter(|&&at| entered[at]);
        let first = entries.min_by_key(|&&at| (!is_head(at), nodes[at]));
        let found = first.or(component.first());
        found.map_or(0, |&at| nodes[at])
    }

    fn rounds(&self, head: NodeId) -> Count {
        let facts = self.linked.steps[head as usize].facts();
        let max = self.maximum.world.fact(facts, self.tags, |fact| fact.max);
        max.unwrap_or(Count::UNBOUNDED)
    }
}

fn entries(
    components: &[Vec<usize>],
    edges: &[Vec<usize>],
    start: usize,
) -> (Vec<usize>, Vec<bool>) {
    let mut number = vec![0; edges.len()];
    for (at, component) in components.iter().enumerate() {
        for &node in component {
            number[node] = at;
        }
    }
    let mut entered = vec![false; edges.len()];
    entered[start] = true;
    for (from, next) in edges.iter().enumerate() {
        for &to in next {
            entered[to] |= number[from] != number[to];
        }
    }
    (number, entered)
}

fn each(counts: &Counts) -> impl Iterator<Item = (Key, Most)> {
    counts.iter().map(|(&key, &most)| (key, most))
}
