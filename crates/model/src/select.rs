// SPDX-License-Identifier: GPL-2.0-or-later
//! Selection of benchmarks and variants.

use std::fmt;
use std::str::FromStr;

use crate::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::glob::glob;
use crate::hint::{excerpt, nearest};
use crate::words::{Select, Suite, UnknownWord};

/// In bytes.
const PATTERN_LIMIT: usize = 256;

/// A pattern of benchmarks: `open`, `open:AA/BB`, `read:*KB`, `*xattr`. `*` matches any number of
/// characters, `?` exactly one. A leading `!` excludes. Without `:`, a pattern selects every
/// variant or only the first (see [`Select`]). `network/*` selects in one suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct Pattern {
    exclude: bool,
    suite: Option<Suite>,
    benchmark: String,
    variant: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("benchmark pattern `{pattern}`: {why}")]
pub struct PatternError {
    pattern: String,
    why: String,
}

impl Fault for PatternError {
    fn hint(&self) -> Option<String> {
        let hint = "use BENCHMARK or BENCHMARK:VARIANT, with * and ? as wildcards: open, open:AA/BB, \
                    read:*KB; or within a suite: network/*";
        Some(hint.to_owned())
    }
}

impl Pattern {
    pub fn excludes(&self) -> bool {
        self.exclude
    }

    pub fn suite(&self) -> Option<Suite> {
        self.suite
    }

    /// Whether it matches this benchmark and variant, ignoring its suite and [`Pattern::excludes`].
    pub fn matches(&self, benchmark: &str, variant: &str) -> bool {
        glob(&self.benchmark, benchmark)
            && self
                .variant
                .as_ref()
                .is_none_or(|pattern| glob(pattern, variant))
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let refuse = |why: String| {
            let pattern = excerpt(text);
            Err(PatternError { pattern, why })
        };
        if text.len() > PATTERN_LIMIT {
            return refuse(format!("longer than {PATTERN_LIMIT} bytes"));
        }
        if let Some(bad) = text.chars().find(|c| !c.is_ascii_graphic()) {
            return refuse(format!("benchmark names do not contain {bad:?}"));
        }
        let (exclude, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (benchmark, variant) = match rest.split_once(':') {
            Some((benchmark, variant)) => (benchmark, Some(variant.to_owned())),
            None => (rest, None),
        };
        let (suite, benchmark) = match benchmark.split_once('/') {
            Some((suite, benchmark)) => match suite.parse() {
                Ok(suite) => (Some(suite), benchmark),
                Err(unknown) => return refuse(UnknownWord::to_string(&unknown)),
            },
            None => (None, benchmark),
        };
        if benchmark.is_empty() {
            return refuse("no benchmark".to_owned());
        }
        if variant.as_deref() == Some("") {
            return refuse("no variant after the colon".to_owned());
        }
        Ok(Pattern {
            exclude,
            suite,
            benchmark: benchmark.to_owned(),
            variant,
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.exclude { "!" } else { "" };
        write!(f, "{mark}")?;
        if let Some(suite) = self.suite {
            write!(f, "{suite}/")?;
        }
        write!(f, "{}", self.benchmark)?;
        match &self.variant {
            Some(variant) => write!(f, ":{variant}"),
            None => Ok(()),
        }
    }
}

/// Benchmarks to take from a catalogue: those of `suites` that match `benchmarks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Selection {
    /// Patterns; one match is enough. If every pattern is an exclusion, they exclude from the set
    /// of all benchmarks.
    pub benchmarks: Vec<Pattern>,
    pub suites: Vec<Suite>,
    /// Variants selected by a pattern without a variant.
    pub select: Select,
}

/// What patterns select: a benchmark's name, its variant (`AA/BB`; may be empty), and its suite.
pub type Choice<'a> = (&'a str, &'a str, Suite);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    #[error("pattern `{pattern}` matches no benchmark of suite {suites}")]
    NoMatch {
        pattern: String,
        suites: String,
        near: Option<String>,
    },
    #[error("the patterns that begin with `!` exclude every benchmark")]
    Nothing,
}

impl SelectError {
    pub fn hint(&self) -> Option<String> {
        match self {
            SelectError::NoMatch {
                near: Some(near), ..
            } => Some(format!("did you mean `{near}`?")),
            SelectError::NoMatch { .. } => Some("see `lsmeter list benchmarks`".to_owned()),
            SelectError::Nothing => None,
        }
    }
}

impl Selection {
    /// Positions in `catalogue` of the selection, in order.
    ///
    /// "First" is a benchmark's first variant in the catalogue, even if that variant is excluded
    /// afterwards.
    ///
    /// # Errors
    /// [`SelectError`] when a pattern matches nothing (a typing error must not silently measure
    /// less) or nothing is left.
    pub fn choose<'a>(
        &self,
        catalogue: impl IntoIterator<Item = Choice<'a>>,
    ) -> Result<Vec<usize>, SelectError> {
        let catalogue: Vec<Choice<'_>> = catalogue.into_iter().collect();
        let mut used = vec![false; self.benchmarks.len()];
        let all = self.benchmarks.iter().all(Pattern::excludes);
        let mut taken = Vec::new();
        for (index, &(benchmark, variant, suite)) in catalogue.iter().enumerate() {
            if !self.suites.contains(&suite) {
                continue;
            }
            let first = !catalogue[..index].iter().any(|(b, ..)| *b == benchmark);
            let by_default = first || self.select == Select::All;
            let mut take = all && by_default;
            let mut away = false;
            for (pattern, used) in self.benchmarks.iter().zip(&mut used) {
                let elsewhere = pattern.suite.is_some_and(|other| other != suite);
                if elsewhere || !pattern.matches(benchmark, variant) {
                    continue;
                }
                *used = true;
                if pattern.excludes() {
                    away = true;
                } else if pattern.variant.is_some() || by_default {
                    take = true;
                }
            }
            if take && !away {
                taken.push(index);
            }
        }
        if let Some((pattern, _)) = self.benchmarks.iter().zip(&used).find(|(_, used)| !**used) {
            return Err(self.no_match(pattern, &catalogue));
        }
        if taken.is_empty() {
            Err(SelectError::Nothing)
        } else {
            Ok(taken)
        }
    }

    fn no_match(&self, pattern: &Pattern, catalogue: &[Choice<'_>]) -> SelectError {
        let name = pattern.benchmark.as_str();
        let its = catalogue
            .iter()
            .filter(|(benchmark, ..)| *benchmark == name);
        let variants: Vec<&str> = its.map(|(_, variant, _)| *variant).collect();
        let near = match &pattern.variant {
            _ if variants.is_empty() => {
                let names = catalogue.iter().map(|(benchmark, ..)| *benchmark);
                nearest(name, names).map(str::to_owned)
            }
            Some(variant) => nearest(variant, variants).map(|near| format!("{name}:{near}")),
            None => None,
        };
        let suites: Vec<&str> = self.suites.iter().map(|suite| suite.as_str()).collect();
        SelectError::NoMatch {
            pattern: pattern.to_string(),
            suites: suites.join(", "),
            near,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CATALOGUE: [Choice<'_>; 6] = [
        ("open", "AA", Suite::Paper),
        ("open", "AA/BB", Suite::Paper),
        ("read", "0KB", Suite::Paper),
        ("read", "4KB", Suite::Paper),
        ("treewalk", "full", Suite::Howells),
        ("getppid", "", Suite::Beyond),
    ];

    fn choose(
        patterns: &[&str],
        suites: &[Suite],
        select: Select,
    ) -> Result<Vec<usize>, SelectError> {
        let benchmarks = patterns.iter().map(|p| p.parse().unwrap()).collect();
        Selection {
            benchmarks,
            suites: suites.to_vec(),
            select,
        }
        .choose(CATALOGUE)
    }

    #[test]
    fn selections() {
        let all = Suite::ALL;
        for (patterns, suites, select, expected) in [
            (&["*"][..], all, Select::All, &[0, 1, 2, 3, 4, 5][..]),
            (&["*"], all, Select::First, &[0, 2, 4, 5]),
            (&["*"], &[Suite::Paper], Select::First, &[0, 2]),
            (&["open:AA/BB", "read"], all, Select::First, &[1, 2]),
            (&["*:*KB"], all, Select::First, &[2, 3]),
            (&["*", "!treewalk:full"], all, Select::All, &[0, 1, 2, 3, 5]),
            (&["!open"], all, Select::First, &[2, 4, 5]),
            (
                &["paper/*", "beyond/getppid", "!paper/read"],
                all,
                Select::First,
                &[0, 5],
            ),
        ] {
            assert_eq!(choose(patterns, suites, select).unwrap(), expected);
        }
        let nothing = choose(&["open", "!open"], all, Select::All);
        assert_eq!(nothing, Err(SelectError::Nothing));
    }

    #[test]
    fn a_pattern_without_effect_is_an_error() {
        let error = choose(&["opne"], Suite::ALL, Select::All).unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `open`?");
        let error = choose(&["open:AA/BC"], Suite::ALL, Select::All).unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `open:AA/BB`?");
        let error = choose(&["treewalk"], &[Suite::Paper], Select::All).unwrap_err();
        assert_eq!(
            error.to_string(),
            "pattern `treewalk` matches no benchmark of suite paper"
        );
    }

    #[test]
    fn patterns_refused() {
        let long = "x".repeat(300);
        let texts = [
            "",
            "!",
            ":x",
            "open:",
            "a b",
            "a\n",
            "nowhere/*",
            "paper/",
            &long,
        ];
        for text in texts {
            assert!(text.parse::<Pattern>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn patterns_come_back(text in "!?((paper|ipc)/)?[a-z*?]{1,6}(:[A-Z/*]{1,6})?") {
            prop_assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
    }
}
