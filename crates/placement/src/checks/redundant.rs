// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks called twice on a success path. Arguments are followed up the call string to the common
//! caller, to see whether they name the same object.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::value::{Frame, Value};
use crate::body::{Body, Node, NodeId};
use crate::facts::{CheckFacts, PairFact};
use crate::load::Bodies;
use crate::nominal::Event;
use crate::program::{FunctionId, Program};
use crate::{Confidence, RedundantCheck};

const MAX_EVENTS: usize = 40;

/// A function in a call string, and its call in the previous one.
type Link = (FunctionId, Option<NodeId>);

pub(crate) type Pairs = BTreeMap<RedundantCheck, Vec<String>>;

pub(crate) struct Finder<'x, 'a> {
    pub(crate) program: &'x Program<'a>,
    pub(crate) bodies: &'x [Bodies],
    pub(crate) facts: &'x CheckFacts,
    pub(crate) found: &'x mut Pairs,
}

pub(crate) fn redundant(found: Pairs) -> Vec<RedundantCheck> {
    let mut all: Vec<RedundantCheck> = found
        .into_iter()
        .map(|(check, syscalls)| RedundantCheck { syscalls, ..check })
        .collect();
    all.sort_by_key(|check| {
        let calls = Reverse(check.syscalls.len());
        (check.confidence, !check.same_question, calls)
    });
    all
}

impl<'x> Finder<'x, '_> {
    pub(crate) fn add(
        &mut self,
        title: &str,
        entry: FunctionId,
        events: &[Event],
        hooks: &[String],
    ) {
        let mut by_hook: BTreeMap<u16, Vec<Vec<Link>>> = BTreeMap::new();
        for event in events {
            if event.key.teardown || event.key.modules != 0 || event.times.is_zero() {
                continue;
            }
            let chains = by_hook.entry(event.key.hook).or_default();
            if chains.len() < MAX_EVENTS {
                chains.push(links(entry, event));
            }
        }
        for (hook, strings) in by_hook {
            let Some(hook) = hooks.get(usize::from(hook)) else {
                continue;
            };
            for (at, second) in strings.iter().enumerate() {
                for first in &strings[..at] {
                    if let Some(check) = self.pair(hook, first, second) {
                        self.found.entry(check).or_default().push(title.to_owned());
                    }
                }
            }
        }
    }

    fn pair(&self, hook: &str, first: &[Link], second: &[Link]) -> Option<RedundantCheck> {
        let shared = first.iter().zip(second).take_while(|(a, b)| a == b).count();
        let within = shared.checked_sub(1)?;
        if first.len() <= shared || second.len() <= shared {
            return None;
        }
        let [one, other] = [first, second].map(|links| self.arguments(links, within));
        let (confidence, same_question, why) = self.judge(hook, [&one, &other], [first, second]);
        let names = |links: &[Link]| {
            let names = links[within..].iter().map(|link| self.program.name(link.0));
            names.map(str::to_owned).collect()
        };
        let asked = |values: &[(bool, Value)]| {
            let texts = values.iter().filter(|value| value.0);
            let texts: Vec<&str> = texts.map(|value| value.1.text.as_str()).collect();
            texts.join(", ")
        };
        Some(RedundantCheck {
            confidence,
            same_question,
            hook: hook.to_owned(),
            within: self.program.name(first[within].0).to_owned(),
            first: names(first),
            second: names(second),
            asked: [asked(&one), asked(&other)],
            why,
            syscalls: Vec::new(),
        })
    }

    /// Compares object and request. The object is the first argument that is not context.
    fn judge(
        &self,
        hook: &str,
        asked: [&[(bool, Value)]; 2],
        links: [&[Link]; 2],
    ) -> (Confidence, bool, String) {
        let [one, other] = asked.map(|values| {
            let about = values.iter().filter(|value| value.0);
            about.map(|value| &value.1).collect::<Vec<_>>()
        });
        let whole = self.facts.whole_hooks.iter().any(|name| name == hook);
        let objects = if whole { one.len().max(1) } else { 1 };
        let same = |pair: (&&Value, &&Value)| pair.0.text == pair.1.text && pair.0.is_followed();
        let questions = one.iter().zip(&other).skip(objects);
        let same_question = one.len() == other.len() && questions.clone().all(same);
        let pairs: Vec<_> = one.iter().zip(&other).take(objects).collect();
        let leads = |links: &[Link], names: &[String]| {
            let mut functions = links.iter().map(|link| self.program.name(link.0));
            functions.any(|function| names.iter().any(|name| name == function))
        };
        let applies = |fact: &&PairFact| {
            let first = fact.hook == hook && leads(links[0], &fact.first);
            first && leads(links[1], &fact.second)
        };
        if let Some(fact) = self.facts.other.iter().find(applies) {
            return (Confidence::Unknown, same_question, fact.why.clone());
        }
        let mut same_facts = self.facts.same.iter().filter(applies);
        let mut same_fact = || same_facts.find(|fact| !leads(links[0], &fact.unless));
        let equal = !pairs.is_empty() && pairs.iter().all(|pair| pair.0.text == pair.1.text);
        let mut lost = pairs.iter().flat_map(|pair| [&pair.0.lost, &pair.1.lost]);
        let lost = lost.find_map(Option::as_ref);
        let (confidence, why) = match (equal, lost) {
            (true, None) if pairs.iter().all(|pair| !pair.0.memory) => (
                Confidence::Sure,
                "the same values; nothing changes them in between".to_owned(),
            ),
            (true, None) => (
                Confidence::Likely,
                "the same expression; what it reads could change in between".to_owned(),
            ),
            _ => match (same_fact(), lost) {
                (Some(fact), _) => (Confidence::Likely, format!("{}: {}", fact.object, fact.why)),
                (None, Some(lost)) => (Confidence::Unknown, lost.clone()),
                (None, None) => (
                    Confidence::Unknown,
                    "different expressions, which may refer to one object".to_owned(),
                ),
            },
        };
        (confidence, same_question, why)
    }

    /// A hook's arguments, expressed in the variables of `within`; false for context arguments.
    fn arguments(&self, links: &[Link], within: usize) -> Vec<(bool, Value)> {
        let Some((last, above)) = links.split_last() else {
            return Vec::new();
        };
        let parameters = self.body(last.0).map_or(&[][..], |body| &body.parameters);
        let mut values: Vec<(bool, Value)> = parameters
            .iter()
            .map(|name| {
                let context = self.facts.context_parameters.iter();
                let about = !context.into_iter().any(|other| **other == **name);
                (about, Value::name(name))
            })
            .collect();
        let mut callee = last;
        for link in above[within..].iter().rev() {
            let arguments = callee.1.and_then(|site| self.passed(link.0, site));
            let frame = Frame {
                caller: self.body(link.0),
                callee: self.body(callee.0),
                arguments,
                pure: &self.facts.pure_functions,
            };
            for value in &mut values {
                value.1 = frame.up(&value.1);
            }
            callee = link;
        }
        values
    }

    fn passed(&self, function: FunctionId, site: NodeId) -> Option<&'x [Box<str>]> {
        match self.body(function)?.nodes.get(site as usize)? {
            Node::Call { arguments, .. } => Some(arguments),
            _ => None,
        }
    }

    fn body(&self, function: FunctionId) -> Option<&'x Body> {
        self.program.body(self.bodies, function)
    }
}

fn links(entry: FunctionId, event: &Event) -> Vec<Link> {
    let below = event.links().map(|link| (link.function, link.site));
    std::iter::once((entry, None)).chain(below).collect()
}
