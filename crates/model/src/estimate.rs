// SPDX-License-Identifier: GPL-2.0-or-later
//! Counted operations in estimated nanoseconds, and the document of estimates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentFault, Kind, Stored, all_sound, printable, sound};
use crate::environment::Tool;
use crate::evidence::Events;
use crate::key::Key;
use crate::warning::Warning;

/// What stacks would add to operations in nanoseconds, on the processor that times were taken
/// on: what their instructions do more often than the baseline's, each with its weight:
/// `lsmeter estimate --output FILE`. See [`Stored::read`] and [`Stored::write`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter estimate of times")]
pub struct EstimateDocument {
    pub tool: Tool,
    /// How ns follow from what was counted.
    pub weights: Weights,
    /// What was counted, with what it would take.
    #[serde(rename = "measurements")]
    pub cells: Vec<EstimatedCell>,
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Nanoseconds of what instructions do, as fitted to operations of which both are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weights {
    /// The processor that times were taken on.
    pub processor: String,
    /// `uname -r` of the kernels that times were taken of, and of those that were counted.
    pub releases: [String; 2],
    pub terms: Vec<Weight>,
    /// How far it may be off: in operations that were left out of the fit.
    pub error: FitError,
    /// Differences between stacks that it was fitted to.
    pub differences: u32,
    /// Whole operations of the baseline that it was fitted to, too.
    pub operations: u32,
    /// Each stack that added something, predicted without it.
    pub left_out: Vec<LeftOutStack>,
    /// Rank correlation of overheads, estimated and measured, of all these stacks together. Missing
    /// where they have none, and in documents of versions that did not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out_rank_correlation: Option<f64>,
}

pub const INSTRUCTIONS: &str = "instructions";

/// Key of the weight of L1i conflicts: instruction lines expected in crowded sets of the first
/// cache, see [`conflicting_lines`].
pub const CONFLICTING_LINES: &str = "conflicting_instruction_lines";
/// Sets and ways of a 32 KiB cache with lines of 64 bytes: the L1i of AMD since family 25 and of
/// Intel until 2023.
const CACHE: (u32, u32) = (64, 8);

/// Expected number of `lines` in cache sets with fewer ways than lines, if lines fall in sets at
/// random: each run of the operation evicts and refetches them.
#[must_use]
pub fn conflicting_lines(lines: u64) -> f64 {
    stats::crowded(lines, CACHE.0, CACHE.1)
}

/// What one of something takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weight {
    /// [`INSTRUCTIONS`], [`CONFLICTING_LINES`], or a name in [`Events::KINDS`](crate::Events::KINDS).
    pub event: String,
    /// Nanoseconds, 0 at least.
    pub ns: f64,
    /// Its 95 % interval: percentiles over operations drawn again and again.
    pub ci95: [f64; 2],
    /// The most that one of the operations had of it: nothing is said of twice as many.
    pub most: f64,
}

/// How far estimates were from what was measured, of operations that were left out of the
/// fit, one benchmark after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitError {
    /// Rank correlation of overheads, estimated and measured: 1 if the order is the same.
    pub rank_correlation: f64,
    /// The same of instructions alone.
    pub rank_correlation_of_instructions: f64,
    /// Median distance, in ns.
    pub median_ns: f64,
    /// Median distance of overheads, in points of per cent.
    pub median_points: f64,
    /// Median distance of overheads in instructions from those in ns, in points of per cent: what is
    /// off where instructions are taken for time. Missing where only whole operations were timed,
    /// and in documents of versions that did not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_points_of_instructions: Option<f64>,
    /// Of 95 of 100 the distance is at most this many times √(5² + (0.15 × estimate)²) ns.
    pub q95: f64,
}

impl FitError {
    /// Scale of errors: √([`UNIT_NS`](FitError::UNIT_NS)² + (this × estimate)²).
    pub const UNIT_PART: f64 = 0.15;
    pub const UNIT_NS: f64 = 5.0;
}

/// A stack, predicted by weights that were fitted without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutStack {
    pub stack: Vec<String>,
    /// Operations to which it adds 20 instructions and more.
    pub operations: u32,
    /// Median of measured by estimated ns.
    pub ratio: f64,
    /// Median of measured ns by instructions.
    pub ns_per_instruction: f64,
    /// Rank correlation of overheads, estimated and measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_correlation: Option<f64>,
}

/// What an operation takes more under a stack than under the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimatedCell {
    pub key: Key,
    pub baseline: Vec<String>,
    /// Instructions more than the baseline.
    pub instructions: i64,
    /// Nanoseconds more; missing if nothing can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Nanoseconds>,
    /// Why nothing can be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Nanoseconds more that were measured, where the operation was timed, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Nanoseconds>,
    /// Of each hook, with all that it calls: nested ones are in those around them, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<EstimatedHook>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimatedHook {
    pub hook: String,
    /// Instructions more than under the baseline.
    pub instructions: i64,
    /// Nanoseconds more.
    pub estimate: Nanoseconds,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nanoseconds {
    pub ns: f64,
    /// Of an estimate: as far as 95 of 100 were from what was measured, where that is known. Of a
    /// measurement its 95 % interval.
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
    #[must_use]
    pub fn ns(&self, instructions: u64, events: &Events) -> f64 {
        let terms = self.terms.iter().map(|term| {
            let number = match Events::kind(&term.event) {
                Some(kind) => (kind.of)(events) as f64,
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
        Some(format!("the weight of {event} is no weight"))
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
            odd.then(|| "a figure lies outside of its interval".to_owned())
        })
    }
}
