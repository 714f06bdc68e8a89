// SPDX-License-Identifier: GPL-2.0-or-later
//! Kinds of result files, and errors in them.

use std::fmt;
use std::io;

use crate::{Exit, Fault};

use crate::words::words;

use super::SCHEMA_VERSION;

words! {
    /// The command that wrote a result file.
    #[derive(Default)]
    Kind, "kind of result file":
    /// Cost of operations: `lsmeter run`.
    #[default]
    Run = "run",
    /// Cost of each hook of an operation: `lsmeter profile`.
    Profile = "profile",
    /// Permission checks per operation: `lsmeter sensitivity`.
    Sensitivity = "sensitivity",
    /// Hook calls on a live machine: `lsmeter monitor`.
    Recording = "recording",
    /// Hooks that system calls can reach: `lsmeter placement`.
    Placement = "placement",
    /// Differences between two result files: `lsmeter compare`.
    Comparison = "comparison",
    /// Cost of other stacks for recorded calls: `lsmeter predict`.
    Prediction = "prediction",
    /// Counts converted to ns: `lsmeter estimate`.
    Estimate = "estimate",
    /// Differences between two placements: `lsmeter placement diff`.
    PlacementDifference = "placement_difference",
}

impl Kind {
    pub fn title(kind: Option<Kind>) -> &'static str {
        match kind {
            Some(Kind::Run) => "run result file",
            Some(Kind::Profile) => "profile result file",
            Some(Kind::Sensitivity) => "sensitivity result file",
            Some(Kind::Recording) => "recording",
            Some(Kind::Placement) => "placement result file",
            Some(Kind::Comparison) => "comparison result file",
            Some(Kind::Prediction) => "prediction result file",
            Some(Kind::Estimate) => "result file of estimates",
            Some(Kind::PlacementDifference) => "placement difference",
            None => "lsmeter result file",
        }
    }

    fn origin(self) -> (&'static str, &'static str) {
        match self {
            Kind::Run => ("run again: cached counts are reused", "run --output FILE"),
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

#[derive(Debug)]
pub struct DocumentError {
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
                write!(f, "not a valid {document}: {fault}")
            }
            DocumentFault::OtherVersion { .. } => fault.fmt(f),
            _ => write!(f, "{document}: {fault}"),
        }
    }
}

impl std::error::Error for DocumentError {
    /// The reader's or writer's error. The fault's message is already part of this one.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.fault.source()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The limit in bytes.
    #[error("larger than {} MiB", .0 >> 20)]
    TooLarge(u64),
    #[error("empty")]
    Empty,
    #[error("truncated after {bytes} bytes (line {line})")]
    Truncated {
        bytes: usize,
        /// Counted from 1.
        line: usize,
    },
    #[error("invalid JSON at line {line}, column {column}: {message}")]
    NotJson {
        line: usize,
        /// In bytes, from 1.
        column: usize,
        message: String,
    },
    #[error("{0}")]
    NoVersion(String),
    #[error("{0}")]
    OfOtherUse(String),
    #[error(
        "written by another lsmeter version (schema version {found}; this one reads \
         {SCHEMA_VERSION})"
    )]
    OtherVersion { found: u64 },
    #[error("at {path} (line {line}): {message}")]
    Value {
        path: String,
        line: usize,
        message: String,
    },
    #[error("at {path}: {message}")]
    Contradiction {
        /// `measurements[3]`.
        path: String,
        message: String,
    },
}

impl DocumentFault {
    pub(crate) fn other(kind: Option<Kind>) -> DocumentFault {
        DocumentFault::OfOtherUse(format!("it is a {}", Kind::title(kind)))
    }
}

impl DocumentError {
    pub(crate) fn with_kind(
        kind: impl Into<Option<Kind>>,
    ) -> impl FnOnce(DocumentFault) -> DocumentError {
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
                Some(format!("the file was not written completely; {again}"))
            }
            DocumentFault::OtherVersion { .. } => {
                Some("use the lsmeter version that wrote the file".to_owned())
            }
            DocumentFault::OfOtherUse(_) if origin.is_none() => Some(
                "give a result file from lsmeter run, profile, sensitivity or monitor".to_owned(),
            ),
            DocumentFault::NoVersion(_)
            | DocumentFault::NotJson { .. }
            | DocumentFault::OfOtherUse(_) => {
                let what = match self.kind {
                    Some(Kind::Recording) => "recording",
                    _ => "result file",
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
