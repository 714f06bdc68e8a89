// SPDX-License-Identifier: GPL-2.0-or-later
//! How many hooks agree: for each pair of instruments, and all in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckedBenchmark, CheckedHook, CheckedResidual};
use crate::words::{CheckVerdict, Instrument};

/// How many hooks and residuals agree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CheckSummary {
    /// Pairs of instruments of which anything was compared.
    pub pairs: Vec<PairSummary>,
    /// Hooks of benchmarks.
    pub hooks: Verdicts,
    /// Operations under a further stack, against the first.
    pub residuals: Verdicts,
    /// Hooks whose nominal count is known beside a profile's.
    pub nominal: u64,
    /// Of them those where the two are the same.
    pub nominal_same: u64,
}

/// Two instruments beside each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairSummary {
    /// One of them.
    pub first: Instrument,
    /// The other.
    pub second: Instrument,
    /// Hooks of benchmarks of which both have a figure.
    pub compared: u64,
    /// Those in which they agree.
    pub agree: u64,
    /// Those in which they do not, for a reason that is known.
    pub explained: u64,
    /// Those in which they do not.
    pub disagree: u64,
}

/// How often each verdict was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// All agrees.
    pub agree: u64,
    /// What does not is explained.
    pub explained: u64,
    /// Something is not explained.
    pub disagree: u64,
    /// Nothing to compare it with.
    pub alone: u64,
}

impl Verdicts {
    /// Counts them.
    pub fn of(verdicts: impl Iterator<Item = CheckVerdict>) -> Verdicts {
        let mut counted = Verdicts::default();
        for verdict in verdicts {
            *match verdict {
                CheckVerdict::Agree => &mut counted.agree,
                CheckVerdict::Explained => &mut counted.explained,
                CheckVerdict::Disagree => &mut counted.disagree,
                CheckVerdict::Alone => &mut counted.alone,
            } += 1;
        }
        counted
    }

    /// Those that could be compared with something.
    pub fn compared(&self) -> u64 {
        // From a document they may be anything.
        let sum = self.agree.saturating_add(self.explained);
        sum.saturating_add(self.disagree)
    }
}

impl CheckSummary {
    /// Counts.
    pub fn of(benchmarks: &[CheckedBenchmark], residuals: &[CheckedResidual]) -> CheckSummary {
        let hooks = || benchmarks.iter().flat_map(|benchmark| &benchmark.hooks);
        let nominal: Vec<(u64, u64)> = hooks()
            .filter(|hook| hook.is_of_a_hook())
            .filter_map(|hook| hook.profile.zip(hook.nominal))
            .collect();
        CheckSummary {
            pairs: pairs(&hooks().collect::<Vec<_>>()),
            hooks: Verdicts::of(hooks().map(|hook| hook.verdict)),
            residuals: Verdicts::of(residuals.iter().map(|residual| residual.verdict)),
            nominal: nominal.len() as u64,
            nominal_same: nominal.iter().filter(|(a, b)| a == b).count() as u64,
        }
    }
}

fn pairs(hooks: &[&CheckedHook]) -> Vec<PairSummary> {
    let mut pairs = Vec::new();
    for (at, &first) in Instrument::ALL.iter().enumerate() {
        for &second in &Instrument::ALL[at + 1..] {
            let both = hooks
                .iter()
                .filter(|hook| hook.tells(first) && hook.tells(second));
            let mut pair = PairSummary {
                first,
                second,
                compared: 0,
                agree: 0,
                explained: 0,
                disagree: 0,
            };
            for hook in both {
                pair.compared += 1;
                *match hook.apart_of(first, second) {
                    None => &mut pair.agree,
                    Some(apart) if apart.explained => &mut pair.explained,
                    Some(_) => &mut pair.disagree,
                } += 1;
            }
            if pair.compared > 0 {
                pairs.push(pair);
            }
        }
    }
    pairs
}
