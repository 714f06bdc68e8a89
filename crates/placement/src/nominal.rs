// SPDX-License-Identifier: GPL-2.0-or-later
//! The nominal path: what a system call does when it succeeds, on a warm cache. Conditions
//! go as facts say, else as the code says of itself, else not into what is optional.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Count;
use crate::body::{EXIT, Hint, NodeId};
use crate::context::{Key, Tags, World};
use crate::linked::{Linked, Step};
use crate::maximum::MAX_CALLS;
use crate::program::FunctionId;

/// Most steps of one function.
const MAX_STEPS: usize = 200_000;
/// Most hooks of one function.
const MAX_EVENTS: usize = 10_000;

/// A hook on the nominal path.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) key: Key,
    pub(crate) times: Count,
    pub(crate) calls: Option<Rc<Chain>>,
}

/// The functions from here to a hook.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) function: FunctionId,
    /// Where its caller calls it, if it does so itself and by name.
    pub(crate) site: Option<NodeId>,
    pub(crate) next: Option<Rc<Chain>>,
}

pub(crate) struct Nominal<'w, 'x, 'a> {
    world: &'w World<'x, 'a>,
    known: FxHashMap<(FunctionId, Tags), Rc<Vec<Event>>>,
    /// Being walked.
    open: FxHashSet<FunctionId>,
    /// Decisions that nothing decided, for those who write facts.
    pub(crate) guesses: FxHashSet<(FunctionId, NodeId)>,
}

/// A call on the nominal path.
struct Call {
    to: FunctionId,
    from: FunctionId,
    /// Where, if it is no callback and no hook's implementation.
    site: Option<NodeId>,
    /// The module whose implementation it is.
    module: Option<u8>,
    times: Count,
}

/// A loop that the walk is in.
struct Round {
    head: NodeId,
    exit: Option<NodeId>,
    /// Events before it.
    events: usize,
    times: Count,
}

struct Walk<'l> {
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
            guesses: FxHashSet::default(),
        }
    }

    /// The hooks that a function calls, in order.
    pub(crate) fn of(&mut self, id: FunctionId, tags: Tags) -> Rc<Vec<Event>> {
        let tags = self.world.enter(tags, id);
        if let Some(known) = self.known.get(&(id, tags)) {
            return Rc::clone(known);
        }
        if self.open.len() >= MAX_CALLS as usize || !self.open.insert(id) {
            // It calls itself, or is called too deep: not on the nominal path.
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
        let hook = world.framework.of_function.get(&id);
        if let Some(&hook) = hook {
            let key = Key {
                hook,
                teardown: false,
                modules: 0,
            };
            events.push(Event {
                key,
                times: Count::ONE,
                calls: None,
            });
        }
        if let Some(linked) = world.graphs.functions.get(&id) {
            let mut walk = Walk {
                linked,
                tags,
                events: Vec::new(),
                rounds: Vec::new(),
                visited: FxHashSet::default(),
                steps: 0,
            };
            self.walk(&mut walk, linked.entry, None, id);
            events.append(&mut walk.events);
        }
        for &(module, to) in hook
            .and_then(|hook| world.framework.implementations.get(hook))
            .into_iter()
            .flatten()
        {
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

    /// Adds what a callee calls.
    fn call(&mut self, call: Call, tags: Tags, events: &mut Vec<Event>) {
        let Call {
            to,
            from,
            site,
            module,
            times,
        } = call;
        let world = self.world;
        let mut module = module;
        if let Some(&(hook, its)) = world.framework.direct.get(&to) {
            // What the framework calls stands for a hook's implementation.
            if !world.framework.of_function.contains_key(&from) {
                let key = Key {
                    hook,
                    teardown: world.is_teardown(to),
                    modules: 0,
                };
                let calls = Some(Rc::new(Chain {
                    function: to,
                    site,
                    next: None,
                }));
                events.push(Event { key, times, calls });
            }
            module = Some(its);
        }
        let teardown = world.is_teardown(to);
        let inner = self.of(to, tags);
        for event in inner.iter() {
            let key = Key {
                hook: event.key.hook,
                teardown: event.key.teardown || teardown,
                modules: event.key.modules | module.map_or(0, |module| 1 << module),
            };
            let next = event.calls.clone();
            let calls = Some(Rc::new(Chain {
                function: to,
                site,
                next,
            }));
            let times = event.times.repeated(times);
            events.push(Event { key, times, calls });
        }
    }

    /// Walks from a step to the end of the function, or to one of `until`.
    fn walk(
        &mut self,
        walk: &mut Walk<'_>,
        from: NodeId,
        until: Option<&FxHashSet<NodeId>>,
        id: FunctionId,
    ) {
        let (world, linked) = (self.world, walk.linked);
        let depth = walk.rounds.len();
        let mut at = from;
        loop {
            walk.steps += 1;
            if walk.steps > MAX_STEPS || until.is_some_and(|until| until.contains(&at)) {
                break;
            }
            // Loops that are left by `break`.
            while walk.rounds.len() > depth
                && walk
                    .rounds
                    .last()
                    .is_some_and(|round| round.exit == Some(at))
            {
                close(walk);
            }
            if at == EXIT {
                break;
            }
            let Some(step) = walk.linked.steps.get(at as usize) else {
                break;
            };
            at = match step {
                Step::Exit => break,
                Step::Pass(next) => *next,
                Step::Call { next, .. } => {
                    self.call_step(walk, at, id);
                    *next
                }
                Step::Branch { .. } => self.branch(walk, at, id),
                Step::Switch { arms, other, facts } => {
                    let takes = self
                        .world
                        .fact(facts, walk.tags, |fact| fact.takes.as_deref());
                    let arm = takes.and_then(|takes| arms.iter().find(|arm| &*arm.0 == takes));
                    match (takes, arm) {
                        (_, Some(arm)) => arm.1,
                        (Some(_), None) => *other,
                        (None, None) => {
                            self.guesses.insert((id, at));
                            *other
                        }
                    }
                }
                Step::Head { facts, next, exit } => {
                    if !walk.visited.insert(at) {
                        // Once round: it is not gone round again.
                        let back = walk.rounds.iter().rposition(|round| round.head == at);
                        let Some(back) = back.filter(|&back| back >= depth) else {
                            break;
                        };
                        let exit = walk.rounds[back].exit;
                        while walk.rounds.len() > back {
                            close(walk);
                        }
                        // What is behind a loop that nothing leaves is not reached.
                        match exit.filter(|&exit| world.leads(linked, at, exit, walk.tags)) {
                            Some(exit) => {
                                at = exit;
                                continue;
                            }
                            None => break,
                        }
                    }
                    let times = self
                        .world
                        .fact(facts, walk.tags, |fact| fact.nominal)
                        .unwrap_or(Count::ONE);
                    let leaves = |exit: &NodeId| world.leads(linked, at, *exit, walk.tags);
                    if let Some(exit) = exit.filter(|exit| times.is_zero() && leaves(exit)) {
                        exit
                    } else {
                        walk.rounds.push(Round {
                            head: at,
                            exit: *exit,
                            events: walk.events.len(),
                            times,
                        });
                        *next
                    }
                }
            };
        }
        while walk.rounds.len() > depth {
            close(walk);
        }
    }

    /// Makes a call: of the function that a fact names, else of the first that it can be.
    fn call_step(&mut self, walk: &mut Walk<'_>, at: NodeId, id: FunctionId) {
        let (linked, tags) = (walk.linked, walk.tags);
        let Some(Step::Call {
            targets,
            passed,
            facts,
            ..
        }) = linked.steps.get(at as usize)
        else {
            return;
        };
        let times = self
            .world
            .fact(facts, tags, |fact| fact.nominal)
            .unwrap_or(Count::ONE);
        let chosen = match self.world.fact(facts, tags, |fact| fact.takes.as_deref()) {
            // It may be one that leads to no hook.
            Some(name) => targets
                .iter()
                .find(|&&to| self.world.program.name(to) == name),
            None => targets.first(),
        };
        if let Some(&to) = chosen.filter(|_| !times.is_zero()) {
            self.call(
                Call {
                    to,
                    from: id,
                    site: Some(at),
                    module: None,
                    times,
                },
                tags,
                &mut walk.events,
            );
        }
        for (to, facts) in passed {
            let times = self
                .world
                .fact(facts, tags, |fact| fact.nominal)
                .unwrap_or(Count::ZERO);
            if !times.is_zero() {
                self.call(
                    Call {
                        to: *to,
                        from: id,
                        site: None,
                        module: None,
                        times,
                    },
                    tags,
                    &mut walk.events,
                );
            }
        }
    }

    fn branch(&mut self, walk: &mut Walk<'_>, at: NodeId, id: FunctionId) -> NodeId {
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
        let said = self.world.fact(facts, walk.tags, |fact| fact.nominal);
        if let Some(times) = said {
            if times == Count::ONE {
                return *yes;
            }
            if !times.is_zero() {
                // Some of the time: what it adds is counted so often, then it goes on.
                let meets = reach(walk.linked, *no);
                let before = walk.events.len();
                self.walk(walk, *yes, Some(&meets), id);
                for event in &mut walk.events[before..] {
                    event.times = event.times.repeated(times);
                }
            }
            return *no;
        }
        match (constant, hint) {
            (Some(true), _) => *yes,
            (Some(false), _) => *no,
            (None, Hint::Yes) => *yes,
            (None, Hint::No) => *no,
            (None, Hint::Open) => {
                self.guesses.insert((id, at));
                if *repeats { *yes } else { *no }
            }
        }
    }
}

/// Ends a loop: what was called in it is called that often.
fn close(walk: &mut Walk<'_>) {
    if let Some(round) = walk.rounds.pop() {
        for event in &mut walk.events[round.events..] {
            event.times = event.times.repeated(round.times);
        }
    }
}

/// What can be reached from a step without going back to the head of a loop.
fn reach(linked: &Linked, from: NodeId) -> FxHashSet<NodeId> {
    let mut found = FxHashSet::default();
    let mut queue = vec![from];
    while let Some(at) = queue.pop() {
        if found.insert(at)
            && !matches!(
                linked.steps.get(at as usize),
                None | Some(Step::Head { .. })
            )
        {
            queue.extend(linked.steps[at as usize].successors());
        }
    }
    found
}
