// SPDX-License-Identifier: GPL-2.0-or-later
//! What can go wrong between the name of a kernel and its image.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use model::{Exit, Fault};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the user asks for makes no sense, or leads to nothing that is a kernel.
    #[error("{what}")]
    Usage { what: String, hint: String },
    /// The kernel is not in the cache.
    #[error("kernel {name} is not in the cache")]
    NotCached {
        /// The kernel's name, as a user would write it.
        name: String,
        hint: String,
    },
    #[error("cannot {action} {path}: {source}")]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A package, an image or an archive is damaged.
    #[error("{what} is damaged: {reason}")]
    Damaged { what: String, reason: String },
    /// A sound file that cannot be used.
    #[error("{what}: {reason}")]
    Unsupported {
        what: String,
        /// What is not supported.
        reason: String,
        /// What to do, if anything.
        hint: Option<String>,
    },
    #[error("{what}")]
    Environment {
        /// What is missing.
        what: String,
        hint: String,
    },
    /// A kernel that does not build.
    #[error("{what}: {}", .lines.first().map_or("", String::as_str))]
    Build {
        what: String,
        /// The first error's lines.
        lines: Vec<String>,
        log: PathBuf,
        hint: String,
    },
    /// The user did not want to wait. What was made so far is used next time.
    #[error("{what} was interrupted")]
    Interrupted { what: String },
    /// No package of the kernel could be downloaded and read.
    #[error("no package of {name} could be fetched: {}", first_of(.reasons))]
    NoPackage {
        name: String,
        /// One line for each package that was tried, or why none was.
        reasons: Vec<String>,
        hint: String,
    },
}

impl Fault for Error {
    fn exit(&self) -> Exit {
        match self {
            Error::Environment { .. }
            | Error::Interrupted { .. }
            | Error::Io { .. }
            | Error::NoPackage { .. } => Exit::Environment,
            _ => Exit::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        Error::hint(self).map(str::to_owned)
    }
}

/// The first of these; how many more there are.
fn first_of(reasons: &[String]) -> String {
    match reasons {
        [] => "there is none".to_owned(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first}; and {} more", rest.len()),
    }
}

impl Error {
    /// What the user can do about it, without the `hint:` in front.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Interrupted { .. } => Some("the same command goes on where it stopped"),
            Error::NotCached { hint, .. }
            | Error::Usage { hint, .. }
            | Error::Build { hint, .. }
            | Error::Environment { hint, .. }
            | Error::NoPackage { hint, .. } => Some(hint),
            Error::Unsupported { hint, .. } => hint.as_deref(),
            Error::Io { .. } | Error::Damaged { .. } => None,
        }
    }

    /// Makes a failure of the system's one of `action`, a verb, on `path`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io {
            action,
            path,
            source,
        }
    }

    pub fn usage(what: impl Display, hint: impl Display) -> Error {
        Error::Usage {
            what: what.to_string(),
            hint: hint.to_string(),
        }
    }

    /// A name that does not follow the grammar of [`crate::KernelName`].
    pub(crate) fn bad_name(name: &str, reason: impl Display) -> Error {
        let what = format!("`{name}` does not name a kernel: {reason}");
        Error::usage(what, crate::name::ACCEPTED)
    }

    /// A configuration that cannot be had; a line for each option or line of a fragment.
    pub(crate) fn config(problems: &[String], hint: &str) -> Error {
        let problems = problems.join("; ");
        Error::usage(
            format!("the kernel cannot be configured so: {problems}"),
            hint,
        )
    }

    pub(crate) fn damaged(what: impl Display, reason: impl Display) -> Error {
        Error::Damaged {
            what: what.to_string(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn unsupported(what: impl Display, reason: impl Display) -> Error {
        Error::Unsupported {
            what: what.to_string(),
            reason: reason.to_string(),
            hint: None,
        }
    }
}
