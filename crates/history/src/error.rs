// SPDX-License-Identifier: GPL-2.0-or-later
//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};

use diagnostics::{Exit, Fault};
use experiment::{DocumentError, Kind};

/// Why a history cannot be read or added to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A directory or a file cannot be read, or the directory not be made.
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A document cannot be written.
    #[error("{path}: cannot be written: {source}")]
    Unwritable {
        /// Its file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What was to be added is damaged, or none of lsmeter's documents.
    #[error("{path}")]
    Document {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<DocumentError>,
    },
    /// What was to be added is of another kind.
    #[error("{path} is a {}: a history is of run documents", Kind::title(Some(*kind)))]
    NoRun {
        /// Its file.
        path: PathBuf,
        /// What it is.
        kind: Kind,
    },
    /// It cannot be called so.
    #[error("`{0}` is no label")]
    Label(String),
    /// Nothing that lsmeter put together.
    #[error("{path} has more than {limit} files")]
    TooMany {
        /// The directory.
        path: PathBuf,
        /// How many are read.
        limit: usize,
    },
}

impl HistoryError {
    pub(crate) fn unreadable(path: &Path, source: io::Error) -> HistoryError {
        HistoryError::Unreadable {
            path: path.to_owned(),
            source,
        }
    }
}

impl Fault for HistoryError {
    fn exit(&self) -> Exit {
        match self {
            HistoryError::Unreadable { source, .. } if source.kind() != io::ErrorKind::NotFound => {
                Exit::Environment
            }
            HistoryError::Unwritable { .. } => Exit::Environment,
            _ => Exit::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        let a_run = "give a document that `lsmeter run --output FILE` wrote";
        let hint = match self {
            HistoryError::Unreadable { .. } => {
                "name a directory that `lsmeter history add` made, or documents that are there"
            }
            HistoryError::Unwritable { .. } => "name a directory that you may write to: --dir DIR",
            HistoryError::Document { source, .. } => {
                return source.hint().or_else(|| Some(a_run.to_owned()));
            }
            HistoryError::NoRun { .. } => a_run,
            HistoryError::Label(_) => {
                "letters, digits, `.`, `_`, `+` and `-`, at most 64: v6.12-rc1"
            }
            HistoryError::TooMany { .. } => {
                "name a directory that holds run documents and nothing else"
            }
        };
        Some(hint.to_owned())
    }
}
