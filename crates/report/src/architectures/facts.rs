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
            assert!(!fact.why.is_empty() && !fact.code.is_empty(), "{fact:?}");
            assert!(
                !fact.benchmarks.is_empty() && !fact.hooks.is_empty(),
                "{fact:?}"
            );
            assert!(fact.fewer > 0, "{fact:?}");
        }
    }

    #[test]
    fn a_fact_covers_its_difference_and_no_other() {
        let calls = |architecture, calls| Calls {
            architecture,
            calls,
        };
        let (x86, arm) = (
            |of| calls(Architecture::X86_64, of),
            |of| calls(Architecture::Aarch64, of),
        );
        let execve = ("execve", "agent");
        assert!(why(execve, "mmap_file", x86(4), arm(2)).is_some());
        assert!(why(execve, "mmap_file", arm(2), x86(4)).is_some());
        assert!(why(execve, "mmap_file", x86(2), arm(4)).is_none());
        assert!(why(execve, "mmap_file", x86(5), arm(2)).is_none());
        assert!(why(execve, "file_open", x86(4), arm(2)).is_none());
        assert!(why(("open", "AA"), "mmap_file", x86(4), arm(2)).is_none());
    }
}
