// SPDX-License-Identifier: GPL-2.0-or-later
//! What a machine measures when nothing has changed (A/A test).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::words::Correction;

/// Runs of one experiment, one after the other, all pairs of them compared: every
/// difference that is called real is a false alarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaReport {
    pub runs: u32,
    /// A difference is called real if its corrected p is at most this.
    pub alpha: f64,
    pub correction: Correction,
    /// One for each metric that was measured.
    pub metrics: Vec<AaMetric>,
    /// One for each kernel whose times were drawn over several layouts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<AaLayouts>,
}

/// What intervals over layouts say of a difference that there is none of: every other round of
/// a stack against the rounds between, as if they were of two stacks that take turns. A name
/// has as many rounds as a stack has in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaLayouts {
    /// The kernel without its layouts' numbers: `build:um`.
    pub kernel: String,
    pub filesystem: String,
    pub layouts: u32,
    /// Rounds of each name.
    pub rounds: u32,
    /// Intervals: one for each stack, operation and pair of runs.
    pub intervals: u64,
    /// Of them those that leave out 0.
    pub false_intervals: u64,
    /// Half of an interval's width as a fraction of the operation's time: the median.
    pub half_width_median: f64,
    pub half_width_largest: f64,
    /// Of which operation that is.
    pub widest: String,
    /// And how many nanoseconds it is there.
    pub half_width_largest_ns: f64,
    /// The most that a stack adds to getppid, which asks no module, in nanoseconds; missing if
    /// it was not measured under two stacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub getppid_largest_ns: Option<f64>,
}

impl AaLayouts {
    /// Fraction of intervals that are false.
    pub fn rate(&self) -> f64 {
        self.false_intervals as f64 / self.intervals.max(1) as f64
    }

    fn contradiction(&self) -> Option<String> {
        if self.false_intervals > self.intervals {
            return Some(format!(
                "{}: more false intervals than intervals",
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
        (!sound).then(|| format!("{}: a figure is out of its range", self.kernel))
    }
}

/// What the pairs say of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AaMetric {
    pub metric: Metric,
    pub pairs: u64,
    /// Of them those with at least one false alarm, after the correction.
    pub alarmed_pairs: u64,
    #[serde(rename = "measurements")]
    pub cells: u64,
    /// Of them false alarms, after the correction.
    pub alarms: u64,
    /// Of them false alarms, if each cell is judged by itself; 0 where figures are exact
    /// and are the same.
    pub alarms_uncorrected: u64,
    /// `alarms` / `cells`.
    pub rate: f64,
    /// 95 % upper limit of that rate (Clopper and Pearson): what so few pairs allow to
    /// say.
    pub rate_at_most: f64,
    /// Largest difference between two figures of a cell, as a fraction.
    pub largest: f64,
    /// Smallest overhead that would be seen, as a fraction: the median over cells; 0
    /// where figures are exact.
    pub detectable: f64,
}

impl AaReport {
    pub fn metric(&self, metric: Metric) -> Option<&AaMetric> {
        self.metrics.iter().find(|of| of.metric == metric)
    }

    pub(crate) fn contradiction(&self) -> Option<String> {
        if let Some(of) = self.layouts.iter().find_map(AaLayouts::contradiction) {
            return Some(of);
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
            (!sound).then(|| format!("{}: a figure is out of its range", metric.metric))
        })
    }
}
