// SPDX-License-Identifier: GPL-2.0-or-later
//! Why hooks are called by no operation: a data file, each entry with the kernel's code that says
//! so.

use std::collections::{BTreeMap, BTreeSet};

use model::coverage::{Need, UnreachedReason};
use serde::Deserialize;

use crate::error::CoverageError;

const UNREACHED: &str = include_str!("../facts/unreached.toml");

/// Why no operation calls some hooks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fact {
    pub hooks: Vec<String>,
    pub needs: Need,
    /// The option that the code which calls them is built by: `CONFIG_TUN`.
    #[serde(default)]
    pub option: Option<String>,
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
        } else if self
            .option
            .as_ref()
            .is_some_and(|option| !option.starts_with("CONFIG_"))
        {
            Some("its option is none: CONFIG_TUN")
        } else {
            None
        }
    }

    /// What it would take in a kernel with these options.
    fn needs(&self, options: &BTreeMap<String, String>) -> Need {
        let value = self.option.as_ref().and_then(|option| options.get(option));
        match (self.needs, value.map(String::as_str)) {
            (_, Some("" | "n")) => Need::Configuration,
            (Need::Module, Some("y")) => Need::Benchmark,
            (needs, _) => needs,
        }
    }

    /// What it says of a kernel with these options, as documents have it.
    pub(crate) fn reason(&self, options: &BTreeMap<String, String>) -> UnreachedReason {
        let needs = self.needs(options);
        UnreachedReason {
            needs,
            why: match (&self.option, needs) {
                (Some(option), Need::Configuration) => {
                    format!("{} It is built without {option}.", self.why)
                }
                _ => self.why.clone(),
            },
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
    pub fn load() -> Result<Facts, CoverageError> {
        Facts::parse(UNREACHED)
    }

    /// The facts in a text of the form of `facts/unreached.toml`.
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

    /// The hooks that are called after what calls for them: these are to be counted then.
    pub fn later(&self) -> Vec<String> {
        let facts = self.facts.iter().filter(|fact| fact.needs == Need::Later);
        facts.flat_map(|fact| fact.hooks.iter().cloned()).collect()
    }

    /// The options by which facts hold: of a kernel it should be known what they are.
    pub fn options(&self) -> BTreeSet<&str> {
        let options = self.facts.iter().filter_map(|fact| fact.option.as_deref());
        options.collect()
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
        let odd = format!("{text}option = 'TUN'\n");
        assert!(Facts::parse(&odd).is_err());
    }

    #[test]
    fn what_a_module_calls_needs_what_the_configuration_says() {
        let text = "[[fact]]\nhooks = ['tun_dev_open']\nneeds = 'module'\noption = 'CONFIG_TUN'\n\
                    why = 'w.'\ncode = 'c'\n";
        let facts = Facts::parse(text).unwrap();
        assert_eq!(facts.options(), BTreeSet::from(["CONFIG_TUN"]));
        let needs = |value: Option<&str>| {
            let known = value.map(|value| ("CONFIG_TUN".to_owned(), value.to_owned()));
            facts.facts[0].reason(&known.into_iter().collect())
        };
        assert_eq!(needs(None).needs, Need::Module);
        assert_eq!(needs(Some("m")).needs, Need::Module);
        assert_eq!(needs(Some("y")).needs, Need::Benchmark);
        let unset = needs(Some(""));
        assert_eq!(unset.needs, Need::Configuration);
        assert_eq!(unset.why, "w. It is built without CONFIG_TUN.");
    }

    #[test]
    fn those_of_lsmeter_are_sound_and_name_no_hook_twice() {
        let facts = Facts::load().unwrap();
        let mut seen = BTreeSet::new();
        for fact in &facts.facts {
            for hook in &fact.hooks {
                assert!(seen.insert(hook), "{hook} is there twice");
            }
        }
    }
}
