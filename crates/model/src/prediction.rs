// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of other stacks for recorded calls of hooks, and the document of predictions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentFault, Kind, Stored, all_sound, printable, sound};
use crate::environment::Tool;
use crate::warning::Warning;
use crate::words::words;

/// Relative rounding error of sums.
const ROUNDING: f64 = 1e-6;

words! {
    /// By what the cost of a call is known.
    Basis, "basis":
    /// By operations that make this system call, and call the hook in it.
    SystemCall = "system_call",
    /// By operations that call the hook in other system calls.
    Hook = "hook",
    /// Not at all: no operation calls the hook.
    Nothing = "nothing",
}

/// What stacks would cost on a machine whose calls were recorded: `lsmeter predict --json`.
/// See [`Stored::read`] and [`Stored::write`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter prediction document")]
pub struct PredictionDocument {
    pub tool: Tool,
    /// `uname -r` of where calls were recorded.
    pub release: String,
    /// Modules that were active there, in order; empty if it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_lsms: Vec<String>,
    /// `uname -r` of the kernel on which costs were counted.
    pub costs_release: String,
    /// Stacks with the states of their policies; the first is the baseline.
    pub stacks: Vec<String>,
    /// Nanoseconds that an instruction takes, as the user takes it to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns_per_instruction: Option<f64>,
    /// The processor that nanoseconds are estimated for, by weights of what instructions do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
    /// What was recorded, with what it would cost: a recording, or each whole program.
    pub loads: Vec<PredictedLoad>,
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Calls that were recorded together, and what they would cost. Instructions are the guest
/// kernel's, in hooks, for all of the calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedLoad {
    /// Whose calls: `the machine`, `git-status`.
    pub name: String,
    /// How long they were recorded, in s; missing of a whole program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    pub coverage: Coverage,
    /// What they cost under each stack, in the order of the document's stacks.
    pub stacks: Vec<PredictedStack>,
    /// The calls, by hook, then by system call.
    pub calls: Vec<PredictedCalls>,
}

/// How many calls have a cost, and by what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// By operations that make the same system call.
    pub by_system_call: u64,
    /// By operations that call the hook in other system calls.
    pub by_hook: u64,
    /// Without a cost: in no figure.
    pub uncovered: u64,
}

/// A figure with what it is at least and at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// If each call cost as the cheapest one of its hook that was counted.
    pub low: f64,
    pub middle: f64,
    /// If each call cost as the dearest one of its hook that was counted.
    pub high: f64,
}

/// What all calls cost under a stack, in instructions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedStack {
    pub instructions: f64,
    /// More than under the baseline; missing of the baseline itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Range>,
    /// The same in ns, if calls are weighed: those of which the lab knows what they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_ns: Option<f64>,
    /// What hooks took more than under the baseline when the program was counted under both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<i64>,
    /// Who takes `instructions`; they sum up to it.
    pub modules: Vec<PredictedModule>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedModule {
    /// The module; missing for the framework itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    pub instructions: f64,
}

/// Calls of a hook in a system call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedCalls {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// The system call: `openat`; `none` outside of any, `other` if it was not told apart.
    pub system_call: String,
    pub calls: u64,
    /// Time that they took there in ns, if it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_ns: Option<i64>,
    /// By what their cost is known.
    pub basis: Basis,
    /// Operations of the lab whose median stands for it.
    pub operations: u32,
    /// What one call costs under each stack; empty if it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CallCost>,
}

/// What one call of a hook costs under a stack, in instructions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallCost {
    /// All of it: the median over operations.
    pub instructions: f64,
    /// More than under the baseline; missing of the baseline itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Range>,
    /// All of it in ns, if it is weighed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    pub fn of(calls: &[PredictedCalls]) -> Coverage {
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
    /// Additional cost of these calls under a stack; None for the baseline, and if unknown.
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
        wrong.then(|| {
            format!(
                "the costs of {} are not one for each stack",
                printable(&self.hook)
            )
        })
    }
}

impl PredictedLoad {
    /// Divisor of `calls`: the seconds of a recording, 1 for a program.
    pub fn divisor(&self) -> f64 {
        self.seconds.filter(|s| *s > 0.0).unwrap_or(1.0)
    }

    fn contradiction(&self, stacks: usize) -> Option<String> {
        if self.seconds.is_some_and(|s| !(s.is_finite() && s > 0.0)) {
            return Some("it does not last".to_owned());
        }
        let mut calls = self.calls.iter();
        if let Some(message) = calls.find_map(|pair| pair.contradiction(stacks)) {
            return Some(message);
        }
        if self.coverage != Coverage::of(&self.calls) {
            return Some("its coverage is not what its calls sum up to".to_owned());
        }
        if self.stacks.len() != stacks {
            return Some(format!(
                "{} of {stacks} stacks are there",
                self.stacks.len()
            ));
        }
        let wrong = (0..stacks).find(|&at| !self.sums_up(at))?;
        Some(format!(
            "the figures of stack {wrong} are not what its calls sum up to"
        ))
    }

    fn sums_up(&self, at: usize) -> bool {
        let stack = &self.stacks[at];
        let near = |sum: f64, figure: f64| (sum - figure).abs() <= ROUNDING * figure.abs().max(1.0);
        let costs = self.calls.iter().filter_map(|pair| {
            let cost = pair.costs.get(at)?;
            Some(cost.instructions * pair.calls as f64)
        });
        let modules = stack.modules.iter().map(|of| of.instructions);
        let added = self.calls.iter().filter_map(|pair| pair.added(at));
        let added = added.fold(Range::default(), Range::plus);
        if stack.added_ns.is_some_and(|ns| !ns.is_finite()) {
            return false;
        }
        let added_fits = match stack.added {
            None => at == 0,
            Some(told) => {
                at > 0
                    && told.is_sound()
                    && near(added.low, told.low)
                    && near(added.middle, told.middle)
                    && near(added.high, told.high)
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
        let lacks = self.stacks.is_empty().then(|| "there is none".to_owned());
        sound("stacks", lacks)?;
        let ns = self.ns_per_instruction;
        let odd = ns.filter(|ns| !(ns.is_finite() && *ns > 0.0));
        let message = odd.map(|_| "it is not above 0".to_owned());
        sound("ns_per_instruction", message)?;
        all_sound("loads", &self.loads, |load| {
            load.contradiction(self.stacks.len())
        })
    }
}
