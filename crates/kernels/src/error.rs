// SPDX-License-Identifier: GPL-2.0-or-later

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use model::{Exit, Fault};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{what}")]
    Usage { what: String, hint: String },
    #[error("kernel {name} is not in the cache")]
    NotCached {
        /// As a user would write it.
        name: String,
        hint: String,
    },
    #[error("cannot {action} {path}: {source}")]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{what} is damaged: {reason}")]
    Damaged { what: String, reason: String },
    #[error("{what}: {reason}")]
    Unsupported {
        what: String,
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
    #[error("{what}: {}", .lines.first().map_or("", String::as_str))]
    Build {
        what: String,
        lines: Vec<String>,
        log: PathBuf,
        hint: String,
    },
    /// Interrupted by the user. Finished parts are reused next time.
    #[error("{what} was interrupted")]
    Interrupted { what: String },
    #[error("could not fetch {name}: {}", first_of(.reasons))]
    NoPackage {
        name: String,
        /// One per tried package, or why none was tried.
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

fn first_of(reasons: &[String]) -> String {
    match reasons {
        [] => "no such package".to_owned(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first}; and {} more", rest.len()),
    }
}

impl Error {
    /// Without the `hint:` prefix.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Interrupted { .. } => Some("run the same command again to continue"),
            Error::NotCached { hint, .. }
            | Error::Usage { hint, .. }
            | Error::Build { hint, .. }
            | Error::Environment { hint, .. }
            | Error::NoPackage { hint, .. } => Some(hint),
            Error::Unsupported { hint, .. } => hint.as_deref(),
            Error::Io { .. } | Error::Damaged { .. } => None,
        }
    }

    /// `action` is a verb, as in "cannot ACTION PATH".
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io {
            action,
            path,
            source,
        }
    }

    /// `hint` is for a program that is not installed.
    pub(crate) fn run(program: &Path, hint: String) -> impl FnOnce(io::Error) -> Error {
        let what = format!("{} is not on this machine", program.display());
        let failed = Error::io("run", program);
        move |error| match error.kind() {
            io::ErrorKind::NotFound => Error::Environment { what, hint },
            _ => failed(error),
        }
    }

    pub fn usage(what: impl Display, hint: impl Display) -> Error {
        Error::Usage {
            what: what.to_string(),
            hint: hint.to_string(),
        }
    }

    /// A name that does not match the grammar of [`crate::KernelName`].
    pub(crate) fn bad_name(name: &str, reason: impl Display) -> Error {
        let what = format!("`{name}` does not name a kernel: {reason}");
        Error::usage(what, crate::name::ACCEPTED)
    }

    /// An impossible configuration; one line per option or fragment line.
    pub(crate) fn config(problems: &[String], hint: &str) -> Error {
        let problems = problems.join("; ");
        Error::usage(
            format!("the kernel cannot be configured this way: {problems}"),
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
