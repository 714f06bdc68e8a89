// SPDX-License-Identifier: GPL-2.0-or-later
//! Errors in a spec.

use crate::Fault;

use super::SPEC_LIMIT_BYTES;
use crate::select::PatternError;
use crate::stack::StackError;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    #[error("{origin}, line {line}, column {column}: {message}")]
    Toml {
        origin: String,
        line: usize,
        /// In characters, from 1.
        column: usize,
        message: String,
        near: Option<String>,
    },
    #[error("{origin} has {bytes} bytes; at most {SPEC_LIMIT_BYTES} are allowed")]
    TooLarge {
        /// File, as the caller names it.
        origin: String,
        bytes: usize,
    },
    /// A value that its key cannot have, or keys that exclude each other.
    #[error("{message}")]
    Refused {
        message: String,
        instead: Option<String>,
    },
    #[error(transparent)]
    Stack(#[from] StackError),
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl SpecError {
    pub(crate) fn instead(message: impl Into<String>, instead: impl Into<String>) -> SpecError {
        SpecError::Refused {
            message: message.into(),
            instead: Some(instead.into()),
        }
    }

    pub(crate) fn refused(message: String) -> SpecError {
        SpecError::Refused {
            message,
            instead: None,
        }
    }
}

impl Fault for SpecError {
    fn hint(&self) -> Option<String> {
        match self {
            SpecError::Toml { near, .. } => {
                near.as_ref().map(|word| format!("did you mean `{word}`?"))
            }
            SpecError::TooLarge { .. } => None,
            SpecError::Refused { instead, .. } => instead.clone(),
            SpecError::Stack(error) => Some(error.hint().to_owned()),
            SpecError::Pattern(error) => error.hint(),
        }
    }
}
