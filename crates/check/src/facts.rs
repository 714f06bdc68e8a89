// SPDX-License-Identifier: GPL-2.0-or-later
//! Why instruments may differ: a data file, each entry with the kernel's code that it speaks
//! of. An entry says by how much, so that it hides nothing else.

use experiment::{Instrument, Pattern};
use serde::Deserialize;

use crate::error::CheckError;

const EXPLANATIONS: &str = include_str!("../facts/explanations.toml");

/// Which way an instrument differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Direction {
    /// It counts more calls than others.
    More,
    /// It counts fewer.
    Fewer,
}

/// Why an instrument differs from others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fact {
    /// What to call it in a list of facts that explain nothing.
    pub name: String,
    /// Which instrument differs.
    pub instrument: Instrument,
    /// Which way.
    pub counts: Direction,
    /// From which others; from all unless said.
    #[serde(default)]
    pub against: Vec<Instrument>,
    /// In which operations.
    pub benchmarks: Vec<Pattern>,
    /// At which hooks, in the same form.
    pub hooks: Vec<Pattern>,
    /// Exactly this many times as many calls.
    #[serde(default)]
    pub times: Option<u32>,
    /// Exactly this many calls for each operation; one of several numbers.
    #[serde(default)]
    pub by: Vec<f64>,
    /// Any number of calls, of a hook that others do not see at all.
    #[serde(default)]
    pub unseen: bool,
    /// With `unseen`: at most this many calls for each operation.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// More or fewer, by at most this many calls for each operation: what happens in some
    /// operations and not in others.
    #[serde(default)]
    pub within: Option<f64>,
    /// The kernel's code that it speaks of.
    pub code: String,
    /// Why. Never empty.
    pub why: String,
}

/// What two instruments say of a hook in an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Difference<'a> {
    pub benchmark: &'a str,
    pub variant: &'a str,
    pub hook: &'a str,
    pub instrument: Instrument,
    pub count: f64,
    pub other: Instrument,
    /// A bound if the other is the placement.
    pub other_count: f64,
    /// Calls that two counts may be apart.
    pub tolerance: f64,
}

impl Fact {
    /// Does it explain this difference?
    pub(crate) fn explains(&self, of: &Difference<'_>) -> bool {
        let matches = |patterns: &[Pattern], name: &str, variant: &str| {
            let mut found = false;
            for pattern in patterns.iter().filter(|p| p.matches(name, variant)) {
                found = !pattern.excludes();
            }
            found
        };
        self.instrument == of.instrument
            && (self.against.is_empty() || self.against.contains(&of.other))
            && matches(&self.benchmarks, of.benchmark, of.variant)
            && matches(&self.hooks, of.hook, "")
            && self.fits(of)
    }

    fn fits(&self, of: &Difference<'_>) -> bool {
        let (count, other) = (of.count, of.other_count);
        if self.unseen {
            // Two runs may differ either way in what is done some time later.
            let few = |most: f64| count.abs() <= most + of.tolerance;
            return other.abs() <= of.tolerance && self.at_most.is_none_or(few);
        }
        if let Some(within) = self.within {
            return (count - other).abs() <= within + of.tolerance;
        }
        let (greater, lesser) = match self.counts {
            Direction::More => (count, other),
            Direction::Fewer => (other, count),
        };
        if greater <= lesser {
            return false;
        }
        // What exceeds a bound exceeds it by no more than it exceeds the count.
        let bound = of.other == Instrument::Placement;
        let is = |expected: f64| match bound {
            true => greater <= expected + of.tolerance,
            false => (greater - expected).abs() <= of.tolerance,
        };
        match self.times {
            // Twice nothing is nothing.
            Some(times) => lesser > of.tolerance && is(lesser * f64::from(times)),
            None => self.by.iter().any(|by| is(lesser + by)),
        }
    }

    fn fault(&self) -> Option<&'static str> {
        let amounts = [
            self.times.is_some(),
            !self.by.is_empty(),
            self.unseen,
            self.within.is_some(),
        ];
        let given = amounts.iter().filter(|given| **given).count();
        if self.why.is_empty() || self.code.is_empty() || self.name.is_empty() {
            Some("its name, its reason or its code is missing")
        } else if self.benchmarks.is_empty() || self.hooks.is_empty() {
            Some("it names no benchmark or no hook")
        } else if given != 1 {
            Some("it must give one amount: times, by, unseen or within")
        } else if self.by.iter().any(|by| !by.is_finite() || *by <= 0.0) {
            Some("by is not a list of positive numbers")
        } else if self
            .at_most
            .is_some_and(|most| !self.unseen || most.is_nan() || most <= 0.0)
        {
            Some("at_most needs unseen, and a positive number")
        } else if self
            .within
            .is_some_and(|within| within.is_nan() || within <= 0.0)
        {
            Some("within is no positive number")
        } else {
            None
        }
    }
}

/// All that explains differences.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    #[serde(default, rename = "fact")]
    pub(crate) facts: Vec<Fact>,
}

impl Facts {
    /// The facts that lsmeter knows.
    ///
    /// # Errors
    /// [`CheckError::BadFacts`], which is a fault of lsmeter.
    pub fn load() -> Result<Facts, CheckError> {
        Facts::parse(EXPLANATIONS)
    }

    /// The facts in a text of the form of `facts/explanations.toml`.
    ///
    /// # Errors
    /// [`CheckError::BadFacts`].
    pub fn parse(text: &str) -> Result<Facts, CheckError> {
        let bad = |message: String| CheckError::BadFacts { message };
        let facts: Facts = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        for fact in &facts.facts {
            if let Some(fault) = fact.fault() {
                return Err(bad(format!("{}: {fault}", fact.name)));
            }
        }
        Ok(facts)
    }

    /// The first fact that explains it, and its position.
    pub(crate) fn explain(&self, of: &Difference<'_>) -> Option<(usize, &Fact)> {
        let mut facts = self.facts.iter().enumerate();
        facts.find(|(_, fact)| fact.explains(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(amount: &str) -> Facts {
        let text = format!(
            "[[fact]]\nname = 'x'\ninstrument = 'monitor'\ncounts = 'more'\nbenchmarks = \
             ['chown:*', '!chown:link']\nhooks = ['inode_*']\n{amount}\ncode = 'c'\nwhy = 'w'\n"
        );
        Facts::parse(&text).unwrap()
    }

    fn explains(facts: &Facts, variant: &str, hook: &str, counts: [f64; 2]) -> bool {
        let of = |other, tolerance| Difference {
            benchmark: "chown",
            variant,
            hook,
            instrument: Instrument::Monitor,
            count: counts[0],
            other,
            other_count: counts[1],
            tolerance,
        };
        facts.explain(&of(Instrument::Profile, 1e-6)).is_some()
    }

    #[test]
    fn a_fact_explains_its_own_amount() {
        let twice = fact("times = 2");
        assert!(explains(&twice, "same", "inode_setattr", [2.0, 1.0]));
        assert!(!explains(&twice, "same", "inode_setattr", [3.0, 1.0]));
        assert!(!explains(&twice, "same", "inode_setattr", [1.0, 2.0]));
        assert!(!explains(&twice, "same", "inode_setattr", [1.0, 0.0]));
        assert!(!explains(&twice, "link", "inode_setattr", [2.0, 1.0]));
        assert!(!explains(&twice, "same", "path_chown", [2.0, 1.0]));
        let by = fact("by = [1, 2]");
        assert!(explains(&by, "same", "inode_setattr", [3.0, 1.0]));
        assert!(!explains(&by, "same", "inode_setattr", [4.0, 1.0]));
        let unseen = fact("unseen = true");
        assert!(explains(&unseen, "same", "inode_setattr", [0.25, 0.0]));
        assert!(explains(&unseen, "same", "inode_setattr", [-0.25, 0.0]));
        assert!(!explains(&unseen, "same", "inode_setattr", [2.0, 1.0]));
        let within = fact("within = 0.25");
        assert!(explains(&within, "same", "inode_setattr", [2.75, 3.0]));
        assert!(explains(&within, "same", "inode_setattr", [3.25, 3.0]));
        assert!(!explains(&within, "same", "inode_setattr", [2.0, 3.0]));
        let few = fact("unseen = true\nat_most = 0.5");
        assert!(explains(&few, "same", "inode_setattr", [0.5, 0.0]));
        assert!(explains(&few, "same", "inode_setattr", [-0.0625, 0.0]));
        assert!(!explains(&few, "same", "inode_setattr", [1.0, 0.0]));
        assert!(!explains(&few, "same", "inode_setattr", [-1.0, 0.0]));
        assert!(!explains(&few, "same", "inode_setattr", [1.0625, 1.0]));
    }

    #[test]
    fn a_fact_without_an_amount_is_refused() {
        let text = "[[fact]]\nname = 'x'\ninstrument = 'monitor'\ncounts = 'more'\nbenchmarks = \
                    ['*']\nhooks = ['*']\ncode = 'c'\nwhy = 'w'\n";
        let error = Facts::parse(text).unwrap_err().to_string();
        assert_eq!(
            error,
            "explanations.toml: x: it must give one amount: times, by, unseen or within"
        );
        let text = text.replace("code", "times = 2\nat_most = 1\ncode");
        let error = Facts::parse(&text).unwrap_err().to_string();
        assert_eq!(
            error,
            "explanations.toml: x: at_most needs unseen, and a positive number"
        );
        assert!(Facts::load().is_ok());
    }
}
