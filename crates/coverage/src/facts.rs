// SPDX-License-Identifier: GPL-2.0-or-later
//! Why hooks are called by no operation: a data file, each entry with the kernel's code that says
//! so.

use std::collections::BTreeSet;

use experiment::coverage::{Need, UnreachedReason};
use serde::Deserialize;

use crate::error::CoverageError;

const UNREACHED: &str = include_str!("../facts/unreached.toml");

/// Why no operation calls some hooks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fact {
    /// The hooks.
    pub hooks: Vec<String>,
    /// What it would take.
    pub needs: Need,
    /// It is so only in kernels whose image has none of these functions.
    #[serde(default)]
    pub without: Vec<String>,
    /// Why. Never empty.
    pub why: String,
    /// Where in the kernel that is seen. Never empty.
    pub code: String,
}

impl Fact {
    fn fault(&self) -> Option<&'static str> {
        if self.hooks.iter().any(String::is_empty) || self.hooks.is_empty() {
            Some("it names no hook")
        } else if self.why.is_empty() || self.code.is_empty() {
            Some("its reason or its code is missing")
        } else {
            None
        }
    }

    /// What it says, as documents have it.
    pub(crate) fn reason(&self) -> UnreachedReason {
        UnreachedReason {
            needs: self.needs,
            why: self.why.clone(),
            code: self.code.clone(),
        }
    }
}

/// All that is known of hooks that no operation calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    #[serde(default, rename = "fact")]
    pub(crate) facts: Vec<Fact>,
}

impl Facts {
    /// The facts that lsmeter knows.
    ///
    /// # Errors
    /// [`CoverageError::BadFacts`], which is a fault of lsmeter.
    pub fn load() -> Result<Facts, CoverageError> {
        Facts::parse(UNREACHED)
    }

    /// The facts in a text of the form of `facts/unreached.toml`.
    ///
    /// # Errors
    /// [`CoverageError::BadFacts`].
    pub fn parse(text: &str) -> Result<Facts, CoverageError> {
        let bad = |message: String| CoverageError::BadFacts { message };
        let facts: Facts = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        for fact in &facts.facts {
            if let Some(fault) = fact.fault() {
                return Err(bad(format!("{}: {fault}", fact.hooks.join(", "))));
            }
        }
        Ok(facts)
    }

    /// The functions by whose absence facts hold: of a kernel it must be known which it has.
    pub fn functions(&self) -> BTreeSet<&str> {
        let without = self.facts.iter().flat_map(|fact| &fact.without);
        without.map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_name_hooks_reasons_and_code() {
        let text = "[[fact]]\nhooks = ['quotactl']\nneeds = 'benchmark'\nwhy = 'w'\ncode = 'c'\n";
        assert_eq!(Facts::parse(text).unwrap().facts[0].needs, Need::Benchmark);
        for (from, to, message) in [
            ("'quotactl'", "''", "unreached.toml: : it names no hook"),
            ("['quotactl']", "[]", "unreached.toml: : it names no hook"),
            (
                "'w'",
                "''",
                "unreached.toml: quotactl: its reason or its code is missing",
            ),
            (
                "'c'",
                "''",
                "unreached.toml: quotactl: its reason or its code is missing",
            ),
        ] {
            let error = Facts::parse(&text.replace(from, to)).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        assert!(Facts::parse(&text.replace("'benchmark'", "'luck'")).is_err());
    }

    #[test]
    fn those_of_lsmeter_are_sound_and_name_no_hook_twice() {
        let facts = Facts::load().unwrap();
        let mut seen = BTreeSet::new();
        for fact in &facts.facts {
            for hook in &fact.hooks {
                let guarded = !fact.without.is_empty();
                assert!(seen.insert((hook, guarded)), "{hook} is there twice");
            }
        }
    }
}
