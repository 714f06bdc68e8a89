// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions outside hooks in which two boots of one kernel differ on the same
//! operation, whatever their stacks: what a boot leaves behind shows in them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use experiment::FunctionDifference;
use serde::Deserialize;

/// All that is known: `facts/explanations.toml`, which says what its keys mean.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    lists: BTreeMap<String, Vec<String>>,
    fact: Vec<Fact>,
}

/// Something that a kernel does now and then.
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
    code: String,
    why: String,
}

impl Fact {
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
        let read = toml::from_str(include_str!("../../facts/explanations.toml"));
        read.expect("facts/explanations.toml, which tests read")
    });
    &FACTS
}

/// Gives each difference its explanation, if one is known. `composite`: the operation is
/// made of many windows.
pub fn explain(differences: &mut [FunctionDifference], composite: bool) {
    let shows = |fact: &&Fact| {
        let differ = |it: &FunctionDifference| fact.functions.contains(&it.function);
        differences.iter().any(differ)
    };
    let happens: Vec<&Fact> = facts().fact.iter().filter(shows).collect();
    for difference in differences {
        let bounded =
            |fact: &&&Fact| composite || difference.difference.unsigned_abs() <= fact.at_most;
        let mut bounded = happens.iter().filter(bounded);
        let found = bounded.find(|fact| fact.speaks_of(&difference.function));
        difference.explanation = found.map(|fact| format!("{} ({})", fact.why, fact.code));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(differences: &[(&str, i64)], composite: bool) -> Vec<bool> {
        let mut differences: Vec<FunctionDifference> = differences
            .iter()
            .map(|(function, difference)| FunctionDifference {
                function: (*function).to_owned(),
                difference: *difference,
                explanation: None,
            })
            .collect();
        explain(&mut differences, composite);
        let known = differences.iter().map(|it| it.explanation.is_some());
        known.collect()
    }

    #[test]
    fn what_is_explained_in_a_window_is_small() {
        assert_eq!(explained(&[("memcpy_orig", -4)], false), [true]);
        assert_eq!(explained(&[("memcpy_orig", 400)], false), [false]);
        assert_eq!(explained(&[("__slab_free", 82)], false), [true]);
        assert_eq!(explained(&[("__slab_free", 820)], false), [false]);
        assert_eq!(explained(&[("get_partial_node", 82)], false), [false]);
        assert_eq!(explained(&[("__slab_free", 8200)], true), [true]);
        assert_eq!(explained(&[("ext4_file_open", 1)], true), [false]);
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

    #[test]
    fn companions_need_their_company() {
        assert_eq!(explained(&[("kfree", 21)], true), [false]);
        let both = [("kfree", 21), ("__pcs_replace_full_main", 29)];
        assert_eq!(explained(&both, false), [true, true]);
    }
}
