// SPDX-License-Identifier: GPL-2.0-or-later
//! False alarms on a machine: runs between which nothing changed are compared (A/A test).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;

/// Several runs of one experiment, one after the other, with all pairs compared. Every difference
/// that is judged real is a false alarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaReport {
    pub runs: u32,
    /// Significance level: a difference is judged real if its corrected p is at most this.
    pub alpha: f64,
    /// One entry per measured metric.
    pub metrics: Vec<AaMetric>,
    /// One entry per kernel that was timed over several layouts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<AaLayouts>,
}

/// False alarms of intervals over layouts. Each stack is compared with itself: its even rounds with
/// its odd ones, as if they were two interleaved stacks. Each half has as many rounds as a stack
/// has in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaLayouts {
    /// The kernel without its layout number: `build:um`.
    pub kernel: String,
    pub filesystem: String,
    pub layouts: u32,
    /// Number of rounds in each half.
    pub rounds: u32,
    /// Number of intervals: one per stack, operation and pair of runs.
    pub intervals: u64,
    /// Intervals that exclude 0.
    pub false_intervals: u64,
    /// Median half-width of the intervals, as a fraction of the operation's time.
    pub half_width_median: f64,
    pub half_width_largest: f64,
    /// Operation with the largest half-width.
    pub widest: String,
    /// The largest half-width in ns.
    pub half_width_largest_ns: f64,
    /// Largest cost in ns that a stack adds to getppid, which calls no hook. Missing unless getppid
    /// was measured under two stacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub getppid_largest_ns: Option<f64>,
}

impl AaLayouts {
    /// `false_intervals` / `intervals`.
    pub fn rate(&self) -> f64 {
        self.false_intervals as f64 / self.intervals.max(1) as f64
    }

    fn contradiction(&self) -> Option<String> {
        if self.false_intervals > self.intervals {
            return Some(format!(
                "{}: `false_intervals` is larger than `intervals`",
                self.kernel
            ));
        }
        let figures = [
            self.half_width_median,
            self.half_width_largest,
            self.half_width_largest_ns,
            self.getppid_largest_ns.unwrap_or(0.0),
        ];
        let sound = figures.iter().all(|x| x.is_finite() && *x >= 0.0);
        (!sound).then(|| format!("{}: a value is out of range", self.kernel))
    }
}

/// False alarms of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaMetric {
    pub metric: Metric,
    pub pairs: u64,
    /// Pairs of runs with at least one false alarm after correction.
    pub alarmed_pairs: u64,
    #[serde(rename = "measurements")]
    pub cells: u64,
    /// False alarms after correction.
    pub alarms: u64,
    /// False alarms without correction; 0 where values are exact and equal.
    pub alarms_uncorrected: u64,
    /// `alarms` / `cells`.
    pub rate: f64,
    /// 95 % upper limit of that rate (Clopper and Pearson).
    pub rate_at_most: f64,
    /// Largest difference between two values of one measurement, as a fraction.
    pub largest: f64,
    /// Smallest overhead that would be found, as a fraction: the median over measurements; 0 where
    /// values are exact.
    pub detectable: f64,
}

impl AaReport {
    pub fn metric(&self, metric: Metric) -> Option<&AaMetric> {
        self.metrics.iter().find(|entry| entry.metric == metric)
    }

    pub(crate) fn contradiction(&self) -> Option<String> {
        if let Some(message) = self.layouts.iter().find_map(AaLayouts::contradiction) {
            return Some(message);
        }
        let fraction = |x: f64| (0.0..=1.0).contains(&x);
        self.metrics.iter().find_map(|metric| {
            if metric.alarms > metric.cells || metric.alarmed_pairs > metric.pairs {
                return Some(format!("{}: more alarms than comparisons", metric.metric));
            }
            let sound = fraction(metric.rate)
                && fraction(metric.rate_at_most)
                && [metric.largest, metric.detectable]
                    .iter()
                    .all(|x| x.is_finite() && *x >= 0.0);
            (!sound).then(|| format!("{}: a value is out of range", metric.metric))
        })
    }
}
