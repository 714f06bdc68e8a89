// SPDX-License-Identifier: GPL-2.0-or-later
//! What can go wrong.

use std::path::PathBuf;

/// Why a kernel tree cannot be analysed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// There is nothing to read.
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        /// What was to be read.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{path} is no kernel tree: {reason}")]
    NoKernelTree {
        /// What was given.
        path: PathBuf,
        /// What it lacks.
        reason: String,
    },
    /// An archive is damaged, or of another kind.
    #[error("{path}: cannot be unpacked: {reason}")]
    BadArchive {
        /// The archive.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// git failed.
    #[error("git {what} in {path}: {reason}")]
    Git {
        /// The repository.
        path: PathBuf,
        /// The command.
        what: &'static str,
        /// What it said.
        reason: String,
    },
    /// More than any kernel has.
    #[error("{path}: {what} exceeds the limit of {limit}")]
    TooLarge {
        /// The tree.
        path: PathBuf,
        /// What there is too much of.
        what: &'static str,
        /// How much is read.
        limit: u64,
    },
    /// A system call that the tree does not define.
    #[error("the tree defines no system call `{name}`")]
    UnknownSyscall {
        /// As it was asked for.
        name: String,
    },
    /// A file system that the tree does not have.
    #[error("the tree has no file system `{name}`")]
    UnknownFileSystem {
        /// As it was asked for.
        name: String,
    },
    /// A file of facts that contradicts itself.
    #[error("facts/{file}: {reason}")]
    BadFacts {
        /// Which.
        file: &'static str,
        /// What is wrong, and where.
        reason: String,
    },
}

impl PlacementError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "check the path and its permissions",
            Self::NoKernelTree { .. } => {
                "give the top of a Linux source tree (with Makefile, fs and security), a linux-source tarball, or a git repository with a revision"
            }
            Self::BadArchive { .. } => {
                "give a .tar.xz of a kernel's sources; fetch it again if it is cut off"
            }
            Self::Git { .. } => {
                "check the repository and the revision (git rev-parse), and that git is installed"
            }
            Self::TooLarge { .. } => "is this really a kernel tree?",
            Self::UnknownSyscall { .. } => {
                "give its name without sys_, as in SYSCALL_DEFINEn; stat is known as newstat, too"
            }
            Self::UnknownFileSystem { .. } => "give the name of a directory in fs, or tmpfs",
            Self::BadFacts { .. } => "this is a fault of lsmeter: please report it",
        }
    }
}
