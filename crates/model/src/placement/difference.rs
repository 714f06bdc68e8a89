// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences between two placements: what a patch or a release changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::{Count, HookPlacement, ModulePlacement, PlacementDocument, Reach, SyscallPlacement};
use crate::document::{DocumentFault, Kind, Stored, all_sound, printable};
use crate::environment::Tool;

/// Differences between two placements: `lsmeter placement diff --json`. See
/// [`PlacementDifference::between`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter placement difference")]
pub struct PlacementDifference {
    pub tool: Tool,
    pub before: PlacementSide,
    pub after: PlacementSide,
    /// Hooks that only one framework has.
    pub framework: NameChanges,
    /// Modules that differ, by name.
    pub modules: Vec<ModuleDifference>,
    /// Number of system calls (by case and file system) that both placements have.
    pub compared: u32,
    /// System calls that differ, or that only one placement has.
    pub changes: Vec<SyscallDifference>,
}

/// One of two placements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementSide {
    /// Path of the tree, with `@` and the revision if there is one.
    pub tree: String,
    pub version: String,
    pub hooks: u32,
    /// Lines of code in `security/`, without blank lines and comments.
    pub loc: u64,
}

/// Names that only one of two lists has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameChanges {
    /// Only in the second, sorted.
    pub added: Vec<String>,
    /// Only in the first, sorted.
    pub removed: Vec<String>,
}

impl NameChanges {
    pub fn between(before: &[String], after: &[String]) -> NameChanges {
        let [before, after]: [BTreeSet<&String>; 2] =
            [before, after].map(|names| names.iter().collect());
        NameChanges {
            added: after.difference(&before).map(|&n| n.clone()).collect(),
            removed: before.difference(&after).map(|&n| n.clone()).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleDifference {
    /// As `lsm=` names it.
    pub module: String,
    /// Hooks that it implemented; `None` if there was no such module.
    pub hooks_before: Option<u32>,
    /// Hooks that it implements; `None` if it was removed.
    pub hooks_after: Option<u32>,
    /// Lines of code before and after; 0 if the module does not exist.
    pub loc: [u64; 2],
    /// Hooks that it implements now, and no longer implements.
    pub implements: NameChanges,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyscallDifference {
    pub syscall: String,
    /// Variant of the call; empty for the plain one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub case: String,
    pub filesystem: String,
    /// The placement that has it; missing if both do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Side>,
    /// Hooks that differ, by name; all hooks if only one placement has the call.
    pub hooks: Vec<HookDifference>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Before,
    After,
}

/// Where in a system call a hook is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookPart {
    /// By the kernel itself.
    Own,
    Teardown,
    /// From inside other hooks, by these modules (`selinux+ima`).
    Inside(String),
}

/// How a hook's counts differ. Changes on the success path take precedence.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HookChange {
    /// The hook is new on the success path.
    Added,
    /// More calls on the success path, at least for some paths: `2D` instead of `D+1`.
    More,
    /// Fewer calls on the success path.
    Fewer,
    /// The hook is no longer on the success path.
    Removed,
    /// The success path is unchanged; the hook is now reachable on another path.
    Reachable,
    /// The success path is unchanged; the hook is no longer reachable on another path.
    Unreachable,
    /// The success path is unchanged; the upper bound is higher.
    MaximumMore,
    /// The success path is unchanged; the upper bound is lower.
    MaximumFewer,
}

impl HookChange {
    pub fn asks_more(self) -> bool {
        matches!(self, HookChange::Added | HookChange::More)
    }

    pub fn is_nominal(self) -> bool {
        self <= HookChange::Removed
    }

    fn between(before: Reach, after: Reach) -> Option<HookChange> {
        use HookChange as C;
        let (was, is) = (before.success_path, after.success_path);
        if was != is {
            return Some(match (was.is_zero(), is.is_zero()) {
                (true, _) => C::Added,
                (_, true) => C::Removed,
                _ if is.is_within(was) => C::Fewer,
                _ => C::More,
            });
        }
        let (was, is) = (before.max, after.max);
        (was != is).then(|| match (was.is_zero(), is.is_zero()) {
            (true, _) => C::Reachable,
            (_, true) => C::Unreachable,
            _ if is.is_within(was) => C::MaximumFewer,
            _ => C::MaximumMore,
        })
    }
}

/// A hook of a system call that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookDifference {
    pub hook: String,
    pub part: HookPart,
    pub change: HookChange,
    pub before: Reach,
    pub after: Reach,
    /// Modules of the second placement that implement the hook, or of the first, if the hook was
    /// removed.
    pub modules: Vec<String>,
    /// New call chains on the success path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_calls: Vec<Vec<String>>,
    /// Call chains no longer on the success path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone_calls: Vec<Vec<String>>,
}

type Key<'d> = (&'d str, &'d str, &'d str);

fn by_key(document: &PlacementDocument) -> BTreeMap<Key<'_>, &SyscallPlacement> {
    document
        .syscalls
        .iter()
        .map(|call| ((&*call.filesystem, &*call.syscall, &*call.case), call))
        .collect()
}

impl PlacementDifference {
    /// Both should have the same system calls and file systems. Those that only one has are listed,
    /// but not counted as compared.
    pub fn between(before: &PlacementDocument, after: &PlacementDocument) -> PlacementDifference {
        let (old, new) = (by_key(before), by_key(after));
        let keys: BTreeSet<Key<'_>> = old.keys().chain(new.keys()).copied().collect();
        let mut compared = 0;
        let mut changes = Vec::new();
        for key in keys {
            let (was, is) = (old.get(&key).copied(), new.get(&key).copied());
            let only = match (was, is) {
                (Some(_), None) => Some(Side::Before),
                (None, Some(_)) => Some(Side::After),
                _ => None,
            };
            compared += u32::from(only.is_none());
            let hooks = hooks(was, is);
            if only.is_some() || !hooks.is_empty() {
                changes.push(SyscallDifference {
                    syscall: key.1.to_owned(),
                    case: key.2.to_owned(),
                    filesystem: key.0.to_owned(),
                    only,
                    hooks,
                });
            }
        }
        let framework = match [before, after].map(|side| side.framework.names.as_slice()) {
            // Result files without lists of hooks.
            [[], _] | [_, []] => NameChanges::default(),
            [before, after] => NameChanges::between(before, after),
        };
        PlacementDifference {
            tool: Tool::default(),
            before: PlacementSide::new(before),
            after: PlacementSide::new(after),
            framework,
            modules: modules(&before.modules, &after.modules),
            compared,
            changes,
        }
    }

    /// System calls in both placements that gain hook calls on their success path, teardown
    /// excluded.
    pub fn asking_more(&self) -> impl Iterator<Item = &SyscallDifference> {
        let more =
            |hook: &HookDifference| hook.change.asks_more() && hook.part != HookPart::Teardown;
        self.changes
            .iter()
            .filter(move |call| call.only.is_none() && call.hooks.iter().any(more))
    }
}

impl Stored for PlacementDifference {
    const KIND: Kind = Kind::PlacementDifference;

    fn check(&self) -> Result<(), DocumentFault> {
        let otherwise = |hook: &&HookDifference| {
            HookChange::between(hook.before, hook.after) != Some(hook.change)
        };
        all_sound("changes", &self.changes, |call| {
            let hook = call.hooks.iter().find(otherwise)?;
            let hook = printable(&hook.hook);
            Some(format!("the change does not match the counts of {hook}"))
        })
    }
}

impl PlacementSide {
    fn new(document: &PlacementDocument) -> PlacementSide {
        PlacementSide {
            tree: document.tree.clone(),
            version: document.version.clone(),
            hooks: document.framework.hooks,
            loc: document.framework.loc,
        }
    }
}

impl SyscallDifference {
    /// `stat`, or `open (missing)` for a separate case.
    pub fn title(&self) -> String {
        super::title(&self.syscall, &self.case)
    }
}

fn modules(before: &[ModulePlacement], after: &[ModulePlacement]) -> Vec<ModuleDifference> {
    let [old, new]: [BTreeMap<&str, &ModulePlacement>; 2] =
        [before, after].map(|modules| modules.iter().map(|m| (m.module.as_str(), m)).collect());
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let found = names.into_iter().filter_map(|name| {
        let [was, is] = [&old, &new].map(|modules| modules.get(name).copied());
        let [before, after] = [was, is].map(|module| module.map_or(&[][..], |m| &m.implements));
        let loc = [was, is].map(|module| module.map_or(0, |module| module.loc));
        let implements = NameChanges::between(before, after);
        let same = was.is_some() == is.is_some() && loc[0] == loc[1] && implements.is_empty();
        (!same).then(|| ModuleDifference {
            module: name.to_owned(),
            hooks_before: was.map(|module| module.hooks),
            hooks_after: is.map(|module| module.hooks),
            loc,
            implements,
        })
    });
    found.collect()
}

type Parts<'d> = BTreeMap<(&'d str, HookPart), (Reach, &'d HookPlacement)>;

fn parts(call: Option<&SyscallPlacement>) -> Parts<'_> {
    let hooks = call.into_iter().flat_map(|call| &call.hooks);
    hooks
        .flat_map(|hook| {
            let name = hook.hook.as_str();
            let parts = hook.parts();
            parts.map(move |(part, reach)| ((name, part), (reach, hook)))
        })
        .collect()
}

fn hooks(was: Option<&SyscallPlacement>, is: Option<&SyscallPlacement>) -> Vec<HookDifference> {
    let (old, new) = (parts(was), parts(is));
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let found = keys.into_iter().filter_map(|key| {
        let reach = |parts: &Parts<'_>| parts.get(key).map_or_else(Reach::default, |at| at.0);
        let (before, after) = (reach(&old), reach(&new));
        let change = HookChange::between(before, after)?;
        let its = new.get(key).or_else(|| old.get(key));
        let (mut new_calls, mut gone_calls) = (Vec::new(), Vec::new());
        if change.is_nominal() {
            let (before, after) = (calls(was, key), calls(is, key));
            new_calls = beyond(&after, &before);
            gone_calls = beyond(&before, &after);
        }
        Some(HookDifference {
            hook: key.0.to_owned(),
            part: key.1.clone(),
            change,
            before,
            after,
            modules: its.map_or_else(Vec::new, |at| at.1.modules.clone()),
            new_calls,
            gone_calls,
        })
    });
    let mut found: Vec<HookDifference> = found.collect();
    found.sort_by(|a, b| (a.change, &a.hook, &a.part).cmp(&(b.change, &b.hook, &b.part)));
    found
}

type Call<'d> = (&'d [String], Count);

fn calls<'d>(call: Option<&'d SyscallPlacement>, (hook, part): &(&str, HookPart)) -> Vec<Call<'d>> {
    let fits = |entry: &&super::TraceEntry| {
        let its = match part {
            HookPart::Own => !entry.teardown && entry.modules.is_empty(),
            HookPart::Teardown => entry.teardown && entry.modules.is_empty(),
            HookPart::Inside(modules) => entry.modules.join("+") == *modules,
        };
        entry.hook == *hook && its
    };
    let entries = call.into_iter().flat_map(|call| &call.trace).filter(fits);
    entries
        .map(|entry| (entry.calls.as_slice(), entry.times))
        .collect()
}

fn beyond(calls: &[Call<'_>], others: &[Call<'_>]) -> Vec<Vec<String>> {
    let mut others = others.to_vec();
    let mut found = Vec::new();
    for call in calls {
        match others.iter().position(|other| other == call) {
            Some(at) => {
                others.swap_remove(at);
            }
            None => found.push(call.0.to_vec()),
        }
    }
    found
}
