// SPDX-License-Identifier: GPL-2.0-or-later
//! Which document it is, and what may be wrong with one.

use std::fmt;
use std::io;
use std::str::FromStr;

use diagnostics::{Exit, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{UnknownWord, words};

use super::SCHEMA_VERSION;

words! {
    /// What a document answers: which command wrote it.
    Kind, "kind of document":
    /// What operations cost, cell by cell: `lsmeter run`.
    Run = "run",
    /// What each hook of an operation costs: `lsmeter profile`.
    Profile = "profile",
    /// How often operations ask for authorisation: `lsmeter sensitivity`.
    Sensitivity = "sensitivity",
    /// What was seen of a live machine: `lsmeter monitor`.
    Recording = "recording",
    /// Calls of hooks that the monitor of `lsmeter check` counted.
    Counts = "counts",
    /// Which hooks system calls can reach: `lsmeter placement`.
    Placement = "placement",
    /// What differs between two documents: `lsmeter compare`.
    Comparison = "comparison",
    /// Whether the instruments agree: `lsmeter check`.
    Check = "check",
    /// What differs between two placements: `lsmeter placement diff`.
    PlacementDifference = "placement_difference",
    /// Placements over versions: `lsmeter placement history`.
    PlacementHistory = "placement_history",
    /// The figures of many runs as series: `lsmeter history`.
    History = "history",
}

impl Kind {
    /// What to call such a document in a message; None where its kind could not be told.
    pub fn title(kind: Option<Kind>) -> &'static str {
        match kind {
            Some(Kind::Run) => "run document",
            Some(Kind::Profile) => "profile document",
            Some(Kind::Sensitivity) => "sensitivity document",
            Some(Kind::Recording) => "recording",
            Some(Kind::Counts) => "document of a monitor's counts",
            Some(Kind::Placement) => "placement document",
            Some(Kind::Comparison) => "comparison document",
            Some(Kind::Check) => "check document",
            Some(Kind::PlacementDifference) => "difference of placements",
            Some(Kind::PlacementHistory) => "history of placements",
            Some(Kind::History) => "history of runs",
            None => "document of lsmeter's",
        }
    }

    /// What makes such a document anew, and what gives one.
    fn advice(kind: Option<Kind>) -> (&'static str, &'static str) {
        match kind {
            Some(Kind::Run) => (
                "it was not written to its end; if a journal lies beside it, run again with --resume",
                "give a document that `lsmeter run --output FILE` wrote",
            ),
            Some(Kind::Profile) => (
                "it was not written to its end; profile again",
                "give a document that `lsmeter profile --output FILE` wrote",
            ),
            Some(Kind::Sensitivity) => (
                "it was not written to its end; sweep again",
                "give a document that `lsmeter sensitivity --output FILE` wrote",
            ),
            Some(Kind::Recording) => (
                "it was not written to its end; record again",
                "give a recording that `lsmeter monitor --record FILE` wrote",
            ),
            Some(Kind::Placement) => (
                "it was not written to its end; analyse the tree again",
                "give a document that `lsmeter placement TREE --output FILE` wrote",
            ),
            Some(Kind::Comparison) => (
                "it was not written to its end; compare again",
                "give a document that `lsmeter compare BASE NEW --output FILE` wrote",
            ),
            Some(Kind::PlacementDifference) => (
                "it was not written to its end; compare the trees again",
                "give a document that `lsmeter placement diff A B --json` wrote",
            ),
            Some(Kind::PlacementHistory) => (
                "it was not written to its end; analyse the trees again",
                "give a document that `lsmeter placement history TREE... --json` wrote",
            ),
            Some(Kind::Check) => (
                "it was not written to its end; check again",
                "give a document that `lsmeter check --output FILE` wrote",
            ),
            Some(Kind::Counts) => (
                "it was not written to its end; check again with --keep",
                "give a document that `lsmeter check --keep DIR` wrote",
            ),
            Some(Kind::History) => (
                "it was not written to its end; show the history again",
                "give a history that `lsmeter history show --json` wrote",
            ),
            None => (
                "it was not written to its end; measure again",
                "give a document that lsmeter wrote, with --output or --record",
            ),
        }
    }
}

/// Why a document could not be read or written.
#[derive(Debug)]
pub struct DocumentError {
    /// Which one; None if that could not be told.
    pub kind: Option<Kind>,
    /// What is wrong with it.
    pub fault: DocumentFault,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, fault } = self;
        let document = Kind::title(*kind);
        match fault {
            DocumentFault::OfOtherUse { .. } if kind.is_none() => fault.fmt(f),
            DocumentFault::NoVersion { .. } | DocumentFault::OfOtherUse { .. } => {
                write!(f, "no {document}: {fault}")
            }
            DocumentFault::Newer { .. } => fault.fmt(f),
            _ => write!(f, "{document}: {fault}"),
        }
    }
}

impl std::error::Error for DocumentError {
    /// The reader's or writer's error. The fault is none: this message holds its.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.fault.source()
    }
}

/// What is wrong with a document, whichever it is.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    /// The reader or writer failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is larger than [`DOCUMENT_LIMIT_BYTES`].
    #[error("larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The largest size, in bytes.
        limit: u64,
    },
    /// There is nothing in it.
    #[error("empty")]
    Empty,
    /// It ends before its last bracket.
    #[error("ends in the middle, after {bytes} bytes (line {line})")]
    Truncated {
        /// Bytes that there are.
        bytes: usize,
        /// The last line, from 1.
        line: usize,
    },
    /// It is not JSON.
    #[error("not JSON at line {line}, column {column}: {message}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// It is JSON, but has no (sensible) `schema_version`.
    #[error("{message}")]
    NoVersion {
        /// What is there instead.
        message: String,
    },
    /// It is a document, but another one than is needed here.
    #[error("{message}")]
    OfOtherUse {
        /// What it is.
        message: String,
    },
    /// A newer lsmeter wrote it.
    #[error("written by a newer lsmeter (schema {found}; this one reads up to {SCHEMA_VERSION})")]
    Newer {
        /// Its schema version.
        found: u64,
    },
    /// A key is missing or has a value of the wrong kind.
    #[error("at {path} (line {line}): {message}")]
    Value {
        /// Where: `cells[3].median`.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// Its parts contradict each other.
    #[error("at {path}: {message}")]
    Contradiction {
        /// Where: `cells[3]`.
        path: String,
        /// What contradicts what.
        message: String,
    },
}

impl DocumentError {
    pub(crate) fn of(kind: impl Into<Option<Kind>>) -> impl FnOnce(DocumentFault) -> DocumentError {
        let kind = kind.into();
        move |fault| DocumentError { kind, fault }
    }
}

impl Fault for DocumentError {
    fn exit(&self) -> Exit {
        match self.fault {
            DocumentFault::Io(_) => Exit::Environment,
            _ => Exit::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        let (again, written) = Kind::advice(self.kind);
        let hint = match &self.fault {
            DocumentFault::Truncated { .. } | DocumentFault::Empty => Some(again),
            DocumentFault::Newer { .. } => Some("use the lsmeter that wrote it, or a later one"),
            DocumentFault::OfOtherUse { .. } if self.kind.is_none() => {
                Some("give a document of lsmeter run, profile, sensitivity or monitor")
            }
            DocumentFault::NoVersion { .. }
            | DocumentFault::NotJson { .. }
            | DocumentFault::OfOtherUse { .. } => Some(written),
            _ => None,
        };
        hint.map(str::to_owned)
    }
}
