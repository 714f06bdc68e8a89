// SPDX-License-Identifier: GPL-2.0-or-later
//! Which document it is, and what may be wrong with one.

use std::fmt;
use std::io;
use std::str::FromStr;

use crate::{Exit, Fault};
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
    /// Which hooks system calls can reach: `lsmeter placement`.
    Placement = "placement",
    /// What differs between two documents: `lsmeter compare`.
    Comparison = "comparison",
    /// What other stacks would cost where calls were recorded: `lsmeter predict`.
    Prediction = "prediction",
    /// What counted operations would take in ns: `lsmeter estimate`.
    Estimate = "estimate",
    /// What differs between two placements: `lsmeter placement diff`.
    PlacementDifference = "placement_difference",
}

impl Kind {
    /// What to call such a document in a message; None where its kind could not be told.
    pub fn title(kind: Option<Kind>) -> &'static str {
        match kind {
            Some(Kind::Run) => "run document",
            Some(Kind::Profile) => "profile document",
            Some(Kind::Sensitivity) => "sensitivity document",
            Some(Kind::Recording) => "recording",
            Some(Kind::Placement) => "placement document",
            Some(Kind::Comparison) => "comparison document",
            Some(Kind::Prediction) => "prediction document",
            Some(Kind::Estimate) => "document of estimates",
            Some(Kind::PlacementDifference) => "difference of placements",
            None => "document of lsmeter's",
        }
    }

    /// How to make such a document again, and the command that writes one.
    fn origin(self) -> (&'static str, &'static str) {
        match self {
            Kind::Run => (
                "if a journal lies beside it, run again with --resume",
                "run --output FILE",
            ),
            Kind::Profile => ("profile again", "profile --output FILE"),
            Kind::Sensitivity => ("sweep again", "sensitivity --output FILE"),
            Kind::Recording => ("record again", "monitor --record FILE"),
            Kind::Placement => ("analyse the tree again", "placement TREE --output FILE"),
            Kind::Comparison => ("compare again", "compare BASE NEW --output FILE"),
            Kind::Prediction => ("predict again", "predict --output FILE"),
            Kind::Estimate => ("estimate again", "estimate --output FILE"),
            Kind::PlacementDifference => ("compare the trees again", "placement diff A B --json"),
        }
    }
}

/// Why a document could not be read or written.
#[derive(Debug)]
pub struct DocumentError {
    /// Which one; None if that could not be told.
    pub kind: Option<Kind>,
    pub fault: DocumentFault,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, fault } = self;
        let document = Kind::title(*kind);
        match fault {
            DocumentFault::OfOtherUse(_) if kind.is_none() => fault.fmt(f),
            DocumentFault::NoVersion(_) | DocumentFault::OfOtherUse(_) => {
                write!(f, "no {document}: {fault}")
            }
            DocumentFault::OtherVersion { .. } => fault.fmt(f),
            _ => write!(f, "{document}: {fault}"),
        }
    }
}

impl std::error::Error for DocumentError {
    /// The reader's or writer's error. Not the fault: its message is part of this one.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.fault.source()
    }
}

/// What is wrong with a document, whichever it is.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is larger than [`DOCUMENT_LIMIT_BYTES`].
    #[error("larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The largest size, in bytes.
        limit: u64,
    },
    #[error("empty")]
    Empty,
    /// It ends before its last bracket.
    #[error("ends in the middle, after {bytes} bytes (line {line})")]
    Truncated {
        bytes: usize,
        /// The last line, from 1.
        line: usize,
    },
    #[error("not JSON at line {line}, column {column}: {message}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        message: String,
    },
    /// It is JSON, but has no (sensible) `schema_version`.
    #[error("{0}")]
    NoVersion(String),
    /// It is a document, but another one than is needed here.
    #[error("{0}")]
    OfOtherUse(String),
    #[error("written by another lsmeter (schema version {found}; this one reads {SCHEMA_VERSION})")]
    OtherVersion { found: u64 },
    /// A key is missing or has a value of the wrong kind.
    #[error("at {path} (line {line}): {message}")]
    Value {
        /// Where: `cells[3].median`.
        path: String,
        /// Line, from 1.
        line: usize,
        message: String,
    },
    /// Its parts contradict each other.
    #[error("at {path}: {message}")]
    Contradiction {
        /// Where: `cells[3]`.
        path: String,
        message: String,
    },
}

impl DocumentFault {
    /// That a document is of this kind, which is not the one that is needed.
    pub(crate) fn other(kind: Option<Kind>) -> DocumentFault {
        DocumentFault::OfOtherUse(format!("it is a {}", Kind::title(kind)))
    }
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
        let origin = self.kind.map(Kind::origin);
        match &self.fault {
            DocumentFault::Truncated { .. } | DocumentFault::Empty => {
                let again = origin.map_or("measure again", |(again, _)| again);
                Some(format!("it was not written to its end; {again}"))
            }
            DocumentFault::OtherVersion { .. } => Some("use the lsmeter that wrote it".to_owned()),
            DocumentFault::OfOtherUse(_) if origin.is_none() => {
                Some("give a document of lsmeter run, profile, sensitivity or monitor".to_owned())
            }
            DocumentFault::NoVersion(_)
            | DocumentFault::NotJson { .. }
            | DocumentFault::OfOtherUse(_) => {
                let what = match self.kind {
                    Some(Kind::Recording) => "recording",
                    _ => "document",
                };
                Some(match origin {
                    Some((_, command)) => format!("give a {what} that `lsmeter {command}` wrote"),
                    None => format!("give a {what} that lsmeter wrote, with --output or --record"),
                })
            }
            _ => None,
        }
    }
}
