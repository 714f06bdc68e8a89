// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a machine cannot be watched, or what is seen cannot be shown.

use std::io;

use model::{Exit, Failure, Fault};

/// Why a machine cannot be watched, or what is seen cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// What was asked for makes no sense, or is not possible here.
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The kernel refused something else.
    #[error("cannot {action}: {source}{log}")]
    Kernel {
        action: String,
        source: io::Error,
        /// What it or libbpf said about it; empty if nothing.
        log: String,
    },
    /// The process that was to execute the command ended before it was told to.
    #[error("the process for {name} ended before it was started")]
    Lost { name: String },
    #[error("{doing}")]
    Io { doing: String, source: io::Error },
}

#[derive(Debug)]
pub(crate) struct Refused {
    pub source: io::Error,
    /// What it or libbpf said about it; empty if nothing.
    pub log: String,
}

impl From<io::Error> for Refused {
    fn from(source: io::Error) -> Refused {
        let log = String::new();
        Refused { source, log }
    }
}

impl MonitorError {
    /// For `map_err`: what the system refused, and what was being done.
    pub(crate) fn doing(doing: impl Into<String>) -> impl FnOnce(io::Error) -> MonitorError {
        let doing = doing.into();
        move |source| MonitorError::Io { doing, source }
    }

    pub(crate) fn kernel<E: Into<Refused>>(
        action: impl Into<String>,
    ) -> impl FnOnce(E) -> MonitorError {
        move |refused| {
            let Refused { source, log } = refused.into();
            MonitorError::Kernel {
                action: action.into(),
                source,
                log,
            }
        }
    }
}

impl Fault for MonitorError {
    fn exit(&self) -> Exit {
        match self {
            MonitorError::Failure(error) => error.exit(),
            MonitorError::NoProcess(_) => Exit::Usage,
            MonitorError::Lost { .. } => Exit::Internal,
            MonitorError::Kernel { source, .. } | MonitorError::Io { source, .. } => source.exit(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            MonitorError::Failure(error) => error.hint(),
            // EMFILE and ENFILE.
            MonitorError::Kernel { source, .. }
                if matches!(source.raw_os_error(), Some(23 | 24)) =>
            {
                let hint = "four descriptors are needed for each hook: raise the limit (ulimit \
                            -n), or select fewer hooks";
                Some(hint.to_owned())
            }
            _ => None,
        }
    }
}
