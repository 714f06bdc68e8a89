// SPDX-License-Identifier: GPL-2.0-or-later
//! Documents of version 1, which are read for ever: each becomes a [`Document`].
//!
//! They did not say what they were, repeated their keys in each cell, and gave figures also
//! to cells that had none. Nothing here is written.

mod counts;
mod profile;
mod recording;
mod run;
mod sensitivity;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::configuration::Tuning;
use crate::document::{Document, DocumentFault, Kind, decode};
use crate::environment::{Environment, Tool};
use crate::key::{Key, Subject};
use crate::metric::Metric;
use crate::warning::Warning;
use crate::words::{Architecture, Integrity, Policy};

/// Reads a document of measurements of version 1.
///
/// # Errors
/// [`DocumentFault`], with the place in the document as it was written.
pub(crate) fn document(kind: Kind, bytes: &[u8]) -> Result<Document, DocumentFault> {
    match kind {
        Kind::Run => run::document(decode(bytes)?),
        Kind::Profile => profile::document(decode(bytes)?),
        Kind::Sensitivity => sensitivity::document(decode(bytes)?),
        Kind::Recording => Ok(recording::document(decode(bytes)?)),
        Kind::Counts => Ok(counts::document(decode(bytes)?)),
        other => Err(DocumentFault::OfOtherUse {
            message: format!("it is a {}", Kind::title(Some(other))),
        }),
    }
}

/// The key of what became cells.
pub(crate) fn list(kind: Kind) -> &'static str {
    match kind {
        Kind::Profile => "profiles",
        Kind::Sensitivity => "slopes",
        Kind::Recording => "intervals",
        Kind::Counts => "counted",
        _ => "cells",
    }
}

/// Which kind a document of version 1 is, by its keys.
///
/// # Errors
/// [`DocumentFault::NoVersion`] if it has those of none.
pub(crate) fn kind(bytes: &[u8]) -> Result<Kind, DocumentFault> {
    /// The keys that each kind must have and no other kind has.
    #[derive(Deserialize)]
    struct Keys {
        cells: Option<IgnoredAny>,
        profiles: Option<IgnoredAny>,
        slopes: Option<IgnoredAny>,
        intervals: Option<IgnoredAny>,
        syscalls: Option<IgnoredAny>,
        compared: Option<IgnoredAny>,
        changes: Option<IgnoredAny>,
        versions: Option<IgnoredAny>,
        counted: Option<IgnoredAny>,
        instruments: Option<IgnoredAny>,
        series: Option<IgnoredAny>,
    }
    let keys: Keys = decode(bytes)?;
    let kinds = [
        (keys.cells.is_some(), Kind::Run),
        (keys.profiles.is_some(), Kind::Profile),
        (keys.slopes.is_some(), Kind::Sensitivity),
        (keys.intervals.is_some(), Kind::Recording),
        (keys.syscalls.is_some(), Kind::Placement),
        // It has a key `compared` too.
        (keys.changes.is_some(), Kind::PlacementDifference),
        (keys.compared.is_some(), Kind::Comparison),
        (keys.versions.is_some(), Kind::PlacementHistory),
        (keys.counted.is_some(), Kind::Counts),
        (keys.instruments.is_some(), Kind::Check),
        (keys.series.is_some(), Kind::History),
    ];
    let found = kinds.into_iter().find(|(is, _)| *is);
    found
        .map(|(_, kind)| kind)
        .ok_or_else(|| DocumentFault::NoVersion {
            message: "it has the keys of no document that lsmeter writes".to_owned(),
        })
}

/// The keys of a cell, as several documents repeated them.
#[derive(Deserialize)]
struct Place {
    kernel: String,
    #[serde(default)]
    release: String,
    stack: Vec<String>,
    #[serde(default)]
    active_lsms: Vec<String>,
    #[serde(default)]
    integrity: Vec<Integrity>,
    #[serde(default)]
    policy: Policy,
    #[serde(default)]
    tuning: Tuning,
    filesystem: String,
    benchmark: String,
    variant: String,
    #[serde(default)]
    syscalls: Vec<String>,
}

impl Place {
    fn key(&mut self, metric: Metric) -> Key {
        Key {
            architecture: Architecture::default(),
            kernel: std::mem::take(&mut self.kernel),
            stack: std::mem::take(&mut self.stack),
            integrity: std::mem::take(&mut self.integrity),
            policy: self.policy,
            tuning: self.tuning,
            filesystem: std::mem::take(&mut self.filesystem),
            subject: Subject::benchmark(
                std::mem::take(&mut self.benchmark),
                std::mem::take(&mut self.variant),
            ),
            delay: None,
            metric,
        }
    }
}

/// A document with nothing in it but its head.
fn head(kind: Kind, tool: Tool, environment: Environment, warnings: Vec<Warning>) -> Document {
    Document {
        tool,
        warnings,
        ..Document::new(kind, environment)
    }
}

fn contradiction(path: String, message: impl Into<String>) -> DocumentFault {
    DocumentFault::Contradiction {
        path,
        message: message.into(),
    }
}
