// SPDX-License-Identifier: GPL-2.0-or-later
//! Why an architecture calls a hook a different number of times: a data file.

use std::sync::LazyLock;

use model::{Architecture, Pattern};
use serde::Deserialize;

const FACTS: &str = include_str!("../../facts/architectures.toml");

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    architecture: Architecture,
    benchmarks: Vec<Pattern>,
    hooks: Vec<Pattern>,
    fewer: u64,
    code: String,
    why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    fact: Vec<Fact>,
}

static ALL: LazyLock<Vec<Fact>> = LazyLock::new(|| {
    let facts: Result<Facts, _> = toml::from_str(FACTS);
    facts.map(|facts| facts.fact).unwrap_or_default()
});

#[derive(Debug, Clone, Copy)]
pub(super) struct Calls {
    pub(super) architecture: Architecture,
    pub(super) calls: u64,
}

pub(super) fn why(
    (benchmark, variant): (&str, &str),
    hook: &str,
    one: Calls,
    other: Calls,
) -> Option<String> {
    let [few, many] = if one.calls < other.calls {
        [one, other]
    } else {
        [other, one]
    };
    let matches = |patterns: &[Pattern], name: &str, variant: &str| {
        let mut patterns = patterns.iter();
        patterns.any(|pattern| !pattern.excludes() && pattern.matches(name, variant))
    };
    let fits = |fact: &&Fact| {
        fact.architecture == few.architecture
            && few.calls + fact.fewer == many.calls
            && matches(&fact.benchmarks, benchmark, variant)
            && matches(&fact.hooks, hook, "")
    };
    let fact = ALL.iter().find(fits)?;
    Some(format!("{} ({})", fact.why, fact.code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_whole() {
        let facts: Facts = toml::from_str(FACTS).unwrap();
        for fact in &facts.fact {
            let texts = !fact.why.is_empty() && !fact.code.is_empty();
            let names = !fact.benchmarks.is_empty() && !fact.hooks.is_empty();
            assert!(texts && names && fact.fewer > 0, "{fact:?}");
        }
    }

    #[test]
    fn a_fact_covers_its_difference_and_no_other() {
        let calls = |architecture, calls| Calls {
            architecture,
            calls,
        };
        for (benchmark, hook, on_x86, on_arm, is_told) in [
            ("execve", "mmap_file", 4, 2, true),
            ("execve", "mmap_file", 2, 4, false),
            ("execve", "mmap_file", 5, 2, false),
            ("execve", "file_open", 4, 2, false),
            ("open", "mmap_file", 4, 2, false),
        ] {
            let x86 = calls(Architecture::X86_64, on_x86);
            let arm = calls(Architecture::Aarch64, on_arm);
            for (one, other) in [(x86, arm), (arm, x86)] {
                let why = why((benchmark, "agent"), hook, one, other);
                assert_eq!(why.is_some(), is_told, "{benchmark} {hook}");
            }
        }
    }
}
