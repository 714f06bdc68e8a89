// SPDX-License-Identifier: GPL-2.0-or-later
//! Chooses the custom policies of each configuration.

use std::collections::{BTreeMap, BTreeSet};

use super::{CustomPolicy, MODULES};
use crate::configuration::Configuration;
use crate::hint::excerpt;
use crate::spec::{IntegrityList, SpecError};
use crate::stack::Stack;
use crate::words::{Integrity, Policy};

pub(crate) const IMA: &str = "ima";
pub(crate) const AUDIT: &str = "audit";

/// Those of [`MODULES`] that are not in a stack: subsystems independent of the modules' state.
pub(crate) fn subsystem(module: &str) -> Option<Integrity> {
    match module {
        AUDIT => Some(Integrity::Audit),
        IMA => Some(Integrity::Ima),
        _ => None,
    }
}

/// Default stacks of custom policies: one without them, and one with the module of each.
pub fn stacks_of(custom: &BTreeMap<String, CustomPolicy>) -> Vec<String> {
    let modules: BTreeSet<&str> = custom.values().map(|of| of.module.as_str()).collect();
    let stacks = modules
        .into_iter()
        .filter(|module| subsystem(module).is_none());
    ["capability".to_owned()]
        .into_iter()
        .chain(stacks.map(|module| format!("capability,{module}")))
        .collect()
}

fn runs(module: &str, stack: &Stack, policy: Policy, integrity: &IntegrityList) -> bool {
    if let Some(subsystem) = subsystem(module) {
        return integrity.has(subsystem);
    }
    stack.may_have(module) && policy != Policy::None
}

/// Combinations of the policies for a stack, with one policy for each module that has any. If none
/// has, there is one empty combination.
pub(crate) fn choices(
    custom: &BTreeMap<String, CustomPolicy>,
    stack: &Stack,
    policy: Policy,
    integrity: &IntegrityList,
) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    for module in MODULES {
        let runs = runs(module, stack, policy, integrity);
        let of_it: Vec<&String> = custom
            .iter()
            .filter(|(_, of)| runs && of.module == module)
            .map(|(name, _)| name)
            .collect();
        if of_it.is_empty() {
            continue;
        }
        all = all
            .iter()
            .flat_map(|chosen: &BTreeMap<String, String>| {
                of_it.iter().map(|name| {
                    let mut chosen = chosen.clone();
                    chosen.insert(module.to_owned(), (*name).clone());
                    chosen
                })
            })
            .collect();
    }
    all
}

pub(crate) fn named(
    names: &[String],
    custom: &BTreeMap<String, CustomPolicy>,
    stack: &Stack,
    policy: Policy,
    integrity: &IntegrityList,
) -> Result<BTreeMap<String, String>, SpecError> {
    let mut chosen = BTreeMap::new();
    for name in names {
        let Some(of) = custom.get(name) else {
            let known: Vec<&str> = custom.keys().map(String::as_str).collect();
            return Err(SpecError::instead(
                format!("unknown policy `{}` in `{stack}`", excerpt(name)),
                format!(
                    "define it in [custom.{}]; known policies: {}",
                    excerpt(name),
                    known.join(", ")
                ),
            ));
        };
        let module = &of.module;
        if !runs(module, stack, policy, integrity) {
            let instead = match subsystem(module) {
                Some(_) => format!("set integrity = \"{module}\", or leave out the policy"),
                None => format!(
                    "add {module} to the stack, set policy = \"enforcing\", or leave out the policy"
                ),
            };
            return Err(SpecError::instead(
                format!("the policy {name} is for {module}, which enforces nothing in `{stack}`"),
                instead,
            ));
        }
        if chosen.insert(module.clone(), name.clone()).is_some() {
            return Err(SpecError::instead(
                format!("`{stack}` has two policies for {module}"),
                "combine the two policies, or use two configurations",
            ));
        }
    }
    Ok(chosen)
}

pub(crate) fn check_used(
    custom: &BTreeMap<String, CustomPolicy>,
    configurations: &[Configuration],
) -> Result<(), SpecError> {
    let is_used = |name: &String| {
        let mut used = configurations
            .iter()
            .flat_map(|of| of.settings.custom.values());
        used.any(|used| used == name)
    };
    let Some((name, of)) = custom.iter().find(|(name, _)| !is_used(name)) else {
        return Ok(());
    };
    let module = &of.module;
    if subsystem(module).is_some() {
        return Err(SpecError::instead(
            format!("the policy {name} is for {module}, which is not active in any configuration"),
            format!(
                "set integrity = [\"none\", \"{module}\"] (--integrity none --integrity {module})"
            ),
        ));
    }
    Err(SpecError::instead(
        format!("the policy {name} is for {module}, but no stack has {module} with a policy"),
        format!(
            "add a stack with {module} and policy = \"enforcing\" (--stack capability,{module} --policy enforcing)"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stack_has_each_policy_of_its_modules() {
        let of = |module: &str| CustomPolicy {
            module: module.to_owned(),
            ..CustomPolicy::default()
        };
        let custom: BTreeMap<String, CustomPolicy> = [
            ("a".to_owned(), of("apparmor")),
            ("b".to_owned(), of("apparmor")),
            ("l".to_owned(), of("landlock")),
        ]
        .into();
        let chosen = |stack: &str, policy| {
            let stack = stack.parse().unwrap();
            choices(&custom, &stack, policy, &IntegrityList::default())
        };
        for (stack, n) in [
            ("capability,apparmor", 2),
            ("capability,apparmor,landlock", 2),
            ("capability,landlock", 1),
            ("default", 2),
        ] {
            assert_eq!(chosen(stack, Policy::Enforcing).len(), n, "{stack}");
        }
        let none = [BTreeMap::new()];
        assert_eq!(chosen("capability,apparmor", Policy::None), none);
        assert_eq!(chosen("capability,selinux", Policy::Enforcing), none);
    }
}
