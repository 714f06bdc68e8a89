// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a history cannot be walked.

use std::io;
use std::path::{Path, PathBuf};

use diagnostics::{Exit, Failure, Fault};
use experiment::DocumentError;

/// Why a history cannot be walked.
#[derive(Debug, thiserror::Error)]
pub enum BisectError {
    /// What was asked for makes no sense, or something is missing here.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// git refused something that it usually does.
    #[error("git {command} failed in {dir}: {said}", dir = .dir.display())]
    Git {
        /// Its command, such as `rev-list --bisect`.
        command: String,
        dir: PathBuf,
        /// The last line that it printed.
        said: String,
    },
    /// Another lsmeter, or the file system, is in the way.
    #[error(transparent)]
    Files(#[from] kernels::Error),
    /// What was kept of a commit cannot be read.
    #[error("cannot read {path}", path = .path.display())]
    Document {
        path: PathBuf,
        source: DocumentError,
    },
    #[error("cannot {action} {path}: {source}", path = .path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl BisectError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BisectError {
        let path = path.to_path_buf();
        move |source| BisectError::Io {
            action,
            path,
            source,
        }
    }
}

impl Fault for BisectError {
    fn exit(&self) -> Exit {
        match self {
            BisectError::Failure(error) => error.exit(),
            BisectError::Files(error) => error.exit(),
            BisectError::Document { source, .. } => source.exit(),
            BisectError::Git { .. } | BisectError::Io { .. } => Exit::Environment,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            BisectError::Failure(error) => error.hint(),
            BisectError::Files(error) => error.hint().map(str::to_owned),
            BisectError::Document { source, .. } => source.hint(),
            BisectError::Git { command, dir, .. } => kernels::git::hint(dir)
                .or_else(|| Some(format!("try `git -C {} {command}` by hand", dir.display()))),
            BisectError::Io { .. } => None,
        }
    }
}
