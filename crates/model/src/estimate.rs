// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts converted to nanoseconds, and their result file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::document::{DocumentFault, Kind, Stored, all_sound, printable, sound};
use crate::environment::Tool;
use crate::evidence::Events;
use crate::key::Key;
use crate::warning::Warning;

/// Estimated time that stacks add to operations, in ns on the processor that was timed. The
/// estimate is the sum over events of the weight times the number of additional occurrences over
/// the baseline. Written by `lsmeter estimate --output FILE`. See [`Stored::read`] and
/// [`Stored::write`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter estimate result file")]
pub struct EstimateDocument {
    pub tool: Tool,
    /// How counts are converted to ns.
    pub weights: Weights,
    /// Counted operations with their estimates.
    #[serde(rename = "measurements")]
    pub cells: Vec<EstimatedCell>,
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Weights in ns, fitted to operations that were both counted and timed.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weights {
    /// The processor that was timed.
    pub processor: String,
    /// `uname -r` of the timed kernels and of the counted ones.
    pub releases: [String; 2],
    pub terms: Vec<Weight>,
    /// Error for operations that were left out of the fit.
    pub error: FitError,
    /// Number of differences between stacks in the fit.
    pub differences: u32,
    /// Number of whole operations of the baseline in the fit.
    pub operations: u32,
    /// Estimates for each stack, with weights fitted without that stack.
    pub left_out: Vec<LeftOutStack>,
    /// Rank correlation of estimated and measured overheads, over all these stacks together.
    /// Missing without such stacks, and in result files of older versions.
    pub left_out_rank_correlation: Option<f64>,
}

pub const INSTRUCTIONS: &str = "instructions";

/// Name of the weight of L1i conflicts, see [`conflicting_lines`].
pub const CONFLICTING_LINES: &str = "conflicting_instruction_lines";
/// Sets and ways of a 32 KiB cache with lines of 64 bytes: the L1i of AMD since family 25 and of
/// Intel until 2023.
const CACHE: (u32, u32) = (64, 8);

/// Expected number of `lines` in cache sets with more lines than ways, if lines fall in sets at
/// random. Each run of the operation evicts and refetches them.
pub fn conflicting_lines(lines: u64) -> f64 {
    stats::crowded(lines, CACHE.0, CACHE.1)
}

/// Cost of one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weight {
    /// [`INSTRUCTIONS`], [`CONFLICTING_LINES`], or a name in
    /// [`Events::KINDS`](crate::Events::KINDS).
    pub event: String,
    /// Cost in ns, at least 0.
    pub ns: f64,
    /// 95 % interval: bootstrap percentiles over operations.
    pub ci95: [f64; 2],
    /// Largest number of this event in one fitted operation. No estimate is made for operations
    /// with more than twice this number.
    pub most: f64,
}

/// Errors of estimates for operations left out of the fit, one benchmark at a time.
#[skip_serializing_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitError {
    /// Rank correlation of estimated and measured overheads; 1 means the same order.
    pub rank_correlation: f64,
    /// The same for overheads in instructions, without weights.
    pub rank_correlation_of_instructions: f64,
    /// Median error in ns.
    pub median_ns: f64,
    /// Median error of overheads, in percentage points.
    pub median_points: f64,
    /// Median difference between overheads in instructions and in ns, in percentage points. Missing
    /// where only whole operations were timed, and in result files of older versions.
    pub median_points_of_instructions: Option<f64>,
    /// 95 % of errors are at most this many times √(5² + (0.15 × estimate)²) ns.
    pub q95: f64,
}

impl FitError {
    /// Relative part of the error scale: √([`UNIT_NS`](FitError::UNIT_NS)² + (this × estimate)²).
    pub const UNIT_PART: f64 = 0.15;
    pub const UNIT_NS: f64 = 5.0;
}

/// A stack, estimated with weights fitted without it.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutStack {
    pub stack: Vec<String>,
    /// Number of operations to which it adds at least 20 instructions.
    pub operations: u32,
    /// Median ratio of measured to estimated ns.
    pub ratio: f64,
    /// Median ratio of measured ns to instructions.
    pub ns_per_instruction: f64,
    /// Rank correlation of estimated and measured overheads.
    pub rank_correlation: Option<f64>,
}

/// Cost that a stack adds to an operation over the baseline.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimatedCell {
    pub key: Key,
    pub baseline: Vec<String>,
    /// Instructions added.
    pub instructions: i64,
    /// Nanoseconds added; missing if they cannot be estimated.
    pub estimate: Option<Nanoseconds>,
    /// Why they cannot be estimated.
    pub refused: Option<String>,
    /// Measured nanoseconds added, if the operation was also timed.
    pub measured: Option<Nanoseconds>,
    /// Cost per hook, with everything that it calls. A nested hook also counts as part of the outer
    /// one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<EstimatedHook>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimatedHook {
    pub hook: String,
    pub instructions: i64,
    pub estimate: Nanoseconds,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nanoseconds {
    pub ns: f64,
    /// For an estimate, the range of 95 % of the errors, if known. For a measurement, its 95 %
    /// interval.
    pub ci95: [f64; 2],
}

impl Nanoseconds {
    pub fn gap(&self, other: &Nanoseconds) -> Option<f64> {
        let above = self.ci95[0] - other.ci95[1];
        let below = other.ci95[0] - self.ci95[1];
        let gap = above.max(below);
        (gap > 0.0).then_some(gap)
    }

    fn is_sound(&self) -> bool {
        let [low, high] = self.ci95;
        let finite = [self.ns, low, high].iter().all(|ns| ns.is_finite());
        finite && low <= self.ns && self.ns <= high
    }
}

impl Weights {
    pub fn ns(&self, instructions: u64, events: &Events) -> f64 {
        let terms = self.terms.iter().map(|term| {
            let number = match Events::kind(&term.event) {
                Some(kind) => (kind.count)(events) as f64,
                None if term.event == CONFLICTING_LINES => {
                    conflicting_lines(events.instruction_lines)
                }
                None => instructions as f64,
            };
            term.ns * number
        });
        terms.sum()
    }

    fn contradiction(&self) -> Option<String> {
        let odd = |term: &&Weight| {
            let [low, high] = term.ci95;
            let finite = [term.ns, low, high, term.most]
                .iter()
                .all(|x| x.is_finite());
            let is_own = [INSTRUCTIONS, CONFLICTING_LINES].contains(&term.event.as_str());
            let known = is_own || Events::kind(&term.event).is_some();
            !finite || term.ns < 0.0 || low > high || !known
        };
        let odd = self.terms.iter().find(odd)?;
        let event = printable(&odd.event);
        Some(format!("invalid weight of {event}"))
    }
}

impl Stored for EstimateDocument {
    const KIND: Kind = Kind::Estimate;

    fn check(&self) -> Result<(), DocumentFault> {
        sound("weights", self.weights.contradiction())?;
        all_sound("measurements", &self.cells, |cell| {
            if cell.estimate.is_some() == cell.refused.is_some() {
                return Some("it has neither an estimate nor a reason, or both".to_owned());
            }
            let of_hooks = cell.hooks.iter().map(|hook| hook.estimate);
            let own = cell.estimate.into_iter().chain(cell.measured);
            let mut all = own.chain(of_hooks);
            let odd = all.any(|estimate| !estimate.is_sound());
            odd.then(|| "a value lies outside its interval".to_owned())
        })
    }
}
