// SPDX-License-Identifier: GPL-2.0-or-later
//! What a sweep finds besides its slopes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{Caches, DelayModule};

/// Delays at every hook that the module knows.
pub const ALL_HOOKS: &str = "all";

/// What all slopes of a sweep say together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepFindings {
    /// How the counts of a benchmark grow with the depth of its path.
    #[serde(default)]
    pub rules: Vec<DepthRule>,
    /// What decisions of a module should cost, beside what they do cost.
    #[serde(default)]
    pub predictions: Vec<Prediction>,
    /// Questions that operations ask more than once of the same object.
    #[serde(default)]
    pub repeated: Vec<RepeatedQuestion>,
}

/// How a count follows from the depth of the path: `a·depth + b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepthRule {
    pub kernel: String,
    pub module: DelayModule,
    /// As [`crate::Delay::caches`].
    pub caches: Caches,
    pub benchmark: String,
    /// What is counted: `all`, or one hook.
    pub hook: String,
    /// For each component of the path.
    pub a: f64,
    pub b: f64,
    /// Share of the variance that the rule explains; None where the count is the same at
    /// all depths.
    pub r2: Option<f64>,
    /// Largest distance of a count from the rule.
    pub residual: f64,
    /// Depths that it was made of, in components of the path.
    pub depths: Vec<u32>,
    /// β1 of the paper's Equation 1, as far as depth can tell: what an operation without
    /// delays costs more for each further hook call, in the slopes' unit. The walk
    /// through a component of the path is part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta1: Option<f64>,
}

/// What a module's decisions should add to an operation, beside what the module adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    pub kernel: String,
    pub benchmark: String,
    pub variant: String,
    /// The module, or None where only a time was given.
    pub lsm: Option<String>,
    /// Instructions that one decision takes: a given number, or the mean of the module's
    /// implementations over this operation's hooks, as they cost in the other operations.
    pub decision: f64,
    /// What all decisions of the operation take together, in instructions.
    pub predicted: f64,
    pub measured: Option<f64>,
    /// `(predicted - measured) / measured`.
    pub error: Option<f64>,
    /// Hooks whose cost was seen in no other operation, so that it could not be foretold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A question that an operation asks more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedQuestion {
    pub kernel: String,
    pub benchmark: String,
    pub variant: String,
    pub hook: String,
    /// What it was asked about: `inode:0:25:7`, with what else the question held.
    pub object: String,
    /// How often in one operation.
    pub times: u64,
    /// For each time the functions that led to it, outermost first.
    pub chains: Vec<Vec<String>>,
}
