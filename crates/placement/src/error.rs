// SPDX-License-Identifier: GPL-2.0-or-later
//! What can go wrong.

use std::io;
use std::path::PathBuf;

use model::{Exit, Fault};

/// Why a kernel tree cannot be analysed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// A file or directory that cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    #[error("{path} is not a kernel tree: {reason}")]
    NotAKernelTree { path: PathBuf, reason: String },
    /// An archive that is damaged, or of another kind.
    #[error("{path}: cannot be unpacked: {reason}")]
    BadArchive { path: PathBuf, reason: String },
    #[error("git {what} in {path}: {reason}")]
    Git {
        path: PathBuf,
        what: &'static str,
        reason: String,
    },
    /// A revision that the repository does not have.
    #[error("{path} has no revision `{revision}`")]
    UnknownRevision { path: PathBuf, revision: String },
    /// A tree with more of something than any kernel has.
    #[error("{path}: {what} exceeds the limit of {limit}")]
    TooLarge {
        path: PathBuf,
        /// What there is too much of.
        what: &'static str,
        limit: u64,
    },
    /// A system call that the tree does not define.
    #[error("the tree defines no system call `{name}`")]
    UnknownSyscall {
        name: String,
        /// One that it defines and that was probably meant.
        near: Option<String>,
    },
    /// A file system that the tree does not have.
    #[error("the tree has no file system `{name}`")]
    UnknownFileSystem {
        name: String,
        /// One that it has and that was probably meant.
        near: Option<String>,
    },
    /// A file of facts that contradicts itself.
    #[error("facts/{file}: {reason}")]
    BadFacts {
        file: &'static str,
        /// What is wrong, and where.
        reason: String,
    },
    /// An analysis that could not be started, or did not end with a result.
    #[error("{path}: the analysis failed: {reason}")]
    AnalysisFailed { path: PathBuf, reason: String },
}

impl Fault for PlacementError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unreadable { source, .. } if source.kind() != io::ErrorKind::NotFound => {
                Exit::Environment
            }
            Self::Git { .. } => Exit::Environment,
            Self::BadFacts { .. } | Self::AnalysisFailed { .. } => Exit::Internal,
            _ => Exit::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Git { path, .. } => {
                let hint = "check that it is a git repository, and that git is installed";
                let missing = kernels::git::hint(path);
                return Some(missing.unwrap_or_else(|| hint.to_owned()));
            }
            Self::UnknownRevision { path, .. } => {
                return Some(format!(
                    "give a tag, branch or commit: git -C {} tag --list lists tags",
                    path.display()
                ));
            }
            Self::UnknownSyscall {
                near: Some(near), ..
            }
            | Self::UnknownFileSystem {
                near: Some(near), ..
            } => return Some(format!("did you mean {near}?")),
            Self::UnknownSyscall { .. } => {
                "give its name without sys_, as in SYSCALL_DEFINEn; --all takes every one"
            }
            Self::UnknownFileSystem { .. } => "give the name of a directory in fs, or tmpfs",
            Self::Unreadable { .. } => "check the path and its permissions",
            Self::NotAKernelTree { .. } => {
                "give the top of a Linux source tree (with Makefile, fs and security), a linux-source tarball, or a git repository with a revision"
            }
            Self::BadArchive { .. } => {
                "give a .tar.xz of a kernel's sources; fetch it again if it is cut off"
            }
            Self::TooLarge { .. } => "is this really a kernel tree?",
            Self::BadFacts { .. } | Self::AnalysisFailed { .. } => {
                "this is a fault of lsmeter: please report it"
            }
        };
        Some(hint.to_owned())
    }
}
