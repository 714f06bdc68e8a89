// SPDX-License-Identifier: GPL-2.0-or-later
//! Why methods may differ: a data file, each entry with the kernel code that causes it. An entry
//! says by how much, so that it hides nothing else.

use model::Pattern;
use serde::Deserialize;

/// A method that is compared with the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A fact about the profile differs the other way from all others.
    Profile,
    Monitor,
    Sensitivity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Direction {
    More,
    Fewer,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    name: String,
    instrument: Method,
    counts: Direction,
    benchmarks: Vec<Pattern>,
    hooks: Vec<Pattern>,
    /// Exactly this many times as many calls.
    times: Option<u32>,
    /// Exactly this many calls for each operation; one of several numbers.
    #[serde(default)]
    by: Vec<f64>,
    /// Any number of calls, of a hook that others do not see at all.
    #[serde(default)]
    unseen: bool,
    /// With `unseen`: at most this many calls for each operation.
    at_most: Option<f64>,
    /// More or fewer, by at most this many calls for each operation.
    within: Option<f64>,
    code: String,
    why: String,
}

/// What a profile and another method count of a hook in an operation.
pub struct Difference<'a> {
    pub benchmark: &'a str,
    pub variant: &'a str,
    pub hook: &'a str,
    pub method: Method,
    pub profile: f64,
    pub other: f64,
    pub tolerance: f64,
}

impl Fact {
    fn explains(&self, of: &Difference<'_>) -> bool {
        let matches = |patterns: &[Pattern], name: &str, variant: &str| {
            let mut found = false;
            for pattern in patterns.iter().filter(|p| p.matches(name, variant)) {
                found = !pattern.excludes();
            }
            found
        };
        let (count, other) = match self.instrument {
            Method::Profile => (of.profile, of.other),
            method if method == of.method => (of.other, of.profile),
            _ => return false,
        };
        matches(&self.benchmarks, of.benchmark, of.variant)
            && matches(&self.hooks, of.hook, "")
            && self.fits(count, other, of.tolerance)
    }

    fn fits(&self, count: f64, other: f64, tolerance: f64) -> bool {
        if self.unseen {
            let few = |most: f64| count.abs() <= most + tolerance;
            return other.abs() <= tolerance && self.at_most.is_none_or(few);
        }
        if let Some(within) = self.within {
            return (count - other).abs() <= within + tolerance;
        }
        let (greater, lesser) = match self.counts {
            Direction::More => (count, other),
            Direction::Fewer => (other, count),
        };
        let is = |expected: f64| (greater - expected).abs() <= tolerance;
        match self.times {
            // Twice nothing is nothing.
            Some(times) => lesser > tolerance && is(lesser * f64::from(times)),
            None => self.by.iter().any(|by| is(lesser + by)),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    #[serde(rename = "fact")]
    facts: Vec<Fact>,
}

impl Facts {
    pub fn load() -> Facts {
        let facts: Facts = toml::from_str(include_str!("explanations.toml")).unwrap();
        for fact in &facts.facts {
            let amounts = [
                fact.times.is_some(),
                !fact.by.is_empty(),
                fact.unseen,
                fact.within.is_some(),
            ];
            let custom = amounts.iter().filter(|custom| **custom).count();
            assert!(
                custom == 1 && !fact.code.is_empty() && !fact.why.is_empty(),
                "{}",
                fact.name
            );
        }
        facts
    }

    pub fn explain(&self, of: &Difference<'_>) -> bool {
        self.facts.iter().any(|fact| fact.explains(of))
    }
}
