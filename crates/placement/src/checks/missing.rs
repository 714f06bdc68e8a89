// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks on a success path that some modules make and others of their kind do not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{CheckFacts, SubjectFact};
use crate::{Confidence, HookPlacement, MissingCheck, ModulePlacement, SyscallPlacement};

pub(crate) fn missing(
    syscalls: &[SyscallPlacement],
    modules: &[ModulePlacement],
    facts: &CheckFacts,
) -> Vec<MissingCheck> {
    let mut found: BTreeMap<MissingCheck, Vec<&SyscallPlacement>> = BTreeMap::new();
    for call in syscalls {
        // Hooks called by the kernel itself, outside of teardown.
        let hooks = call.hooks.iter();
        let asked: Vec<_> = hooks.filter(|hook| !hook.success_path.is_zero()).collect();
        for subject in &facts.subject {
            for module in modules {
                if let Some(check) = missing_check(&asked, subject, module, facts) {
                    found.entry(check).or_default().push(call);
                }
            }
        }
    }
    let with_calls = |(check, calls): (MissingCheck, Vec<&SyscallPlacement>)| {
        let mut trace = calls.iter().take(1).flat_map(|call| &call.trace);
        let asked = trace.find(|entry| check.hooks.contains(&entry.hook));
        MissingCheck {
            calls: asked.map_or_else(Vec::new, |entry| entry.calls.clone()),
            syscalls: calls.iter().map(|call| call.full_title()).collect(),
            ..check
        }
    };
    let mut all: Vec<MissingCheck> = found.into_iter().map(with_calls).collect();
    all.sort_by_key(|check| (check.confidence, Reverse(check.syscalls.len())));
    all
}

fn missing_check(
    asked: &[&HookPlacement],
    subject: &SubjectFact,
    module: &ModulePlacement,
    facts: &CheckFacts,
) -> Option<MissingCheck> {
    let kind = facts.kind_of(&module.module)?;
    let mut about = asked.to_vec();
    about.retain(|hook| subject.hooks.contains(&hook.hook));
    let implements = |hook: &HookPlacement| hook.modules.contains(&module.module);
    if about.is_empty() || about.iter().any(|hook| implements(hook)) {
        return None;
    }
    let mut others: BTreeSet<&String> = about.iter().flat_map(|hook| &hook.modules).collect();
    others.retain(|other| facts.kind_of(other).is_some());
    if others.is_empty() {
        return None;
    }
    let hooks: Vec<String> = about
        .iter()
        .filter(|hook| hook.modules.iter().any(|other| others.contains(other)))
        .map(|hook| hook.hook.clone())
        .collect();
    let elsewhere = facts
        .elsewhere
        .iter()
        .find(|fact| fact.kind == kind.name && fact.what.contains(&subject.what));
    let (confidence, why) = if let Some(fact) = elsewhere {
        (Confidence::Unknown, fact.why.clone())
    } else if asked.iter().any(|hook| implements(hook)) {
        let why = format!("the path calls it through other hooks: {}", kind.why);
        (Confidence::Likely, why)
    } else {
        let why = "nothing on the success path calls it";
        (Confidence::Sure, why.to_owned())
    };
    Some(MissingCheck {
        confidence,
        what: subject.what.clone(),
        module: module.module.clone(),
        kind: kind.name.clone(),
        checked_by: others.into_iter().cloned().collect(),
        hooks,
        calls: Vec::new(),
        why,
        syscalls: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Count;
    use crate::facts::Facts;

    fn hook(name: &str, modules: &[&str]) -> HookPlacement {
        HookPlacement {
            hook: name.to_owned(),
            success_path: Count::ONE,
            max: Count::ONE,
            modules: modules.iter().map(|&name| name.to_owned()).collect(),
            ..HookPlacement::default()
        }
    }

    fn call(name: &str, hooks: Vec<HookPlacement>) -> SyscallPlacement {
        SyscallPlacement {
            syscall: name.to_owned(),
            filesystem: "ext4".to_owned(),
            hooks,
            ..SyscallPlacement::default()
        }
    }

    fn module(name: &str) -> ModulePlacement {
        ModulePlacement {
            module: name.to_owned(),
            ..ModulePlacement::default()
        }
    }

    #[test]
    fn confidence_follows_from_what_else_is_asked() {
        let facts = Facts::load(kernels::arch::native()).unwrap().checks;
        let modules = ["selinux", "tomoyo", "yama"].map(module);
        let calls = [
            call("read", vec![hook("file_lock", &["selinux"])]),
            call(
                "open",
                vec![
                    hook("inode_permission", &["selinux"]),
                    hook("file_open", &["tomoyo", "selinux"]),
                    hook("file_lock", &["selinux", "yama"]),
                ],
            ),
            // No module with a file policy checks it, so nothing is missing.
            call("quiet", vec![hook("inode_getattr", &["yama"])]),
        ];
        let found = missing(&calls, &modules, &facts);
        let rows: Vec<_> = found
            .iter()
            .map(|check| (check.confidence, &*check.what, &*check.syscalls[0]))
            .collect();
        assert_eq!(
            rows,
            [
                (Confidence::Sure, "locks on a file", "read on ext4"),
                (Confidence::Likely, "locks on a file", "open on ext4"),
                (
                    Confidence::Unknown,
                    "search of directories, permission on inodes",
                    "open on ext4"
                ),
            ]
        );
        assert!(found.iter().all(|check| check.module == "tomoyo"));
        assert_eq!(found[0].checked_by, ["selinux"]);
    }
}
