// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a spec is refused.

use crate::{Exit, Fault};

use super::SPEC_LIMIT_BYTES;
use crate::select::PatternError;
use crate::stack::StackError;

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
        message: String,
        /// The known word nearest to the one that was found.
        near: Option<String>,
    },
    /// Larger than [`SPEC_LIMIT_BYTES`].
    #[error("{origin} has {bytes} bytes; a spec has at most {SPEC_LIMIT_BYTES}")]
    TooLarge {
        /// The file, as the caller names it.
        origin: String,
        bytes: usize,
    },
    /// A value that its key cannot have, or keys that cannot go together.
    #[error("{message}")]
    Refused {
        /// Which, and why.
        message: String,
        /// What to write instead.
        instead: Option<String>,
    },
    /// A stack is not written as one.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// A pattern is not written as one.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl SpecError {
    /// Refuses a value, with what to write instead.
    pub(crate) fn instead(message: impl Into<String>, instead: impl Into<String>) -> SpecError {
        SpecError::Refused {
            message: message.into(),
            instead: Some(instead.into()),
        }
    }

    /// Refuses a value for which there is no better one to name.
    pub(crate) fn refused(message: String) -> SpecError {
        SpecError::Refused {
            message,
            instead: None,
        }
    }
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
            SpecError::TooLarge { .. } => None,
            SpecError::Refused { instead, .. } => instead.clone(),
            SpecError::Stack(error) => Some(error.hint().to_owned()),
            SpecError::Pattern(error) => error.hint(),
        }
    }
}
