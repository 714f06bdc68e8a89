// SPDX-License-Identifier: GPL-2.0-or-later
//! Errors of the monitor.

use std::io;

use model::{Exit, Failure, Fault};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error("there is no process {0}")]
    NoProcess(u32),
    #[error("cannot {action}: {source}{log}")]
    Kernel {
        action: String,
        source: io::Error,
        /// Messages of the kernel or libbpf; may be empty.
        log: String,
    },
    #[error("the child process ended before it could start {name}")]
    Lost { name: String },
    #[error("{doing}")]
    Io { doing: String, source: io::Error },
}

#[derive(Debug)]
pub(crate) struct Refused {
    pub source: io::Error,
    pub log: String,
}

impl From<io::Error> for Refused {
    fn from(source: io::Error) -> Refused {
        let log = String::new();
        Refused { source, log }
    }
}

impl MonitorError {
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
            MonitorError::Kernel { source, .. }
                if matches!(source.raw_os_error(), Some(23 | 24)) =>
            {
                let hint = "each hook needs four file descriptors: raise the limit (ulimit -n), or \
                            select fewer hooks";
                Some(hint.to_owned())
            }
            _ => None,
        }
    }
}
