// SPDX-License-Identifier: GPL-2.0-or-later
//! Causes of unbounded maxima, for the result file.

use rustc_hash::FxHashMap;

use crate::body::{Node, NodeId};
use crate::load::Loaded;
use crate::maximum::{Cause, CauseSet, Maximum};
use crate::program::{FunctionId, Program};
use crate::scan::number;
use crate::{BoundlessCause, SyscallPlacement, Unbounded};

const MAX_NAMES: usize = 40;

#[derive(Debug, Default)]
pub(super) struct Boundless {
    places: FxHashMap<Unbounded, u32>,
}

impl Boundless {
    fn place(&mut self, cause: Unbounded) -> u32 {
        let next = number(self.places.len());
        *self.places.entry(cause).or_insert(next)
    }

    pub(super) fn sorted(self, syscalls: &mut [SyscallPlacement]) -> Vec<Unbounded> {
        let mut all: Vec<(Unbounded, u32)> = self.places.into_iter().collect();
        all.sort_unstable();
        let mut places = vec![0; all.len()];
        for (place, (_, old)) in (0u32..).zip(&all) {
            places[*old as usize] = place;
        }
        let hooks = syscalls.iter_mut().flat_map(|call| &mut call.hooks);
        for causes in hooks.flat_map(|hook| hook.unbounded_by.values_mut()) {
            for cause in &mut *causes {
                *cause = places[*cause as usize];
            }
            causes.sort_unstable();
        }
        all.into_iter().map(|(cause, _)| cause).collect()
    }
}

pub(super) struct Namer<'a, 'p> {
    pub(super) program: &'a Program<'p>,
    pub(super) loaded: &'a Loaded,
    pub(super) all: &'a mut Boundless,
    pub(super) known: FxHashMap<CauseSet, Vec<u32>>,
}

impl<'a> Namer<'a, '_> {
    pub(super) fn places(&mut self, maximum: &Maximum<'_, '_, '_>, set: CauseSet) -> Vec<u32> {
        if let Some(known) = self.known.get(&set) {
            return known.clone();
        }
        let mut places = Vec::new();
        for cause in maximum.causes.in_set(set) {
            let named = self.named(maximum, cause);
            places.push(self.all.place(named));
        }
        places.sort_unstable();
        self.known.insert(set, places.clone());
        places
    }

    fn named(&self, maximum: &Maximum<'_, '_, '_>, cause: Cause) -> Unbounded {
        use BoundlessCause as Kind;
        let (id, at, kind, code) = match cause {
            Cause::Loop(id, at) => (id, Some(at), Kind::Loop, self.text(id, at)),
            Cause::Callback(id, at, to) => (id, Some(at), Kind::Callback, self.name(to)),
            Cause::Circle(id) => {
                let (first, names) = self.circle(maximum.circle_of(id));
                (first, None, Kind::Circle, names)
            }
            Cause::Large(id) => (id, None, Kind::Large, String::new()),
            Cause::Nested(id) => (id, None, Kind::Nested, String::new()),
        };
        let why = match kind {
            Kind::Loop => "neither the code nor a fact limits its iterations",
            Kind::Callback => "neither the code nor a fact limits its calls",
            Kind::Circle => "they call each other, and no fact limits the depth",
            Kind::Large => "the sum overflows",
            Kind::Nested => "its loops are nested too deeply",
        };
        let below = at.and_then(|at| self.node(id, at)).map_or(0, Node::line);
        Unbounded {
            file: self.program.path(id).to_owned(),
            line: self.program.function(id).line.saturating_add(below),
            function: self.name(id),
            cause: kind,
            code,
            why: why.to_owned(),
        }
    }

    fn circle(&self, members: &[FunctionId]) -> (FunctionId, String) {
        let mut members = members.to_vec();
        members.sort_unstable_by_key(|&id| self.program.name(id));
        let first = members.first().copied().unwrap_or_default();
        let mut names: Vec<String> = members.iter().map(|&id| self.name(id)).collect();
        let left_out = names.len().saturating_sub(MAX_NAMES);
        names.truncate(MAX_NAMES);
        if left_out > 0 {
            names.push(format!("and {left_out} more"));
        }
        (first, names.join(", "))
    }

    fn name(&self, id: FunctionId) -> String {
        self.program.name(id).to_owned()
    }

    fn node(&self, id: FunctionId, node: NodeId) -> Option<&'a Node> {
        let body = self.program.body(&self.loaded.bodies, id)?;
        body.nodes.get(node as usize)
    }

    fn text(&self, id: FunctionId, node: NodeId) -> String {
        let text = self.node(id, node).and_then(Node::text);
        text.unwrap_or_default().to_owned()
    }
}
