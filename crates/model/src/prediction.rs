// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of other stacks for recorded hook calls, and its result file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::document::{DocumentFault, Kind, Stored, all_sound, printable, sound};
use crate::environment::Tool;
use crate::warning::Warning;
use crate::words::words;

/// Relative rounding error of sums.
const ROUNDING: f64 = 1e-6;

words! {
    /// How the cost of a call was determined.
    Basis, "basis":
    /// From operations that call the hook in the same system call.
    SystemCall = "system_call",
    /// From operations that call the hook in other system calls.
    Hook = "hook",
    /// Unknown: no operation calls the hook.
    Nothing = "nothing",
}

/// Predicted cost of stacks on a machine whose hook calls were recorded: `lsmeter predict --json`.
/// See [`Stored::read`] and [`Stored::write`].
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter prediction result file")]
pub struct PredictionDocument {
    pub tool: Tool,
    /// `uname -r` of the recording.
    pub release: String,
    /// Modules active in the recording, in order; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_lsms: Vec<String>,
    /// `uname -r` of the kernel on which costs were counted.
    pub costs_release: String,
    /// Stacks with the states of their policies; the first is the baseline.
    pub stacks: Vec<String>,
    /// Processor for which nanoseconds are estimated.
    pub processor: Option<String>,
    /// Recorded calls with their predicted cost: one recording, or one entry per program.
    pub loads: Vec<PredictedLoad>,
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Calls recorded together, and their predicted cost. Instructions are guest kernel instructions in
/// hooks, for all calls.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedLoad {
    /// Whose calls: `the machine`, `git-status`.
    pub name: String,
    /// Duration of the recording in s; missing for a whole program.
    pub seconds: Option<f64>,
    pub coverage: Coverage,
    /// Predicted cost under each stack, in the order of `stacks`.
    pub stacks: Vec<PredictedStack>,
    /// The calls, by hook, then by system call.
    pub calls: Vec<PredictedCalls>,
}

/// Number of calls, by how their cost was determined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Number of calls whose cost is known from the same system call.
    pub by_system_call: u64,
    /// Number of calls whose cost is known from other system calls.
    pub by_hook: u64,
    /// Number of calls with unknown cost, which no value includes.
    pub uncovered: u64,
}

/// A value with its lower and upper bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// The value if each call cost as much as the cheapest counted call of its hook.
    pub low: f64,
    pub middle: f64,
    /// The value if each call cost as much as the most expensive counted call of its hook.
    pub high: f64,
}

/// Cost of all calls under a stack, in instructions.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedStack {
    pub instructions: f64,
    /// Added cost over the baseline; missing for the baseline itself.
    pub added: Option<Range>,
    /// The same in ns, for calls whose events are known.
    pub added_ns: Option<f64>,
    /// Instructions that hooks added when the program was counted under both stacks.
    pub measured: Option<i64>,
    /// Parts of `instructions` by module; they add up to it.
    pub modules: Vec<PredictedModule>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedModule {
    /// Missing for the framework itself.
    pub module: Option<String>,
    pub instructions: f64,
}

/// Calls of a hook in a system call.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedCalls {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// The system call: `openat`; `none` outside system calls, `other` if not distinguished.
    pub system_call: String,
    pub calls: u64,
    /// Recorded time of the calls in ns, if measured.
    pub recorded_ns: Option<i64>,
    /// How their cost was determined.
    pub basis: Basis,
    /// Number of operations over which the median cost was taken.
    pub operations: u32,
    /// Cost of one call under each stack; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CallCost>,
}

/// Cost of one hook call under a stack, in instructions.
#[skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallCost {
    /// Total: the median over operations.
    pub instructions: f64,
    /// Added cost over the baseline; missing for the baseline itself.
    pub added: Option<Range>,
    /// Total in ns, if estimated.
    pub ns: Option<f64>,
}

impl Range {
    #[must_use]
    pub fn times(self, times: f64) -> Range {
        Range {
            low: self.low * times,
            middle: self.middle * times,
            high: self.high * times,
        }
    }

    #[must_use]
    pub fn plus(self, other: Range) -> Range {
        Range {
            low: self.low + other.low,
            middle: self.middle + other.middle,
            high: self.high + other.high,
        }
    }

    fn is_sound(&self) -> bool {
        let finite = [self.low, self.middle, self.high]
            .iter()
            .all(|figure| figure.is_finite());
        let rounding = ROUNDING * self.low.abs().max(self.high.abs()).max(1.0);
        finite && self.low <= self.middle + rounding && self.middle <= self.high + rounding
    }
}

impl Coverage {
    pub fn from_calls(calls: &[PredictedCalls]) -> Coverage {
        let mut coverage = Coverage::default();
        for pair in calls {
            let sum = match pair.basis {
                Basis::SystemCall => &mut coverage.by_system_call,
                Basis::Hook => &mut coverage.by_hook,
                Basis::Nothing => &mut coverage.uncovered,
            };
            *sum = sum.saturating_add(pair.calls);
        }
        coverage
    }

    pub fn calls(&self) -> u64 {
        let covered = self.by_system_call.saturating_add(self.by_hook);
        covered.saturating_add(self.uncovered)
    }
}

impl PredictedCalls {
    /// Added cost of the calls under a stack; None for the baseline, and if unknown.
    pub fn added(&self, stack: usize) -> Option<Range> {
        let added = self.costs.get(stack)?.added?;
        Some(added.times(self.calls as f64))
    }

    fn contradiction(&self, stacks: usize) -> Option<String> {
        let expected = if self.basis == Basis::Nothing {
            0
        } else {
            stacks
        };
        let odd = |(at, cost): (usize, &CallCost)| {
            !cost.instructions.is_finite()
                || cost.ns.is_some_and(|ns| !ns.is_finite())
                || cost.added.is_none() != (at == 0)
                || cost.added.is_some_and(|added| !added.is_sound())
        };
        let wrong = self.costs.len() != expected || self.costs.iter().enumerate().any(odd);
        wrong.then(|| format!("{} does not have one cost per stack", printable(&self.hook)))
    }
}

impl PredictedLoad {
    /// Divisor of `calls`: the seconds of a recording, 1 for a program.
    pub fn divisor(&self) -> f64 {
        self.seconds.filter(|s| *s > 0.0).unwrap_or(1.0)
    }

    fn contradiction(&self, stacks: usize) -> Option<String> {
        if self.seconds.is_some_and(|s| !(s.is_finite() && s > 0.0)) {
            return Some("its duration is not positive".to_owned());
        }
        let mut calls = self.calls.iter();
        if let Some(message) = calls.find_map(|pair| pair.contradiction(stacks)) {
            return Some(message);
        }
        if self.coverage != Coverage::from_calls(&self.calls) {
            return Some("its coverage is not the sum of its calls".to_owned());
        }
        if self.stacks.len() != stacks {
            return Some(format!("only {} of {stacks} stacks", self.stacks.len()));
        }
        let wrong = (0..stacks).find(|&at| !self.sums_up(at))?;
        Some(format!(
            "the values of stack {wrong} are not the sums of its calls"
        ))
    }

    fn sums_up(&self, at: usize) -> bool {
        let stack = &self.stacks[at];
        let near = |sum: f64, figure: f64| (sum - figure).abs() <= ROUNDING * figure.abs().max(1.0);
        let costs = self.calls.iter().filter_map(|pair| {
            let cost = pair.costs.get(at)?;
            Some(cost.instructions * pair.calls as f64)
        });
        let modules = stack.modules.iter().map(|module| module.instructions);
        let added = self.calls.iter().filter_map(|pair| pair.added(at));
        let added = added.fold(Range::default(), Range::plus);
        if stack.added_ns.is_some_and(|ns| !ns.is_finite()) {
            return false;
        }
        let added_fits = match stack.added {
            None => at == 0,
            Some(stored) => {
                at > 0
                    && stored.is_sound()
                    && near(added.low, stored.low)
                    && near(added.middle, stored.middle)
                    && near(added.high, stored.high)
            }
        };
        near(costs.sum(), stack.instructions)
            && near(modules.sum(), stack.instructions)
            && added_fits
    }
}

impl Stored for PredictionDocument {
    const KIND: Kind = Kind::Prediction;

    fn check(&self) -> Result<(), DocumentFault> {
        let missing = self.stacks.is_empty().then(|| "there is none".to_owned());
        sound("stacks", missing)?;
        all_sound("loads", &self.loads, |load| {
            load.contradiction(self.stacks.len())
        })
    }
}
