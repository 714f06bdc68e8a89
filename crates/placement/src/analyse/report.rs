// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::Found;
use crate::Count;
use crate::body::Node;
use crate::context::{Key, World};
use crate::facts::Facts;
use crate::framework::Framework;
use crate::linked::{FactId, Graphs};
use crate::load::{Bodies, Loaded};
use crate::maximum::{CauseSet, Most};
use crate::modules::{Module, Security};
use crate::nominal::Event;
use crate::program::{FunctionId, Program};
use crate::series::{Series, applies_in};
use crate::{HookPlacement, Reach, StaleFact, SyscallPlacement, TraceEntry, Undecided, Unparsed};

pub(super) fn undecided(
    program: &Program<'_>,
    loaded: &Loaded,
    decisions: &BTreeSet<(FunctionId, u32)>,
) -> Vec<Undecided> {
    let text = |id: FunctionId, at: u32| {
        let body = program.body(&loaded.bodies, id)?;
        match body.nodes.get(at as usize)? {
            Node::Branch { text, .. } => Some(text.to_string()),
            Node::Switch { text, .. } => Some(format!("switch ({text})")),
            _ => None,
        }
    };
    let decision = |&(id, at): &(FunctionId, u32)| {
        Some(Undecided {
            file: program.path(id).to_owned(),
            function: program.name(id).to_owned(),
            code: text(id, at)?,
        })
    };
    let all: BTreeSet<_> = decisions.iter().filter_map(decision).collect();
    all.into_iter().collect()
}

fn unparsed(program: &Program<'_>, id: FunctionId, reason: String) -> Unparsed {
    Unparsed {
        file: program.path(id).to_owned(),
        function: program.name(id).to_owned(),
        line: program.function(id).line,
        reason,
    }
}

pub(super) struct Place<'a, 'x, 'p> {
    pub(super) world: &'a World<'x, 'p>,
    pub(super) security: &'a Security,
    pub(super) fs: &'a str,
    pub(super) syscall: &'a str,
    pub(super) case: &'a str,
    pub(super) entry: FunctionId,
}

impl Place<'_, '_, '_> {
    pub(super) fn placement(
        &self,
        most: &[(Key, Most)],
        events: &[Event],
        why: &mut dyn FnMut(CauseSet) -> Vec<u32>,
    ) -> (SyscallPlacement, Vec<Unparsed>) {
        let mut success_path: BTreeMap<Key, Count> = BTreeMap::new();
        for event in events {
            let sum = success_path.entry(event.key).or_default();
            *sum = sum.plus(event.times);
        }
        let most: BTreeMap<Key, Most> = most.iter().copied().collect();
        let keys: BTreeSet<Key> = most.keys().chain(success_path.keys()).copied().collect();
        let mut contradictions = Vec::new();
        let mut hooks: BTreeMap<String, HookPlacement> = BTreeMap::new();
        for key in keys {
            let hook = self.hook(key);
            let at_most = most.get(&key).copied().unwrap_or_default();
            let mut reach = Reach {
                success_path: success_path.get(&key).copied().unwrap_or_default(),
                max: at_most.count,
            };
            if !reach.success_path.is_within(reach.max) {
                // The code around the subject of the fact was rewritten.
                contradictions.push(self.contradiction(&hook, reach));
                reach.max = reach.max.or(reach.success_path);
            }
            let placed = hooks
                .entry(hook)
                .or_insert_with_key(|hook| self.unplaced(hook));
            if at_most.causes != 0 {
                let causes = placed.unbounded_by.entry(self.part(key)).or_default();
                causes.extend(why(at_most.causes));
                causes.sort_unstable();
                causes.dedup();
                causes.shrink_to_fit();
            }
            if key.modules != 0 {
                let nested = placed.nested.entry(self.part(key)).or_default();
                nested.success_path = nested.success_path.plus(reach.success_path);
                nested.max = nested.max.plus(reach.max);
            } else if key.teardown {
                placed.teardown = reach;
            } else {
                (placed.success_path, placed.max) = (reach.success_path, reach.max);
            }
        }
        let called = events.iter().filter(|event| !event.times.is_zero());
        let placed = SyscallPlacement {
            syscall: self.syscall.to_owned(),
            case: self.case.to_owned(),
            filesystem: self.fs.to_owned(),
            hooks: hooks.into_values().collect(),
            trace: called.map(|event| self.trace(event)).collect(),
        };
        (placed, contradictions)
    }

    fn hook(&self, key: Key) -> String {
        let name = self.world.framework.hooks.get(usize::from(key.hook));
        name.cloned().unwrap_or_default()
    }

    fn unplaced(&self, hook: &str) -> HookPlacement {
        let registers = |module: &&Module| module.registrations.iter().any(|r| r.hook == hook);
        let modules = self.security.modules.iter().filter(registers);
        HookPlacement {
            hook: hook.to_owned(),
            modules: modules.map(|module| module.name.clone()).collect(),
            ..HookPlacement::default()
        }
    }

    fn part(&self, key: Key) -> String {
        if key.modules != 0 {
            modules_of(self.world.framework, key.modules).join("+")
        } else if key.teardown {
            "teardown".to_owned()
        } else {
            "own".to_owned()
        }
    }

    fn contradiction(&self, hook: &str, reach: Reach) -> Unparsed {
        let reason = format!(
            "{hook} on {}: {} calls according to facts, at most {} according to the code",
            self.fs, reach.success_path, reach.max
        );
        unparsed(self.world.program, self.entry, reason)
    }

    fn trace(&self, event: &Event) -> TraceEntry {
        let program = self.world.program;
        let entry = format!("sys_{}", program.name(self.entry));
        let below = event
            .links()
            .map(|link| program.name(link.function).to_owned());
        TraceEntry {
            hook: self.hook(event.key),
            times: event.times,
            calls: std::iter::once(entry).chain(below).collect(),
            teardown: event.key.teardown,
            modules: modules_of(self.world.framework, event.key.modules),
        }
    }
}

fn modules_of(framework: &Framework, modules: u32) -> Vec<String> {
    let all = framework.modules.iter().enumerate();
    all.filter(|(number, _)| modules >> number & 1 == 1)
        .map(|(_, name)| name.clone())
        .collect()
}

/// Adds the functions parsed for a file system. Those parsed only in part may miss hook calls.
pub(super) fn collect(
    program: &Program<'_>,
    loaded: &Loaded,
    graphs: &Graphs,
    kept: &[FunctionId],
    found: &mut Found,
) {
    found.matched.extend(&graphs.matched);
    found
        .reachable
        .extend(kept.iter().map(|id| id % program.own));
    for &id in kept {
        let body = program.body(&loaded.bodies, id);
        if let Some(body) = body.filter(|body| !body.fault.is_empty()) {
            let reason = body.fault.to_string();
            found.unparsed.insert(unparsed(program, id, reason));
        }
    }
}

pub(super) struct Matched<'a> {
    pub(super) facts: &'a FxHashSet<FactId>,
    pub(super) bodies: &'a [Bodies],
    pub(super) unused_cuts: Vec<(String, String)>,
    pub(super) series: Option<Series>,
}

/// Facts that should match in a tree of this series but do not, with the reason.
pub(super) fn stale(facts: &Facts, program: &Program<'_>, matched: Matched<'_>) -> Vec<StaleFact> {
    let all = (0u16..).zip(&facts.code);
    let directory = |path: &'_ str| Some(path.rsplit_once('/')?.0.to_owned());
    let files = program.files.iter();
    let read: BTreeSet<_> = files.map(|file| directory(&file.path)).collect();
    let unmatched = all.filter(|(id, fact)| {
        !matched.facts.contains(id)
            && applies_in(fact.since, fact.until, matched.series)
            && fact.file.iter().any(|file| read.contains(&directory(file)))
    });
    let stale = unmatched.filter_map(|(_, fact)| {
        let functions = program.named_by(fact);
        // A function without the code in the fact's `beside` is another version.
        let other = |&id: &FunctionId| {
            let body = program.body(matched.bodies, id);
            body.is_some_and(|body| !body.has_any(&fact.beside))
        };
        let reason = if functions.is_empty() {
            "none of its files has that function"
        } else if functions.iter().all(other) {
            return None;
        } else {
            "the function has no such code"
        };
        Some(StaleFact {
            function: fact.function.join(", "),
            code: fact.code.join(" | "),
            reason: reason.to_owned(),
            why: fact.why.clone(),
        })
    });
    let systems = facts.sources.fs.values();
    let in_tree = |path: &String| read.contains(&directory(path));
    let calls = systems
        .filter(|fs| fs.paths.iter().all(in_tree))
        .flat_map(|fs| &fs.call);
    let called = calls.flat_map(|fact| fact.functions.iter().map(|name| (name, &fact.why)));
    let unknown = called.filter(|(name, _)| program.id(name).is_none());
    let unknown = unknown.map(|(name, why)| (name.clone(), why.clone()));
    let named = matched.unused_cuts.into_iter().chain(unknown);
    let named = named.map(|(pattern, why)| StaleFact {
        function: pattern,
        code: String::new(),
        reason: "no function with that name is defined".to_owned(),
        why,
    });
    stale.chain(named).collect()
}
