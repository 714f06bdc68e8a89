// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads `explanations.toml`: known differences between methods, with the kernel code that causes each
//! and its size, so that an entry covers no other difference.

use model::Pattern;
use serde::Deserialize;

/// A method that is compared with the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Entries about the profile apply to the difference in the other direction.
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
    method: Method,
    counts: Direction,
    benchmarks: Vec<Pattern>,
    hooks: Vec<Pattern>,
    /// Factor between the calls.
    times: Option<u32>,
    /// Possible differences in calls per operation.
    #[serde(default)]
    by: Vec<f64>,
    /// Any number of calls of a hook that the other methods do not see.
    #[serde(default)]
    unseen: bool,
    /// With `unseen`: maximum of calls per operation.
    at_most: Option<f64>,
    /// More or fewer, by at most this many calls per operation.
    within: Option<f64>,
    code: String,
    why: String,
}

/// Calls of a hook in an operation, by a profile and another method.
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
    fn explains(&self, difference: &Difference<'_>) -> bool {
        let matches = |patterns: &[Pattern], name: &str, variant: &str| {
            let mut found = false;
            for pattern in patterns.iter().filter(|p| p.matches(name, variant)) {
                found = !pattern.excludes();
            }
            found
        };
        let (count, other) = match self.method {
            Method::Profile => (difference.profile, difference.other),
            method if method == difference.method => (difference.other, difference.profile),
            _ => return false,
        };
        matches(&self.benchmarks, difference.benchmark, difference.variant)
            && matches(&self.hooks, difference.hook, "")
            && self.fits(count, other, difference.tolerance)
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
            // A factor needs calls.
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

    pub fn explain(&self, difference: &Difference<'_>) -> bool {
        self.facts.iter().any(|fact| fact.explains(difference))
    }
}
