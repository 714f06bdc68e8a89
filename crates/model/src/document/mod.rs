// SPDX-License-Identifier: GPL-2.0-or-later
//! The result file of any method, measurement by measurement.
//!
//! Result files derived from measurements (comparisons, checks, histories) or from a kernel's
//! sources are [`Stored`] in their own form, with the same head: `kind`, `schema_version`, `tool`.

mod error;
mod json;
mod schema;

use std::collections::BTreeMap;
use std::io::{Read, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::aa::AaReport;
use crate::cell::Cell;
use crate::environment::{Environment, Origin, PolicyProof, Tool};
use crate::evidence::{Counted, HookedPath, Interval, Slope};
use crate::experiment::Experiment;
use crate::key::{Delay, Key};
use crate::monitoring::{LeftOutFunction, Monitoring};
use crate::shard::Share;
use crate::sweep::SweepFindings;
use crate::warning::Warning;
use crate::words::Place;

pub use error::{DocumentError, DocumentFault, Kind};
pub use json::{DOCUMENT_LIMIT_BYTES, Stored};
pub use schema::schema;

pub(crate) use json::{all_sound, decode, printable, read_bounded, sound};

/// The schema version that is written, and the only one that is read.
///
/// It changes when a reader of the old version would misunderstand the new one. A new optional key
/// does not change it.
pub const SCHEMA_VERSION: u32 = 3;

/// All results of one experiment. See [`Document::read`] and [`Document::write`].
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    pub kind: Kind,
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    pub tool: Tool,
    /// Environment of the measurements; the first of `environments`, if there are several.
    pub environment: Environment,
    /// Environments of the parts, if they differ (`lsmeter merge`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<Origin>,
    /// Which part of the experiment this is; missing for the whole.
    pub share: Option<Share>,
    /// Start of the first measurement: RFC 3339, UTC.
    pub started: Option<String>,
    /// End of the last measurement: RFC 3339, UTC.
    pub finished: Option<String>,
    /// The experiment; always present in a run.
    pub experiment: Option<Experiment>,
    /// SHA-256 of each kernel's image, by the kernel's name in the experiment. Missing in older
    /// result files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_digests: BTreeMap<String, String>,
    /// Names of each kernel's LSM hooks, by the kernel's name in the experiment; only in a profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_hooks: BTreeMap<String, Vec<String>>,
    /// How policies were loaded and tested: one entry per kernel and configuration with policies.
    /// In a sweep: how each kernel was tested for delays that outlast the process that set them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<PolicyProof>,
    /// Comparison of repeated runs without a change (`--aa`).
    pub aa: Option<AaReport>,
    /// What was monitored, and how; only in a recording.
    pub monitor: Option<Monitoring>,
    /// Requested functions that the monitor did not watch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutFunction>,
    /// Results in the order of the suite; in a recording by interval, without gaps.
    #[serde(rename = "measurements")]
    pub cells: Vec<Cell>,
    /// Findings over all slopes; only in a sweep.
    pub sweep: Option<SweepFindings>,
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl Document {
    pub fn new(kind: Kind, environment: Environment) -> Document {
        Document {
            kind,
            schema_version: SCHEMA_VERSION,
            environment,
            ..Document::default()
        }
    }

    /// Unknown keys are skipped: later versions may add keys without a new schema version.
    pub fn read(reader: impl Read) -> Result<Document, DocumentError> {
        let bytes =
            read_bounded(reader, DOCUMENT_LIMIT_BYTES).map_err(DocumentError::with_kind(None))?;
        Document::parse(&bytes)
    }

    /// Like [`Document::read`], from memory.
    pub fn parse(bytes: &[u8]) -> Result<Document, DocumentError> {
        Document::parse_kind(Kind::detect(bytes)?, bytes)
    }

    pub fn parse_as(kind: Kind, bytes: &[u8]) -> Result<Document, DocumentError> {
        let refuse = DocumentError::with_kind(kind);
        match Kind::detect(bytes) {
            Ok(found) if found == kind => Document::parse_kind(kind, bytes),
            Ok(found) => Err(refuse(DocumentFault::other(Some(found)))),
            Err(error) => Err(refuse(error.fault)),
        }
    }

    fn parse_kind(kind: Kind, bytes: &[u8]) -> Result<Document, DocumentError> {
        if !Kind::MEASURED.contains(&kind) {
            let what = Kind::title(Some(kind));
            let message = format!("it is a {what}, without measurements");
            let fault = DocumentFault::OfOtherUse(message);
            return Err(DocumentError::with_kind(None)(fault));
        }
        let read = || {
            let document: Document = decode(bytes)?;
            document.check()?;
            Ok(document)
        };
        read().map_err(DocumentError::with_kind(kind))
    }

    /// Writes one line per measurement and per warning, for line-based tools, and flushes. Output
    /// is deterministic.
    pub fn write(&self, writer: impl Write) -> Result<(), DocumentError> {
        json::to_lines(self, writer).map_err(DocumentError::with_kind(self.kind))
    }

    pub fn environment_of(&self, cell: usize) -> &Environment {
        let position = u32::try_from(cell).unwrap_or(u32::MAX);
        let has_cell = |origin: &&Origin| origin.cells.binary_search(&position).is_ok();
        let origin = self.environments.iter().find(has_cell);
        origin.map_or(&self.environment, |origin| &origin.environment)
    }

    /// Measurements of a UML kernel.
    pub fn is_of_process(&self, kernel: &str) -> bool {
        match self.experiment.as_ref().map(|experiment| experiment.place) {
            None | Some(Place::Host) => false,
            Some(Place::Um) => true,
            Some(Place::Lab) => self.environment_of_kernel(kernel).qemu.is_none(),
        }
    }

    pub fn environment_of_kernel(&self, kernel: &str) -> &Environment {
        let mut cells = self.cells.iter();
        let first = cells.position(|cell| cell.key.kernel == kernel);
        first.map_or(&self.environment, |at| self.environment_of(at))
    }

    /// The measurement to compare with. None for a baseline itself, and if there is no baseline.
    pub fn baseline_of(&self, key: &Key) -> Option<Key> {
        self.experiment.as_ref()?.baseline_of(key)
    }

    pub fn hooked(&self) -> impl Iterator<Item = (&Cell, &Counted, &HookedPath)> {
        self.cells.iter().filter_map(|cell| {
            let counted = cell.counted()?;
            Some((cell, counted, counted.hooked.as_ref()?))
        })
    }

    pub fn slopes(&self) -> impl Iterator<Item = (&Cell, &Delay, &Slope)> {
        self.cells.iter().filter_map(|cell| {
            let delay = cell.key.delay.as_ref()?;
            Some((cell, delay, cell.slope()?))
        })
    }

    pub fn intervals(&self) -> impl Iterator<Item = &Interval> + Clone {
        self.cells.iter().filter_map(Cell::interval)
    }

    pub fn all_intervals(&self) -> Interval {
        Interval::sum(self.intervals())
    }

    pub fn findings(&self) -> &SweepFindings {
        static NONE: SweepFindings = SweepFindings {
            rules: Vec::new(),
            predictions: Vec::new(),
            repeated: Vec::new(),
        };
        self.sweep.as_ref().unwrap_or(&NONE)
    }

    fn check(&self) -> Result<(), DocumentFault> {
        let experiment = self.experiment.as_ref();
        let baseline = experiment.and_then(Experiment::contradiction);
        sound("experiment.baseline", baseline)?;
        let missing = match self.kind {
            Kind::Run if experiment.is_none() => Some("`experiment` is missing"),
            Kind::Recording if self.monitor.is_none() => Some("`monitor` is missing"),
            _ => None,
        };
        sound("the top", missing.map(str::to_owned))?;
        all_sound("measurements", &self.cells, Cell::contradiction)?;
        sound("environments", self.origins_contradiction())?;
        let cells = self.cells.len();
        let share = self.share.as_ref();
        sound("share", share.and_then(|share| share.contradiction(cells)))?;
        sound("aa", self.aa.as_ref().and_then(AaReport::contradiction))?;
        all_sound("warnings", &self.warnings, |warning| {
            let mut positions = warning.cells.iter();
            let beyond = positions.find(|&&position| position as usize >= cells);
            beyond.map(|position| format!("there is no measurement {position}"))
        })
    }

    /// Each measurement must have exactly one environment.
    fn origins_contradiction(&self) -> Option<String> {
        if self.environments.is_empty() {
            return None;
        }
        let mut seen = vec![false; self.cells.len()];
        for origin in &self.environments {
            if !origin.cells.is_sorted_by(|a, b| a < b) {
                return Some("the measurements of one environment are not in order".to_owned());
            }
            for &position in &origin.cells {
                match seen.get_mut(position as usize) {
                    None => return Some(format!("there is no measurement {position}")),
                    Some(true) => {
                        return Some(format!("measurement {position} has two environments"));
                    }
                    Some(first) => *first = true,
                }
            }
        }
        let missing = seen.iter().position(|seen| !seen);
        missing.map(|position| format!("measurement {position} has no environment"))
    }
}

impl Kind {
    pub const MEASURED: &'static [Kind] =
        &[Kind::Run, Kind::Profile, Kind::Sensitivity, Kind::Recording];

    pub fn detect(bytes: &[u8]) -> Result<Kind, DocumentError> {
        json::kind(bytes).map_err(DocumentError::with_kind(None))
    }
}
