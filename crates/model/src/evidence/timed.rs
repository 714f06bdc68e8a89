// SPDX-License-Identifier: GPL-2.0-or-later
//! Samples of a varying figure, and their estimate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Summary;

/// What samples say of the figure behind them, in the metric's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Samples; clean measured regions of what is counted.
    pub n: u64,
    pub median: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Standard deviation of the sample (divisor n - 1); missing for n = 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stddev: Option<f64>,
    /// Smallest sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// 95 % bootstrap percentile interval of the median; missing for n < 6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// The samples themselves, in the order taken, if they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Vec<f64>>,
}

/// Samples that were timed, round by round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timed {
    pub estimate: Estimate,
    /// Median of each round's samples, in the order of the rounds; empty in documents of
    /// an older lsmeter. What rounds differ by is what a comparison has to stand out from. Rounds
    /// in which others used the processor's core are left out if there are others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<f64>,
    /// 10th percentile of each round's samples, in the order of the rounds: what the
    /// operation takes while the machine does little else, which only adds time. Of
    /// throughput, and in documents of an older lsmeter, empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quiet: Vec<f64>,
    /// What the median was in each of the runs that measured it without a change (`--aa`),
    /// this one first; empty if there were none. What two runs differ by is more than what
    /// rounds of one do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<f64>,
    /// Operations per sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Did others use the processor's core in each round, or in none of those that are told here?
    /// None where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
            return Some("it was measured, but n is 0".to_owned());
        }
        if self.min.is_some_and(|min| min > self.median)
            || self.max.is_some_and(|max| max < self.median)
        {
            return Some("the median lies outside min and max".to_owned());
        }
        let backwards = self.ci95.is_some_and(|[low, high]| low > high);
        backwards.then(|| "ci95 ends before it begins".to_owned())
    }
}

impl Timed {
    pub fn of(estimate: Estimate) -> Timed {
        Timed {
            estimate,
            rounds: Vec::new(),
            quiet: Vec::new(),
            runs: Vec::new(),
            batch: None,
            disturbed: None,
        }
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        let sound = |x: &f64| x.is_finite() && *x >= 0.0;
        if !self.quiet.iter().all(sound) {
            return Some("a figure of `quiet` is below 0".to_owned());
        }
        if !self.runs.iter().all(sound) {
            return Some("a figure of `runs` is below 0".to_owned());
        }
        self.estimate.contradiction()
    }
}
