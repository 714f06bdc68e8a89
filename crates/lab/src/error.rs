// SPDX-License-Identifier: GPL-2.0-or-later
//! Errors that prevent a run. The failure of a single measurement is stored with that measurement.

use std::io;
use std::path::Path;

use model::{Exit, Failure, Fault, SelectError};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    #[error(transparent)]
    Environment(#[from] Failure),
    /// The kernel can be measured, but without hooks.
    #[error(transparent)]
    NoHooks(Failure),
    #[error(transparent)]
    Kernel(#[from] kernels::Error),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error("{0}")]
    Unequal(String),
    #[error("interrupted: nothing was measured")]
    Interrupted,
}

impl Fault for LabError {
    fn exit(&self) -> Exit {
        match self {
            LabError::Select(_) => Exit::Usage,
            LabError::Environment(error) | LabError::NoHooks(error) => error.exit(),
            LabError::Kernel(error) => error.exit(),
            LabError::Interrupted => Exit::CellsFailed,
            LabError::Unequal(_) => Exit::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            LabError::Environment(error) | LabError::NoHooks(error) => error.hint(),
            LabError::Kernel(error) => error.hint().map(str::to_owned),
            LabError::Select(error) => error.hint(),
            LabError::Unequal(_) => Some(
                "report this bug with the cache's directory `measurements`; `lsmeter doctor \
                 --clear-cache` empties the cache"
                    .to_owned(),
            ),
            LabError::Interrupted => None,
        }
    }
}

impl LabError {
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LabError {
        let failed = kernels::Error::io(action, path);
        move |source| failed(source).into()
    }
}
