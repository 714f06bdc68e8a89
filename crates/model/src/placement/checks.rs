// SPDX-License-Identifier: GPL-2.0-or-later
//! Redundant checks, and checks that only some modules make.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a finding can be believed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    Sure,
    /// The code says so, if nobody changes in between what it reads; or a fact says so.
    Likely,
    /// It cannot be told from the code.
    Unknown,
}

/// A hook that is asked twice on one success path, maybe of the same object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct RedundantCheck {
    /// Is it the same object?
    pub confidence: Confidence,
    /// Is it also the same question: are all other arguments the same? Otherwise the
    /// second asks for something else of the object, such as to write and not to search.
    pub same_question: bool,
    pub hook: String,
    /// The function below which both are asked.
    pub within: String,
    /// Calls from there to the first, the function within first.
    pub first: Vec<String>,
    /// Calls from there to the second.
    pub second: Vec<String>,
    /// The object and the other arguments of each, as the function within would write
    /// them, as far as they can be followed.
    pub asked: [String; 2],
    /// Why it is believed, or not.
    pub why: String,
    /// System calls on whose success path it is: `open (missing) on ext4`.
    pub syscalls: Vec<String>,
}

/// What modules check on the success path of system calls, and another does not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct MissingCheck {
    /// Sure: nothing on the whole path asks the module. Likely: it is asked there, but not
    /// about this. Unknown: modules of its kind decide that elsewhere.
    pub confidence: Confidence,
    /// What is not checked: `data of an open file`.
    pub what: String,
    pub module: String,
    /// Its kind: `path`.
    pub kind: String,
    pub checked_by: Vec<String>,
    pub hooks: Vec<String>,
    /// Calls that lead to the first of these, in the first of the system calls.
    pub calls: Vec<String>,
    /// Why it is believed, or not.
    pub why: String,
    /// System calls: `read on ext4`.
    pub syscalls: Vec<String>,
}
