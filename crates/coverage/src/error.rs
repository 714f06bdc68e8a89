// SPDX-License-Identifier: GPL-2.0-or-later
//! Why it cannot be said which hooks are called.

use model::{Exit, Fault};

/// Why it cannot be said which hooks are called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoverageError {
    /// No operation was measured whose hooks were told apart.
    #[error("no operation was measured on {kernel} whose hooks were told apart")]
    Nothing { kernel: String },
    /// The facts cannot be read, which is a fault of lsmeter.
    #[error("unreached.toml: {message}")]
    BadFacts { message: String },
}

impl Fault for CoverageError {
    fn exit(&self) -> Exit {
        match self {
            CoverageError::Nothing { .. } => Exit::Inconclusive,
            CoverageError::BadFacts { .. } => Exit::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            CoverageError::Nothing { .. } => {
                "see each cell's reason with --json, or give documents of `lsmeter profile`, or of \
                 whole programs by `lsmeter run`"
            }
            CoverageError::BadFacts { .. } => "please report it",
        };
        Some(hint.to_owned())
    }
}
