// SPDX-License-Identifier: GPL-2.0-or-later
//! Explains differences outside hooks between boots of one kernel that the stack does not cause.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use model::FunctionDifference;
use serde::Deserialize;

/// `facts/explanations.toml`, which documents its keys, and `facts/programs.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    lists: BTreeMap<String, Vec<String>>,
    fact: Vec<Fact>,
}

/// A fact about something that a kernel does occasionally.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    functions: Vec<String>,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    companions: Vec<String>,
    #[serde(default)]
    at_most: u64,
    /// Operations such as `audit-rule:again`; empty for all.
    #[serde(default)]
    operations: Vec<String>,
    #[serde(skip)]
    programs: bool,
    code: String,
    why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Window,
    Windows,
    /// Thousands of system calls, with interrupts and other tasks.
    Program,
}

impl Fact {
    fn covers(&self, difference: i64, extent: Extent) -> bool {
        match extent {
            Extent::Window => difference.unsigned_abs() <= self.at_most && !self.programs,
            Extent::Windows => !self.programs,
            Extent::Program => true,
        }
    }

    fn holds_for(&self, operation: &str) -> bool {
        self.operations.is_empty() || self.operations.iter().any(|it| it == operation)
    }

    fn speaks_of(&self, function: &str) -> bool {
        let listed = self.with.iter().filter_map(|list| facts().lists.get(list));
        let mut all = listed
            .flatten()
            .chain(&self.functions)
            .chain(&self.companions);
        all.any(|name| name == function)
    }
}

fn facts() -> &'static Facts {
    static FACTS: LazyLock<Facts> = LazyLock::new(|| {
        let read = |text| -> Facts { toml::from_str(text).expect("facts, which tests read") };
        let mut facts = read(include_str!("../../facts/explanations.toml"));
        let of_programs = read(include_str!("../../facts/programs.toml"));
        facts.lists.extend(of_programs.lists);
        let of_programs = of_programs.fact.into_iter();
        facts.fact.extend(of_programs.map(|fact| Fact {
            programs: true,
            ..fact
        }));
        facts
    });
    &FACTS
}

/// `operation` is, for example, `audit-rule:again`.
pub fn explain(differences: &mut [FunctionDifference], operation: &str, extent: Extent) {
    let shows = |fact: &&Fact| {
        let differ = |it: &FunctionDifference| fact.functions.contains(&it.function);
        fact.holds_for(operation) && differences.iter().any(differ)
    };
    let happens: Vec<&Fact> = facts().fact.iter().filter(shows).collect();
    for difference in differences {
        let covering = |fact: &&&Fact| fact.covers(difference.difference, extent);
        let mut covering = happens.iter().filter(covering);
        let found = covering.find(|fact| fact.speaks_of(&difference.function));
        difference.explanation = found.map(|fact| format!("{} ({})", fact.why, fact.code));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(differences: &[(&str, i64)], operation: &str, extent: Extent) -> Vec<bool> {
        let mut differences: Vec<FunctionDifference> = differences
            .iter()
            .map(|(function, difference)| FunctionDifference {
                function: (*function).to_owned(),
                difference: *difference,
                explanation: None,
            })
            .collect();
        explain(&mut differences, operation, extent);
        let known = differences.iter().map(|it| it.explanation.is_some());
        known.collect()
    }

    #[test]
    fn what_one_operation_does_excuses_no_other() {
        let compared = |operation| explained(&[("strcmp", 24)], operation, Extent::Window);
        assert_eq!(compared("audit-rule:again"), [true]);
        assert_eq!(compared("audit-rule:add"), [false]);
    }

    #[test]
    fn what_is_explained() {
        let scheduled = [("__schedule", 225), ("update_curr", 110)];
        let of_netfilter = [("selinux_ip_postroute", 42), ("avc_lookup", 23)];
        let with_company = [("kfree", 21), ("__pcs_replace_full_main", 29)];
        let hooks = [("selinux_parse_skb", 9), ("__schedule", 1)];
        for (differences, extent, expected) in [
            // The difference is small within one region.
            (&[("memcpy_orig", -4)][..], Extent::Window, &[true][..]),
            (&[("memcpy_orig", 400)], Extent::Window, &[false]),
            (&[("__slab_free", 82)], Extent::Window, &[true]),
            (&[("__slab_free", 820)], Extent::Window, &[false]),
            (&[("get_partial_node", 82)], Extent::Window, &[false]),
            (&[("__slab_free", 8200)], Extent::Windows, &[true]),
            (&[("ext4_file_open", 1)], Extent::Windows, &[false]),
            // Facts about programs do not apply to operations. The scheduler's fact needs a call.
            (&scheduled, Extent::Window, &[false, false]),
            (&scheduled, Extent::Windows, &[false, false]),
            (&scheduled, Extent::Program, &[true, true]),
            (&scheduled[1..], Extent::Program, &[false]),
            (&hooks, Extent::Program, &[false, true]),
            // Netfilter hooks are not LSM hooks.
            (&of_netfilter, Extent::Window, &[true, true]),
            (&of_netfilter[1..], Extent::Window, &[false]),
            (&of_netfilter, Extent::Program, &[true, true]),
            // Functions of `with` need one of `functions`.
            (&with_company[..1], Extent::Window, &[false]),
            (&with_company, Extent::Window, &[true, true]),
        ] {
            assert_eq!(
                explained(differences, "open:AA", extent),
                expected,
                "{differences:?}"
            );
        }
    }

    #[test]
    fn facts_are_whole() {
        let lists = &facts().lists;
        for fact in &facts().fact {
            let Fact {
                functions,
                with,
                code,
                why,
                ..
            } = fact;
            assert!(
                !functions.is_empty() && !code.is_empty() && !why.is_empty(),
                "{why}"
            );
            assert!(with.iter().all(|list| lists.contains_key(list)), "{why}");
        }
    }
}
