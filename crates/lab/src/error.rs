// SPDX-License-Identifier: GPL-2.0-or-later
//! What keeps the lab from running at all. What befalls one cell is in the cell.

use std::io;
use std::path::{Path, PathBuf};

use kernels::symbols::SymbolError;
use model::{Exit, Failure, Fault, SelectError, journal::JournalError};

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    #[error(transparent)]
    Environment(#[from] Failure),
    /// A kernel does not tell what has to be known of it: its functions, its hooks.
    #[error(transparent)]
    Untold(Failure),
    /// A kernel, or an initramfs for it, cannot be had.
    #[error(transparent)]
    Kernel(#[from] kernels::Error),
    /// The symbols of a kernel's modules cannot be had.
    #[error("the symbols of the modules of kernel {kernel}: {source}")]
    ModuleSymbols {
        kernel: String,
        /// What is wrong with a module, or with where the guest says it is.
        source: SymbolError,
    },
    /// Nothing in the suite is what was asked for.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A directory to work in that cannot be worked in.
    #[error("{path}: {reason}", path = .path.display())]
    WorkDirectory { path: PathBuf, reason: String },
    /// The journal cannot be resumed from.
    #[error("{path}: {source}", path = .path.display())]
    Journal { path: PathBuf, source: JournalError },
    #[error("interrupted: nothing was measured")]
    Interrupted,
    #[error("cannot {action} {path}: {source}", path = .path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl Fault for LabError {
    fn exit(&self) -> Exit {
        match self {
            LabError::Select(_) | LabError::Journal { .. } | LabError::WorkDirectory { .. } => {
                Exit::Usage
            }
            LabError::Environment(error) | LabError::Untold(error) => error.exit(),
            LabError::Kernel(error) => error.exit(),
            LabError::Interrupted => Exit::CellsFailed,
            _ => Exit::Environment,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            LabError::Environment(error) | LabError::Untold(error) => error.hint(),
            LabError::Kernel(error) => error.hint().map(str::to_owned),
            LabError::ModuleSymbols { source, .. } => Some(source.hint().to_owned()),
            LabError::Select(error) => error.hint(),
            LabError::Journal { source, .. } => source.hint().map(str::to_owned),
            LabError::WorkDirectory { .. } => {
                Some("name a directory that you may write to with --dir".to_owned())
            }
            LabError::Interrupted | LabError::Io { .. } => None,
        }
    }
}

impl LabError {
    /// What went wrong with a file, while doing what to it.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LabError {
        let path = path.to_path_buf();
        move |source| LabError::Io {
            action,
            path,
            source,
        }
    }
}
