// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a spec is refused.

use diagnostics::{Exit, Fault};

use super::SPEC_LIMIT_BYTES;
use crate::select::PatternError;
use crate::stack::StackError;

/// Why a spec is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// Not TOML, an unknown key, or a value of the wrong kind.
    #[error("{origin}, line {line}, column {column}: {message}")]
    Toml {
        /// The file or preset, as the caller names it.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
        /// The known word nearest to the one that was found.
        near: Option<String>,
    },
    /// Larger than [`SPEC_LIMIT_BYTES`].
    #[error("{origin} has {bytes} bytes; a spec has at most {SPEC_LIMIT_BYTES}")]
    TooLarge {
        /// The file, as the caller names it.
        origin: String,
        /// Its size.
        bytes: usize,
    },
    /// A list that needs an element has none.
    #[error("`{key}` is empty; it needs at least one entry")]
    Empty {
        /// The key.
        key: &'static str,
    },
    /// A list is longer than anything sensible.
    #[error("`{key}` has {n} entries; at most {limit} are allowed")]
    TooMany {
        /// The key.
        key: &'static str,
        /// Its length.
        n: usize,
        /// The largest length.
        limit: usize,
    },
    /// A list holds the same entry twice.
    #[error("`{key}` holds `{value}` twice")]
    Duplicate {
        /// The key.
        key: &'static str,
        /// The entry.
        value: String,
    },
    /// A number is outside its range.
    #[error("`{key}` is {value}; it must be {range}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The number.
        value: String,
        /// The range and its unit.
        range: String,
    },
    /// A text holds something that it cannot.
    #[error("`{key}` is `{value}`: {why}")]
    Text {
        /// The key.
        key: &'static str,
        /// The text, made printable.
        value: String,
        /// What is wrong with it.
        why: String,
        /// What to write instead.
        instead: Option<String>,
    },
    /// A stack is not written as one.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// A pattern is not written as one.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The baseline is not among what is measured.
    #[error("baseline `{baseline}` is not one of the {n} {what}: {known}")]
    Baseline {
        /// The baseline as given.
        baseline: String,
        /// `stacks` or `configurations`.
        what: &'static str,
        /// Number of them.
        n: usize,
        /// All of them.
        known: String,
    },
    /// Keys that cannot go together.
    #[error("{what}")]
    Conflict {
        /// Which, and why.
        what: String,
        /// What to do.
        remedy: String,
    },
}

impl Fault for SpecError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn hint(&self) -> Option<String> {
        match self {
            SpecError::Toml { near, .. } => {
                near.as_ref().map(|word| format!("did you mean `{word}`?"))
            }
            SpecError::Text { instead, .. } => instead.clone(),
            SpecError::Stack(error) => Some(error.hint().to_owned()),
            SpecError::Pattern(error) => error.hint(),
            SpecError::Baseline { what, .. } => Some(format!(
                "add it to `{what}`, or give its position there, from 0"
            )),
            SpecError::Conflict { remedy, .. } => Some(remedy.clone()),
            SpecError::TooLarge { .. }
            | SpecError::Empty { .. }
            | SpecError::TooMany { .. }
            | SpecError::Duplicate { .. }
            | SpecError::OutOfRange { .. } => None,
        }
    }
}
