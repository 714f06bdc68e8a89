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

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::aa::AaReport;
use crate::cell::Cell;
use crate::configuration::Tuning;
use crate::document::{Document, DocumentFault, Kind, decode};
use crate::environment::{Environment, Origin, PolicyProof, Tool};
use crate::experiment::Experiment;
use crate::key::{Key, Subject};
use crate::metric::Metric;
use crate::shard::Share;
use crate::sweep::{DepthRule, Prediction, RepeatedQuestion, SweepFindings};
use crate::warning::Warning;
use crate::words::{Architecture, Integrity, Policy};

/// Reads a document of measurements of version 1.
///
/// # Errors
/// [`DocumentFault`], with the place in the document as it was written.
pub(crate) fn document(kind: Kind, bytes: &[u8]) -> Result<Document, DocumentFault> {
    match kind {
        Kind::Run => read(kind, bytes, run::CellForm::cell),
        Kind::Profile => read(kind, bytes, profile::ProfileForm::cell),
        Kind::Sensitivity => read(kind, bytes, sensitivity::SlopeForm::cell),
        Kind::Recording => Ok(recording::document(decode(bytes)?)),
        Kind::Counts => Ok(counts::document(decode(bytes)?)),
        other => Err(DocumentFault::other(Some(other))),
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
    let message = "it has the keys of no document that lsmeter writes";
    let found = kinds.into_iter().find_map(|(is, kind)| is.then_some(kind));
    found.ok_or_else(|| DocumentFault::NoVersion(message.to_owned()))
}

/// A run, a profile or a sweep: what they have in common, and what one of them has.
#[derive(Deserialize)]
struct Form<C> {
    tool: Tool,
    environment: Environment,
    #[serde(default)]
    environments: Vec<Origin>,
    share: Option<Share>,
    started: Option<String>,
    finished: Option<String>,
    experiment: Option<Experiment>,
    #[serde(default)]
    kernel_digests: BTreeMap<String, String>,
    #[serde(default)]
    setups: Vec<PolicyProof>,
    aa: Option<AaReport>,
    #[serde(alias = "profiles", alias = "slopes")]
    cells: Vec<C>,
    #[serde(default)]
    rules: Vec<DepthRule>,
    #[serde(default)]
    predictions: Vec<Prediction>,
    #[serde(default)]
    repeated: Vec<RepeatedQuestion>,
    #[serde(default)]
    warnings: Vec<Warning>,
}

/// Reads a [`Form`], of whose cells `cell` makes those of today, or says what contradicts
/// itself in one.
fn read<C: DeserializeOwned>(
    kind: Kind,
    bytes: &[u8],
    cell: impl Fn(C) -> Result<Cell, String>,
) -> Result<Document, DocumentFault> {
    let form: Form<C> = decode(bytes)?;
    let cells = form.cells.into_iter().enumerate().map(|(index, of)| {
        cell(of).map_err(|message| DocumentFault::Contradiction {
            path: format!("{}[{index}]", list(kind)),
            message,
        })
    });
    Ok(Document {
        tool: form.tool,
        environments: form.environments,
        share: form.share,
        started: form.started,
        finished: form.finished,
        experiment: form.experiment,
        kernel_digests: form.kernel_digests,
        setups: form.setups,
        aa: form.aa,
        cells: cells.collect::<Result<_, _>>()?,
        sweep: (kind == Kind::Sensitivity).then_some(SweepFindings {
            rules: form.rules,
            predictions: form.predictions,
            repeated: form.repeated,
        }),
        warnings: form.warnings,
        ..Document::new(kind, form.environment)
    })
}

/// The keys of a cell, as several documents repeated them.
#[derive(Default, Deserialize)]
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
    /// The cell of a metric, without what came out of it.
    fn cell(self, metric: Metric) -> Cell {
        Cell {
            release: self.release,
            active_lsms: self.active_lsms,
            syscalls: self.syscalls,
            ..Cell::unmeasured(Key {
                architecture: Architecture::default(),
                kernel: self.kernel,
                stack: self.stack,
                integrity: self.integrity,
                policy: self.policy,
                tuning: self.tuning,
                filesystem: self.filesystem,
                subject: Subject::benchmark(self.benchmark, self.variant),
                delay: None,
                metric,
            })
        }
    }
}
