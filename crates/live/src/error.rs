// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a machine is not watched, or what is seen not shown.

use std::io;

use diagnostics::{Exit, Failure, Fault};
use monitor::MonitorError;

/// Why a machine is not watched, or what is seen not shown.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The kernel cannot be monitored.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// What was asked for makes no sense, or cannot be had here.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The process that was to execute the command has ended before.
    #[error("starting {name}: it has ended")]
    Lost {
        /// The command.
        name: String,
    },
    /// The system refuses something.
    #[error("{doing}")]
    Io {
        /// What was tried.
        doing: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl Fault for LiveError {
    fn exit(&self) -> Exit {
        match self {
            LiveError::Monitor(error) => error.exit(),
            LiveError::Failure(error) => error.exit(),
            LiveError::Lost { .. } => Exit::Internal,
            LiveError::Io { source, .. } => source.exit(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            LiveError::Monitor(error) => error.hint(),
            LiveError::Failure(error) => error.hint(),
            LiveError::Lost { .. } | LiveError::Io { .. } => None,
        }
    }
}

impl LiveError {
    /// What the system refused, while this was done.
    pub(crate) fn doing(doing: impl Into<String>) -> impl FnOnce(io::Error) -> LiveError {
        let doing = doing.into();
        move |source| LiveError::Io { doing, source }
    }
}
