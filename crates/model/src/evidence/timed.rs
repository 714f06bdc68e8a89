// SPDX-License-Identifier: GPL-2.0-or-later
//! Samples of a varying value, and their statistics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use stats::Summary;

/// Statistics of samples, in the metric's unit.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Number of samples; for counts, the number of clean measured regions.
    pub n: u64,
    pub median: f64,
    pub mean: Option<f64>,
    /// Standard deviation of the sample (divisor n - 1); missing for n = 1.
    pub stddev: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// 95 % bootstrap percentile interval of the median; missing for n < 6.
    pub ci95: Option<[f64; 2]>,
    /// The samples themselves, in the order taken, if kept.
    pub samples: Option<Vec<f64>>,
}

/// Timed samples, round by round.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timed {
    pub estimate: Estimate,
    /// Median of each round's samples, in order; empty in result files of older versions. A
    /// comparison tests against the variation between rounds. Rounds in which other processes or
    /// machines used the processor's core are left out if there are undisturbed ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<f64>,
    /// 10th percentile of each round's samples, in order: the operation's time while the machine is
    /// nearly idle, because other load can only add time. Empty for throughput and in result files
    /// of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quiet: Vec<f64>,
    /// Median in each repeated run without a change (`--aa`), this run first; empty if there were
    /// none. Runs vary more than the rounds of one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<f64>,
    /// Operations per sample.
    pub batch: Option<u32>,
    /// Whether other processes or machines used the processor's core in all rounds above; false: in
    /// none. None if not checked.
    pub disturbed: Option<bool>,
}

impl From<&Summary> for Estimate {
    fn from(summary: &Summary) -> Estimate {
        Estimate {
            n: summary.n as u64,
            median: summary.median,
            mean: Some(summary.mean),
            stddev: summary.stddev,
            min: Some(summary.min),
            max: Some(summary.max),
            ci95: summary.ci95,
            samples: None,
        }
    }
}

impl Estimate {
    pub(super) fn contradiction(&self) -> Option<String> {
        if self.n == 0 {
            return Some("n is 0".to_owned());
        }
        if self.min.is_some_and(|min| min > self.median)
            || self.max.is_some_and(|max| max < self.median)
        {
            return Some("the median is not between min and max".to_owned());
        }
        let backwards = self.ci95.is_some_and(|[low, high]| low > high);
        backwards.then(|| "ci95 ends before it begins".to_owned())
    }
}

impl Timed {
    pub fn new(estimate: Estimate) -> Timed {
        Timed {
            estimate,
            ..Timed::default()
        }
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        let sound = |x: &f64| x.is_finite() && *x >= 0.0;
        if !self.quiet.iter().all(sound) {
            return Some("a value in `quiet` is negative".to_owned());
        }
        if !self.runs.iter().all(sound) {
            return Some("a value in `runs` is negative".to_owned());
        }
        self.estimate.contradiction()
    }
}
