// SPDX-License-Identifier: GPL-2.0-or-later
//! One compared cell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{GateVerdict, Method, Side, Verdict};
use crate::key::title;
use crate::metric::Metric;
use crate::words::Status;

/// What a cell is: of both sides where they are the same, else of NEW.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Place {
    /// Kernel as the user named it; empty where there is none, as in recordings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// Stack and what else is at work: `capability,selinux (enforcing)`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub configuration: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filesystem: String,
}

/// A cell of both sides, and what its two figures say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCell {
    /// Where NEW's was measured.
    pub place: Place,
    /// Where BASE's was, if that is not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_place: Option<Place>,
    /// Benchmark; of a recording the function.
    pub benchmark: String,
    /// Its variant; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// What else tells it from others: a sweep's hooks and caches.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    pub metric: Metric,
    /// Unit of figures and of `difference`.
    pub unit: String,
    pub base: Figure,
    pub new: Figure,
    pub method: Method,
    /// NEW less BASE, in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// (NEW - BASE) / BASE, for a throughput (BASE - NEW) / BASE: more is worse. None
    /// where BASE is not above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// 95 % interval of `overhead`, not corrected for the number of cells; a point where
    /// the figures are exact. By paths: the ratios that the intervals of both sides allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Cliff's delta, -1 to 1: how much more often NEW's sample is the larger one of two
    /// than the smaller one. Only by samples and paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<f64>,
    /// How probable a difference like this is if nothing changed. Of times only: measured regions of one
    /// machine are not independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// `p`, corrected for the number of cells that were tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    /// Smallest overhead that would have been seen in four of five comparisons like this
    /// one, as a fraction. Missing where figures are exact: one is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    pub verdict: Verdict,
    /// Why nothing can be said, or no figure is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Reasons not to trust it, which keep a gate from passing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// What the gate says of it; None without one, or if it has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<CellGate>,
}

/// One side's figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    pub status: Status,
    /// The figure; only if it ended well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Rounds in which these were taken, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Its 95 % interval, if it is not exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Why there is no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A gate's word on one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellGate {
    /// The most that it may be worse by.
    pub limit: Limit,
    pub verdict: GateVerdict,
    pub message: String,
}

/// How much worse a cell may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "of", content = "at_most")]
pub enum Limit {
    Overhead(f64),
    /// In the cell's own unit.
    Difference(f64),
}

/// A cell that only one side has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnmatchedCell {
    pub side: Side,
    /// Where it was measured.
    pub place: Place,
    pub benchmark: String,
    /// What else tells it from others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    pub metric: Metric,
}

impl ComparedCell {
    /// `benchmark:variant`, or `benchmark` if there is only one variant, with what distinguishes it
    /// from others.
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
            return Some("a figure is not finite".to_owned());
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
