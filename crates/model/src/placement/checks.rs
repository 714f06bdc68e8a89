// SPDX-License-Identifier: GPL-2.0-or-later
//! Redundant checks, and checks that only some modules make.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Confidence of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    Sure,
    /// Follows from the code, if nothing changes its inputs in between, or from a fact.
    Likely,
    /// The code does not determine it.
    Unknown,
}

/// A hook called twice on one success path, possibly for the same object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct RedundantCheck {
    /// Confidence that both calls are for the same object.
    pub confidence: Confidence,
    /// Whether all other arguments are also the same. If not, the second call checks another
    /// permission on the object, such as write instead of search.
    pub same_question: bool,
    pub hook: String,
    /// The function below which both calls are made.
    pub within: String,
    /// Call chain to the first call, from `within`.
    pub first: Vec<String>,
    /// Call chain to the second call.
    pub second: Vec<String>,
    /// Object and other arguments of each call, as expressions in `within`, as far as they can be
    /// traced.
    pub asked: [String; 2],
    /// Reason for the confidence.
    pub why: String,
    /// System calls that make both calls on their success path: `open (missing) on ext4`.
    pub syscalls: Vec<String>,
}

/// A permission that some modules check on success paths, and another module does not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct MissingCheck {
    /// Sure: no call on the whole path reaches the module. Likely: the module is called there, but
    /// for another permission. Unknown: modules of this kind decide on the permission elsewhere.
    pub confidence: Confidence,
    /// The unchecked permission: `data of an open file`.
    pub what: String,
    pub module: String,
    /// Its kind: `path`.
    pub kind: String,
    pub checked_by: Vec<String>,
    pub hooks: Vec<String>,
    /// Call chain to the first hook in `hooks`, in the first system call.
    pub calls: Vec<String>,
    /// Reason for the confidence.
    pub why: String,
    /// System calls: `read on ext4`.
    pub syscalls: Vec<String>,
}
