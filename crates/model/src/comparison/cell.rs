// SPDX-License-Identifier: GPL-2.0-or-later
//! One compared measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::words::{GateVerdict, Method, Side, Verdict};
use crate::key::title;
use crate::metric::Metric;
use crate::words::Status;

/// Kernel, configuration and file system of a measurement: those that both sides share, or those of
/// NEW.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Place {
    /// Kernel as the user named it; empty for recordings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// Stack, subsystems and policy state: `capability,selinux (enforcing)`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub configuration: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filesystem: String,
}

/// A measurement that both sides have, and its verdict.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCell {
    /// Place of the measurement in NEW.
    pub place: Place,
    /// Place of the measurement in BASE, if it differs.
    pub base_place: Option<Place>,
    /// Benchmark; in a recording the function.
    pub benchmark: String,
    /// Its variant; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// Other distinguishing keys: a sweep's hooks and caches.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    pub metric: Metric,
    /// Unit of values and of `difference`.
    pub unit: String,
    pub base: Figure,
    pub new: Figure,
    pub method: Method,
    /// NEW minus BASE, in `unit`.
    pub difference: Option<f64>,
    /// (NEW - BASE) / BASE, for a throughput (BASE - NEW) / BASE: more is worse. None unless BASE
    /// is positive.
    pub overhead: Option<f64>,
    /// 95 % interval of `overhead`, not corrected for the number of tests; a point for exact
    /// values. With the method `paths`: the range that the intervals of both sides allow.
    pub ci95: Option<[f64; 2]>,
    /// Cliff's delta, -1 to 1: the probability that a sample of NEW is larger than one of BASE,
    /// minus the opposite. Only with the methods of samples and paths.
    pub effect: Option<f64>,
    /// Probability of such a difference if nothing changed. Only for times: measured regions of one
    /// machine are not independent.
    pub p: Option<f64>,
    /// `p`, corrected for the number of tests.
    pub p_adjusted: Option<f64>,
    /// Smallest overhead found with 80 % power, as a fraction. Missing for exact values, where it
    /// is a single unit.
    pub detectable: Option<f64>,
    pub verdict: Verdict,
    /// Why there is no verdict or no value.
    pub reason: Option<String>,
    /// Reasons for doubt; if there is any, a gate does not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The gate's result; None without a gate or a limit.
    pub gate: Option<CellGate>,
}

/// One side's value.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    pub status: Status,
    /// Missing if the measurement failed.
    pub value: Option<f64>,
    pub n: Option<u64>,
    /// Rounds in which the samples were taken, if known.
    pub rounds: Option<u32>,
    /// 95 % interval, unless exact.
    pub ci95: Option<[f64; 2]>,
    /// Why there is no value.
    pub reason: Option<String>,
}

/// A gate's result for one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellGate {
    /// The allowed regression.
    pub limit: Limit,
    pub verdict: GateVerdict,
    pub message: String,
}

/// Allowed regression of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "of", content = "at_most")]
pub enum Limit {
    Overhead(f64),
    /// In the measurement's own unit.
    Difference(f64),
}

/// A measurement that only one side has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnmatchedCell {
    pub side: Side,
    pub place: Place,
    pub benchmark: String,
    /// Other distinguishing keys.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    pub metric: Metric,
}

impl ComparedCell {
    /// `benchmark:variant`, or `benchmark` if there is only one variant, with other distinguishing
    /// keys.
    pub fn title(&self) -> String {
        let operation = title(&self.benchmark, &self.variant);
        if self.detail.is_empty() {
            operation
        } else {
            format!("{operation} ({})", self.detail)
        }
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        let figures = [self.base.value, self.new.value, self.difference];
        let figures = figures
            .into_iter()
            .chain([self.overhead, self.p, self.p_adjusted]);
        if figures.flatten().any(|figure| !figure.is_finite()) {
            return Some("a value is not finite".to_owned());
        }
        let missing = self.base.value.is_none() || self.new.value.is_none();
        if missing != (self.verdict == Verdict::Missing) {
            return Some(format!("the verdict is {}", self.verdict));
        }
        if self.ci95.is_some_and(|[low, high]| low > high) {
            return Some("ci95 ends before it begins".to_owned());
        }
        let p = [self.p, self.p_adjusted].into_iter().flatten();
        p.map(|p| (0.0..=1.0).contains(&p))
            .any(|possible| !possible)
            .then(|| "p is not between 0 and 1".to_owned())
    }
}

impl Place {
    pub fn title(&self) -> String {
        let parts = [&self.kernel, &self.configuration, &self.filesystem];
        let parts: Vec<&str> = parts
            .into_iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        parts.join(", ")
    }
}
