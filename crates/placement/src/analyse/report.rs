// SPDX-License-Identifier: GPL-2.0-or-later
//! What was found, as the document has it.

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
use crate::modules::Security;
use crate::nominal::Event;
use crate::program::{FunctionId, Program};
use crate::series::{Series, speaks_of};
use crate::{HookPlacement, Reach, StaleFact, SyscallPlacement, TraceEntry, Undecided, Unparsed};

/// The text of decisions, from the graphs of their functions.
pub(super) fn undecided(
    program: &Program<'_>,
    loaded: &Loaded,
    decisions: &BTreeSet<(FunctionId, u32)>,
) -> Vec<Undecided> {
    let text = |id: FunctionId, at: u32| {
        let place = program.functions[id as usize];
        let body = loaded.bodies[place.file as usize].get(&place.index)?;
        match body.nodes.get(at as usize)? {
            Node::Branch { text, .. } => Some(text.to_string()),
            Node::Switch { text, .. } => Some(format!("switch ({text})")),
            _ => None,
        }
    };
    let all: BTreeSet<_> = decisions
        .iter()
        .filter_map(|&(id, at)| {
            Some(Undecided {
                file: program.path(id).to_owned(),
                function: program.name(id).to_owned(),
                code: text(id, at)?,
            })
        })
        .collect();
    all.into_iter().collect()
}

/// Which system call is looked at.
pub(super) struct Place<'a> {
    pub(super) fs: &'a str,
    /// Its name and case.
    pub(super) syscall: (&'a str, &'a str),
    pub(super) entry: FunctionId,
}

/// One system call as the document has it, and where its facts do not fit the code.
pub(super) fn placement(
    world: &World<'_, '_>,
    security: &Security,
    at: Place<'_>,
    most: &[(Key, Most)],
    events: &[Event],
    why: &mut dyn FnMut(CauseSet) -> Vec<u32>,
) -> (SyscallPlacement, Vec<Unparsed>) {
    let Place {
        fs,
        syscall: (syscall, case),
        entry,
    } = at;
    let mut contradictions = Vec::new();
    let mut nominal: BTreeMap<Key, Count> = BTreeMap::new();
    for event in events {
        let sum = nominal.entry(event.key).or_default();
        *sum = sum.plus(event.times);
    }
    let framework = world.framework;
    let name = |hook: u16| {
        framework
            .hooks
            .get(usize::from(hook))
            .cloned()
            .unwrap_or_default()
    };
    let mut hooks: BTreeMap<String, HookPlacement> = BTreeMap::new();
    let keys: BTreeSet<Key> = {
        let most = most.iter().map(|(key, _)| key);
        most.chain(nominal.keys()).copied().collect()
    };
    for key in keys {
        let hook = name(key.hook);
        let at_most = most.binary_search_by_key(&key, |&(key, _)| key);
        let at_most = at_most.map_or_else(|_| Most::default(), |at| most[at].1);
        let mut reach = Reach {
            nominal: nominal.get(&key).copied().unwrap_or_default(),
            max: at_most.count,
        };
        if !reach.nominal.is_within(reach.max) {
            // The code that a fact speaks of was rewritten around it.
            contradictions.push(Unparsed {
                file: world.program.path(entry).to_owned(),
                function: world.program.name(entry).to_owned(),
                line: world.program.function(entry).line,
                reason: format!(
                    "{hook} on {fs}: {} times by facts, {} at most by the code",
                    reach.nominal, reach.max
                ),
            });
            reach.max = reach.max.or(reach.nominal);
        }
        let placed = hooks.entry(hook.clone()).or_insert_with(|| HookPlacement {
            modules: implementers(security, &hook),
            hook,
            nominal: Count::ZERO,
            max: Count::ZERO,
            teardown: Reach::default(),
            nested: BTreeMap::new(),
            unbounded_by: BTreeMap::new(),
        });
        if at_most.causes != 0 {
            let part = if key.modules != 0 {
                modules_of(framework, key.modules).join("+")
            } else if key.teardown {
                "teardown".to_owned()
            } else {
                "own".to_owned()
            };
            let causes = placed.unbounded_by.entry(part).or_default();
            causes.extend(why(at_most.causes));
            causes.sort_unstable();
            causes.dedup();
            causes.shrink_to_fit();
        }
        if key.modules != 0 {
            let modules = modules_of(framework, key.modules).join("+");
            let nested = placed.nested.entry(modules).or_default();
            nested.nominal = nested.nominal.plus(reach.nominal);
            nested.max = nested.max.plus(reach.max);
        } else if key.teardown {
            placed.teardown = reach;
        } else {
            (placed.nominal, placed.max) = (reach.nominal, reach.max);
        }
    }
    let trace = events
        .iter()
        .filter(|event| !event.times.is_zero())
        .map(|event| {
            let mut calls = vec![format!("sys_{}", world.program.name(entry))];
            let mut chain = event.calls.as_ref();
            while let Some(link) = chain {
                calls.push(world.program.name(link.function).to_owned());
                chain = link.next.as_ref();
            }
            TraceEntry {
                hook: name(event.key.hook),
                times: event.times,
                calls,
                teardown: event.key.teardown,
                modules: modules_of(framework, event.key.modules),
            }
        })
        .collect();
    let placed = SyscallPlacement {
        syscall: syscall.to_owned(),
        case: case.to_owned(),
        filesystem: fs.to_owned(),
        hooks: hooks.into_values().collect(),
        trace,
    };
    (placed, contradictions)
}

fn modules_of(framework: &Framework, modules: u32) -> Vec<String> {
    let all = framework.modules.iter().enumerate();
    all.filter(|(number, _)| modules >> number & 1 == 1)
        .map(|(_, name)| name.clone())
        .collect()
}

fn implementers(security: &Security, hook: &str) -> Vec<String> {
    let registers =
        |module: &&crate::modules::Module| module.registrations.iter().any(|r| r.hook == hook);
    security
        .modules
        .iter()
        .filter(registers)
        .map(|module| module.name.clone())
        .collect()
}

/// The functions that were parsed for a file system, and what of them was not understood.
/// Those whose calls of hooks were not understood are among them.
pub(super) fn collect(
    program: &Program<'_>,
    loaded: &Loaded,
    graphs: &Graphs,
    kept: &[FunctionId],
    found: &mut Found,
) {
    found.matched.extend(&graphs.matched);
    for &id in kept {
        found.reachable.insert(id);
        let place = program.functions[id as usize];
        let body = loaded.bodies[place.file as usize].get(&place.index);
        if let Some(body) = body.filter(|body| !body.fault.is_empty()) {
            found.unparsed.insert(Unparsed {
                file: program.path(id).to_owned(),
                function: program.name(id).to_owned(),
                line: program.function(id).line,
                reason: body.fault.to_string(),
            });
        }
    }
}

/// What facts and cuts were not met with.
pub(super) struct Unmatched<'a> {
    /// Facts that did match something.
    pub(super) matched: &'a FxHashSet<FactId>,
    pub(super) bodies: &'a [Bodies],
    /// Names, and what is said of them.
    pub(super) cuts: Vec<(String, String)>,
    pub(super) series: Option<Series>,
}

/// Facts that match nothing in the tree though they speak of its series, with the reason.
pub(super) fn stale(
    facts: &Facts,
    program: &Program<'_>,
    unmatched: Unmatched<'_>,
) -> Vec<StaleFact> {
    let Unmatched {
        matched,
        bodies,
        cuts,
        series,
    } = unmatched;
    let mut stale: Vec<StaleFact> = (0u16..)
        .zip(&facts.code)
        .filter(|(id, fact)| !matched.contains(id) && speaks_of(fact.since, fact.until, series))
        .filter_map(|(_, fact)| {
            let named = fact.function.iter().flat_map(|name| program.all(name));
            let its: Vec<FunctionId> = named
                .copied()
                .filter(|&id| fact.file.iter().any(|file| file == program.path(id)))
                .collect();
            // What tells its code from other versions' is not there: it speaks of those.
            let other = |&id: &FunctionId| {
                let place = program.functions[id as usize];
                let body = bodies[place.file as usize].get(&place.index);
                body.is_some_and(|body| !body.has_any(&fact.beside))
            };
            if !its.is_empty() && its.iter().all(other) {
                return None;
            }
            let reason = if its.is_empty() {
                "no file of these has that function"
            } else {
                "the function has no such code"
            };
            Some(StaleFact {
                function: fact.function.join(", "),
                code: fact.code.join(" | "),
                reason: reason.to_owned(),
                why: fact.why.clone(),
            })
        })
        .collect();
    stale.extend(cuts.into_iter().map(|(pattern, why)| StaleFact {
        function: pattern,
        code: String::new(),
        reason: "no function of that name is defined".to_owned(),
        why,
    }));
    stale
}
