// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeSet;

use crate::facts::{ConfigFacts, matches_any};

/// Decides `#if`. Either every option is on, except those that turn code off or belong to another
/// machine, or exactly those in a `.config` are.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    options: Options,
    defined: BTreeSet<String>,
}

#[derive(Debug, Clone)]
enum Options {
    AllBut(Vec<String>),
    Only(BTreeSet<String>),
}

impl Config {
    /// Everything is on except the options in the facts (`facts/config.toml`).
    pub(crate) fn everything(facts: &ConfigFacts) -> Self {
        Self {
            options: Options::AllBut(facts.off.clone()),
            defined: facts.defined.iter().cloned().collect(),
        }
    }

    /// Options set to `y` or `m`; other lines are skipped.
    pub(crate) fn from_dot_config(text: &str, facts: &ConfigFacts) -> Self {
        let on = text.lines().filter_map(|line| {
            let (name, value) = line.trim().strip_prefix("CONFIG_")?.split_once('=')?;
            (value != "n").then(|| name.to_owned())
        });
        Self {
            options: Options::Only(on.collect()),
            defined: facts.defined.iter().cloned().collect(),
        }
    }

    pub(crate) fn option(&self, name: &str) -> bool {
        match &self.options {
            Options::AllBut(off) => !name.ends_with("_MODULE") && !matches_any(off, name),
            Options::Only(on) => on.contains(name),
        }
    }

    pub(crate) fn is_defined(&self, name: &str) -> bool {
        match name.strip_prefix("CONFIG_") {
            Some(option) => self.option(option),
            None => self.defined.contains(name),
        }
    }

    pub(crate) fn fingerprint(&self) -> String {
        format!("{self:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_config_decides_alone() {
        let facts = ConfigFacts::default();
        let config =
            Config::from_dot_config("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=m\n", &facts);
        assert!(config.option("A") && config.option("C") && !config.option("B"));
        assert!(!Config::everything(&facts).option("A_MODULE"));
    }
}
