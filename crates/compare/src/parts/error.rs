// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a run in parts cannot be finished.

use std::path::PathBuf;

use model::{DocumentError, Exit, Failure, Fault};

use crate::parts::MergeError;

/// Why a run in parts cannot be finished.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// What was asked for makes no sense, or Slurm refuses it.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The parts do not fit together.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A part is no run document.
    #[error("cannot read {path}", path = .path.display())]
    Document {
        path: PathBuf,
        source: DocumentError,
    },
}

impl Fault for ClusterError {
    fn exit(&self) -> Exit {
        match self {
            ClusterError::Failure(error) => error.exit(),
            ClusterError::Merge(error) => error.exit(),
            ClusterError::Document { source, .. } => source.exit(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ClusterError::Failure(error) => error.hint(),
            ClusterError::Merge(error) => error.hint(),
            ClusterError::Document { source, .. } => source.hint(),
        }
    }
}
