// SPDX-License-Identifier: GPL-2.0-or-later
//! Findings of a sweep, in addition to its slopes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{Caches, DelayModule};

/// Delays every hook that the module knows.
pub const ALL_HOOKS: &str = "all";

/// Findings over all slopes of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepFindings {
    /// Counts as functions of the path's depth, by benchmark.
    #[serde(default)]
    pub rules: Vec<DepthRule>,
    /// Predicted and measured cost of a module's decisions.
    #[serde(default)]
    pub predictions: Vec<Prediction>,
    /// Permission checks that an operation repeats for the same object.
    #[serde(default)]
    pub repeated: Vec<RepeatedQuestion>,
}

/// A count as a function of the path's depth: `a·depth + b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepthRule {
    pub kernel: String,
    pub module: DelayModule,
    pub caches: Caches,
    pub benchmark: String,
    /// What is counted: `all`, or one hook.
    pub hook: String,
    /// Count per component of the path.
    pub a: f64,
    pub b: f64,
    /// Coefficient of determination; None if the count is the same at all depths.
    pub r2: Option<f64>,
    /// Largest distance of a count from this function.
    pub residual: f64,
    /// Depths in the fit, in components of the path.
    pub depths: Vec<u32>,
    /// β1 of the paper's Equation 1, as far as depth can determine it: what each further hook call
    /// costs an operation without delays, in the slopes' unit. It includes the walk through a
    /// component of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta1: Option<f64>,
}

/// Predicted cost of a module's decisions in an operation, and the measured cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    pub kernel: String,
    pub benchmark: String,
    pub variant: String,
    /// The module; None if only a number of instructions was given.
    pub lsm: Option<String>,
    /// Instructions per decision: a given number, or the mean over this operation's hooks of the
    /// module's implementations, as measured in other operations.
    pub decision: f64,
    /// Predicted cost of all decisions of the operation, in instructions.
    pub predicted: f64,
    pub measured: Option<f64>,
    /// `(predicted - measured) / measured`.
    pub error: Option<f64>,
    /// Hooks that no other operation calls, so that their cost is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A permission check that an operation repeats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedQuestion {
    pub kernel: String,
    pub benchmark: String,
    pub variant: String,
    pub hook: String,
    /// Object of the check: `inode:0:25:7`, with its other arguments.
    pub object: String,
    /// Checks per operation.
    pub times: u64,
    /// Call chain of each check, outermost function first.
    pub chains: Vec<Vec<String>>,
}
