// SPDX-License-Identifier: GPL-2.0-or-later
//! The success path: a successful system call with warm caches. Conditions are decided by facts, or
//! else by hints in the code, or else by leaving out optional work.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Count;
use crate::body::{EXIT, Hint, NodeId};
use crate::context::{Key, Tags, World};
use crate::facts::Fact;
use crate::graph::reachable;
use crate::linked::{FactId, Linked, Step};
use crate::maximum::MAX_CALLS;
use crate::program::FunctionId;

const MAX_STEPS: usize = 200_000;
const MAX_EVENTS: usize = 10_000;

#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) key: Key,
    pub(crate) times: Count,
    pub(crate) calls: Option<Rc<Chain>>,
}

impl Event {
    pub(crate) fn links(&self) -> impl Iterator<Item = &Chain> {
        std::iter::successors(self.calls.as_deref(), |link| link.next.as_deref())
    }

    /// As seen by a caller of `function`.
    fn below(&self, function: FunctionId, site: Option<NodeId>, times: Count) -> Self {
        Self {
            key: self.key,
            times: self.times.repeated(times),
            calls: Some(Rc::new(Chain {
                function,
                site,
                next: self.calls.clone(),
            })),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) function: FunctionId,
    /// The call in the caller, if it is a direct call by name.
    pub(crate) site: Option<NodeId>,
    pub(crate) next: Option<Rc<Chain>>,
}

pub(crate) struct Nominal<'w, 'x, 'a> {
    world: &'w World<'x, 'a>,
    known: FxHashMap<(FunctionId, Tags), Rc<Vec<Event>>>,
    open: FxHashSet<FunctionId>,
    pub(crate) undecided: FxHashSet<(FunctionId, NodeId)>,
}

struct Call {
    to: FunctionId,
    from: FunctionId,
    site: Option<NodeId>,
    module: Option<u8>,
    times: Count,
}

struct Round {
    head: NodeId,
    exit: Option<NodeId>,
    /// Number of events before it.
    events: usize,
    times: Count,
}

struct Walk<'l> {
    id: FunctionId,
    linked: &'l Linked,
    tags: Tags,
    events: Vec<Event>,
    rounds: Vec<Round>,
    visited: FxHashSet<NodeId>,
    steps: usize,
}

impl<'w, 'x, 'a> Nominal<'w, 'x, 'a> {
    pub(crate) fn new(world: &'w World<'x, 'a>) -> Self {
        Self {
            world,
            known: FxHashMap::default(),
            open: FxHashSet::default(),
            undecided: FxHashSet::default(),
        }
    }

    /// Hooks in call order. With recursion, results depend on the entry, so nothing is kept for the
    /// next system call.
    pub(crate) fn path(&mut self, id: FunctionId, tags: Tags) -> Rc<Vec<Event>> {
        self.known.clear();
        self.events(id, tags)
    }

    fn events(&mut self, id: FunctionId, tags: Tags) -> Rc<Vec<Event>> {
        let tags = self.world.enter(tags, id);
        if let Some(known) = self.known.get(&(id, tags)) {
            return Rc::clone(known);
        }
        if self.open.len() >= MAX_CALLS as usize || !self.open.insert(id) {
            // A call that is recursive or nested too deeply is not on the success path.
            return Rc::default();
        }
        let events = Rc::new(self.function(id, tags));
        self.open.remove(&id);
        self.known.insert((id, tags), Rc::clone(&events));
        events
    }

    fn function(&mut self, id: FunctionId, tags: Tags) -> Vec<Event> {
        let world = self.world;
        let mut events = Vec::new();
        if let Some(&hook) = world.framework.of_function.get(&id) {
            events.push(Event {
                key: Key::own(hook),
                times: Count::ONE,
                calls: None,
            });
        }
        if let Some(linked) = world.graphs.functions.get(&id) {
            let mut walk = Walk {
                id,
                linked,
                tags,
                events: Vec::new(),
                rounds: Vec::new(),
                visited: FxHashSet::default(),
                steps: 0,
            };
            self.walk(&mut walk, linked.entry, None);
            events.append(&mut walk.events);
        }
        for (module, to) in world.framework.implementations(id) {
            if world.graphs.functions.contains_key(&to) {
                let call = Call {
                    to,
                    from: id,
                    site: None,
                    module: Some(module),
                    times: Count::ONE,
                };
                self.call(call, tags, &mut events);
            }
        }
        events.truncate(MAX_EVENTS);
        events
    }

    fn call(&mut self, call: Call, tags: Tags, events: &mut Vec<Event>) {
        let Call {
            to, site, times, ..
        } = call;
        let world = self.world;
        let teardown = world.is_teardown(to);
        let as_called = |mut key: Key, module: Option<u8>| {
            key.teardown |= teardown;
            module.map_or(key, |module| key.inside(module))
        };
        let direct = world.framework.direct.get(&to);
        if let Some(&(hook, _)) = direct {
            // The framework's calls are the hook's implementations.
            if !world.framework.of_function.contains_key(&call.from) {
                let event = Event {
                    key: as_called(Key::own(hook), None),
                    times: Count::ONE,
                    calls: None,
                };
                events.push(event.below(to, site, times));
            }
        }
        let module = direct.map(|&(_, module)| module).or(call.module);
        for event in self.events(to, tags).iter() {
            let mut event = event.below(to, site, times);
            event.key = as_called(event.key, module);
            events.push(event);
        }
    }

    /// Walks from a step to the end of the function, or to one of `until`.
    fn walk(&mut self, walk: &mut Walk<'_>, from: NodeId, until: Option<&FxHashSet<NodeId>>) {
        let depth = walk.rounds.len();
        let mut next = Some(from);
        while let Some(at) = next {
            walk.steps += 1;
            if walk.steps > MAX_STEPS || until.is_some_and(|until| until.contains(&at)) {
                break;
            }
            walk.leave_loops(depth, |round| round.exit == Some(at));
            next = match walk.linked.steps.get(at as usize) {
                _ if at == EXIT => None,
                None | Some(Step::Exit) => None,
                Some(Step::Pass(next)) => Some(*next),
                Some(Step::Call { next, .. }) => {
                    self.call_step(walk, at);
                    Some(*next)
                }
                Some(Step::Branch { .. }) => Some(self.branch(walk, at)),
                Some(Step::Switch { arms, other, facts }) => {
                    let takes = |fact: &'x Fact| fact.takes.as_deref();
                    let takes = self.world.fact(facts, walk.tags, takes);
                    if takes.is_none() {
                        self.undecided.insert((walk.id, at));
                    }
                    let taken = arms.iter().find(|arm| Some(&*arm.0) == takes);
                    Some(taken.map_or(*other, |arm| arm.1))
                }
                Some(Step::Head { facts, next, exit }) if walk.visited.insert(at) => {
                    Some(self.enter_loop(walk, at, facts, (*next, *exit)))
                }
                Some(Step::Head { .. }) => self.end_round(walk, at, depth),
            };
        }
        walk.leave_loops(depth, |_| true);
    }

    /// Skips the loop if a fact requires it. Returns the next step.
    fn enter_loop(
        &mut self,
        walk: &mut Walk<'_>,
        at: NodeId,
        facts: &[FactId],
        (next, exit): (NodeId, Option<NodeId>),
    ) -> NodeId {
        let times = self.times(facts, walk.tags).unwrap_or(Count::ONE);
        let leaves = |exit: &NodeId| self.world.leads(walk.linked, at, *exit, walk.tags);
        if let Some(exit) = exit.filter(|exit| times.is_zero() && leaves(exit)) {
            return exit;
        }
        walk.rounds.push(Round {
            head: at,
            exit,
            events: walk.events.len(),
            times,
        });
        next
    }

    /// When a loop's head is reached for the second time, returns the step after the loop. None if
    /// nothing leaves the loop, or if it began outside of this part of the walk.
    fn end_round(&mut self, walk: &mut Walk<'_>, at: NodeId, depth: usize) -> Option<NodeId> {
        let back = walk.rounds.iter().rposition(|round| round.head == at);
        let back = back.filter(|&back| back >= depth)?;
        let exit = walk.rounds[back].exit;
        walk.leave_loops(back, |_| true);
        exit.filter(|&exit| self.world.leads(walk.linked, at, exit, walk.tags))
    }

    fn times(&self, facts: &[FactId], tags: Tags) -> Option<Count> {
        self.world.fact(facts, tags, |fact| fact.success_path)
    }

    /// Calls the function in a fact, or else the first target.
    fn call_step(&mut self, walk: &mut Walk<'_>, at: NodeId) {
        let Some(Step::Call {
            targets,
            passed,
            facts,
            ..
        }) = walk.linked.steps.get(at as usize)
        else {
            return;
        };
        let (world, tags) = (self.world, walk.tags);
        let chosen = match world.fact(facts, tags, |fact| fact.takes.as_deref()) {
            // The function may not lead to a hook.
            Some(name) => targets.iter().find(|&&to| world.program.name(to) == name),
            None => targets.first(),
        };
        let times = self.times(facts, tags).unwrap_or(Count::ONE);
        let called = chosen.map(|&to| (to, Some(at), times));
        let called_back = passed.iter().map(|(to, facts)| {
            let times = self.times(facts, tags);
            (*to, None, times.unwrap_or(Count::ZERO))
        });
        let calls: Vec<_> = called.into_iter().chain(called_back).collect();
        for (to, site, times) in calls.into_iter().filter(|(.., times)| !times.is_zero()) {
            let call = Call {
                to,
                from: walk.id,
                site,
                module: None,
                times,
            };
            self.call(call, tags, &mut walk.events);
        }
    }

    fn branch(&mut self, walk: &mut Walk<'_>, at: NodeId) -> NodeId {
        let Some(Step::Branch {
            hint,
            repeats,
            constant,
            facts,
            yes,
            no,
        }) = walk.linked.steps.get(at as usize)
        else {
            return EXIT;
        };
        if let Some(times) = self.times(facts, walk.tags) {
            if times == Count::ONE {
                return *yes;
            }
            if !times.is_zero() {
                // A branch that is taken sometimes: its events count that often before the walk
                // continues.
                let meets = ahead(walk.linked, *no);
                let before = walk.events.len();
                self.walk(walk, *yes, Some(&meets));
                walk.repeat(before, times);
            }
            return *no;
        }
        match (constant, hint) {
            (Some(true), _) | (None, Hint::Yes) => *yes,
            (Some(false), _) | (None, Hint::No) => *no,
            (None, Hint::Open) => {
                self.undecided.insert((walk.id, at));
                if *repeats { *yes } else { *no }
            }
        }
    }
}

impl Walk<'_> {
    /// Ends the inner loops for which `ends` holds, down to `depth`; multiplies their events by the
    /// number of rounds.
    fn leave_loops(&mut self, depth: usize, ends: impl Fn(&Round) -> bool) {
        while self.rounds.len() > depth
            && let Some(round) = self.rounds.pop_if(|round| ends(round))
        {
            self.repeat(round.events, round.times);
        }
    }

    fn repeat(&mut self, from: usize, times: Count) {
        if times == Count::ONE {
            return;
        }
        for event in &mut self.events[from..] {
            event.times = event.times.repeated(times);
        }
    }
}

/// Steps that can be reached without passing the loop's head again.
fn ahead(linked: &Linked, from: NodeId) -> FxHashSet<NodeId> {
    reachable([from], |at| match linked.steps.get(at as usize) {
        None | Some(Step::Head { .. }) => Vec::new(),
        Some(step) => step.successors(),
    })
}
