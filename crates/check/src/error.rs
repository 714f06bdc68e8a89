// SPDX-License-Identifier: GPL-2.0-or-later
//! Why documents cannot be checked, or what a guest says cannot be read.

use diagnostics::{Exit, Fault};

/// Why documents cannot be checked against each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// No document holds what was asked for.
    #[error("no document holds anything of {wanted}")]
    Nothing {
        /// What was asked for.
        wanted: String,
    },
    /// The facts cannot be read, which is a fault of lsmeter.
    #[error("explanations.toml: {message}")]
    BadFacts {
        /// What is wrong.
        message: String,
    },
}

impl Fault for CheckError {
    fn exit(&self) -> Exit {
        match self {
            CheckError::Nothing { .. } => Exit::Usage,
            CheckError::BadFacts { .. } => Exit::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            CheckError::Nothing { .. } => {
                "give documents of one kernel, one stack and one file system, or name others with \
                 --kernel, --stack and --fs"
            }
            CheckError::BadFacts { .. } => "please report it",
        };
        Some(hint.to_owned())
    }
}

/// Why what a guest says cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// A line of no known form.
    #[error("a line of no known form: {line}")]
    Unknown {
        /// The line, bounded and printable.
        line: String,
    },
    /// A line comes where it makes no sense.
    #[error("`{line}` {why}")]
    Order {
        /// The line.
        line: String,
        /// Why it does not belong there.
        why: &'static str,
    },
    /// There are more than there can be.
    #[error("more than {limit} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most.
        limit: usize,
    },
    /// It ended before its last line.
    #[error("it ended before its last line")]
    Unfinished,
}
