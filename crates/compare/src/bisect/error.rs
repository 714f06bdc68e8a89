// SPDX-License-Identifier: GPL-2.0-or-later
//! Why a history cannot be walked.

use model::{Exit, Failure, Fault};

/// Why a history cannot be walked.
#[derive(Debug, thiserror::Error)]
pub enum BisectError {
    /// The request makes no sense, or git failed.
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error(transparent)]
    Files(#[from] kernels::Error),
}

impl Fault for BisectError {
    fn exit(&self) -> Exit {
        match self {
            BisectError::Failure(error) => error.exit(),
            BisectError::Files(error) => error.exit(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            BisectError::Failure(error) => error.hint(),
            BisectError::Files(error) => error.hint().map(str::to_owned),
        }
    }
}
