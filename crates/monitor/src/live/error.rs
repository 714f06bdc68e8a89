// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a machine cannot be watched, or what is seen cannot be shown.

use std::io;

use crate::MonitorError;
use model::{Exit, Failure, Fault};

/// Why a machine cannot be watched, or what is seen cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The kernel cannot be monitored.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// What was asked for makes no sense, or is not possible here.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The process that was to execute the command ended before it was told to.
    #[error("the process for {name} ended before it was started")]
    Lost { name: String },
    #[error("{doing}")]
    Io { doing: String, source: io::Error },
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
    /// For `map_err`: what the system refused, and what was being done.
    pub(crate) fn doing(doing: impl Into<String>) -> impl FnOnce(io::Error) -> LiveError {
        let doing = doing.into();
        move |source| LiveError::Io { doing, source }
    }
}
