// SPDX-License-Identifier: GPL-2.0-or-later
//! The run document's types.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aa::AaReport;
use crate::cell::Cell;
use crate::configuration::Configuration;
use crate::document::{
    self, Document, DocumentError, DocumentFault, DocumentKind, check_warnings, json, lines,
};
use crate::experiment::Experiment;
use crate::shard::Share;
use crate::words::{Clock, Metric};

/// The version of the run document and of the profile document that this code writes,
/// and the newest it reads.
///
/// It changes when a reader of the old version would misunderstand the new one; a new
/// optional key does not change it.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that one experiment gave. See [`Run::read`] and [`Run::write`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter run document")]
pub struct Run {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// What wrote it.
    pub tool: Tool,
    /// What it ran on; the first of `environments`, if there are several.
    pub environment: Environment,
    /// What its parts ran on, if that was not the same for all (`lsmeter merge`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<Origin>,
    /// Which part of the experiment this is; missing if it is the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// When measuring began: RFC 3339, UTC.
    pub started: String,
    /// When the last cell ended: RFC 3339, UTC.
    pub finished: String,
    /// What was asked for.
    pub experiment: Experiment,
    /// SHA-256 of each kernel's image, by the kernel's name in the experiment. Older
    /// documents have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_digests: BTreeMap<String, String>,
    /// How policies were brought into force, and how they proved it: one for each
    /// kernel and configuration that has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<PolicyProof>,
    /// What the same experiment gave when it was run again without a change (`--aa`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aa: Option<AaReport>,
    /// What came out, in the order of the suite.
    pub cells: Vec<Cell>,
    /// Reasons to doubt it.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl Run {
    /// Reads a document of this or an older schema version. Keys it does not know are
    /// skipped: a later lsmeter may add some without a new schema version.
    ///
    /// # Errors
    /// [`DocumentError`], which says where. Reads at most
    /// [`DOCUMENT_LIMIT_BYTES`](crate::DOCUMENT_LIMIT_BYTES).
    pub fn read(reader: impl Read) -> Result<Run, DocumentError> {
        document::read(reader)
    }

    /// Reads a document that is in memory. Like [`Run::read`].
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn parse(bytes: &[u8]) -> Result<Run, DocumentError> {
        document::parse(bytes)
    }

    /// Writes the document: one line per cell and per warning, so that line tools work
    /// on it. The same document gives the same bytes.
    ///
    /// # Errors
    /// [`DocumentFault::Io`] when the writer fails. Flushes at the end.
    pub fn write(&self, writer: impl Write) -> Result<(), DocumentError> {
        document::write(self, writer)
    }

    /// What a cell ran on, by its position.
    pub fn environment_of(&self, cell: usize) -> &Environment {
        let position = u32::try_from(cell).unwrap_or(u32::MAX);
        let of = |origin: &&Origin| origin.cells.binary_search(&position).is_ok();
        let origin = self.environments.iter().find(of);
        origin.map_or(&self.environment, |origin| &origin.environment)
    }

    /// What contradicts itself in the environments, if anything: each cell has one.
    fn origins_contradiction(&self) -> Option<String> {
        if self.environments.is_empty() {
            return None;
        }
        let mut seen = vec![false; self.cells.len()];
        for origin in &self.environments {
            if !origin.cells.is_sorted_by(|a, b| a < b) {
                return Some("the cells of one are not in order".to_owned());
            }
            for &position in &origin.cells {
                match seen.get_mut(position as usize) {
                    None => return Some(format!("there is no cell {position}")),
                    Some(true) => return Some(format!("cell {position} has two")),
                    Some(first) => *first = true,
                }
            }
        }
        let lacks = seen.iter().position(|seen| !seen);
        lacks.map(|position| format!("cell {position} has none"))
    }
}

impl Document for Run {
    const KIND: DocumentKind = DocumentKind::Run;

    fn check(&self) -> Result<(), DocumentFault> {
        let refuse =
            |path: String, message: String| Err(DocumentFault::Contradiction { path, message });
        if self.experiment.baseline_configuration().is_none() {
            return refuse(
                "experiment.baseline".to_owned(),
                format!(
                    "{}, but there are {} configurations",
                    self.experiment.baseline,
                    self.experiment.configurations.len()
                ),
            );
        }
        for (index, cell) in self.cells.iter().enumerate() {
            if let Some(message) = cell.contradiction() {
                return refuse(format!("cells[{index}]"), message);
            }
        }
        if let Some(message) = self.origins_contradiction() {
            return refuse("environments".to_owned(), message);
        }
        let share = self.share.as_ref();
        if let Some(message) = share.and_then(|share| share.contradiction(self.cells.len())) {
            return refuse("share".to_owned(), message);
        }
        if let Some(message) = self.aa.as_ref().and_then(AaReport::contradiction) {
            return refuse("aa".to_owned(), message);
        }
        check_warnings(&self.warnings, self.cells.len(), "cell")
    }

    fn write_keys(&self, w: &mut impl Write) -> Result<(), DocumentFault> {
        // Taken apart in full, so that a new key cannot be forgotten here.
        let Run {
            schema_version,
            tool,
            environment,
            environments,
            share,
            started,
            finished,
            experiment,
            kernel_digests,
            setups,
            aa,
            cells,
            warnings,
        } = self;
        write!(w, "{{\n\"schema_version\": {schema_version},\n\"tool\": ")?;
        json(w, tool)?;
        w.write_all(b",\n\"environment\": ")?;
        json(w, environment)?;
        if !environments.is_empty() {
            w.write_all(b",\n\"environments\": ")?;
            lines(w, environments)?;
        }
        if let Some(share) = share {
            w.write_all(b",\n\"share\": ")?;
            json(w, share)?;
        }
        w.write_all(b",\n\"started\": ")?;
        json(w, started)?;
        w.write_all(b",\n\"finished\": ")?;
        json(w, finished)?;
        w.write_all(b",\n\"experiment\": ")?;
        json(w, experiment)?;
        if !kernel_digests.is_empty() {
            w.write_all(b",\n\"kernel_digests\": ")?;
            json(w, kernel_digests)?;
        }
        if !setups.is_empty() {
            w.write_all(b",\n\"setups\": ")?;
            lines(w, setups)?;
        }
        if let Some(aa) = aa {
            w.write_all(b",\n\"aa\": ")?;
            json(w, aa)?;
        }
        w.write_all(b",\n\"cells\": ")?;
        lines(w, cells)?;
        w.write_all(b",\n\"warnings\": ")?;
        lines(w, warnings)?;
        Ok(w.write_all(b"\n}\n")?)
    }
}

/// How the policies of one configuration were brought into force on one kernel, in its
/// first boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyProof {
    /// Kernel.
    pub kernel: String,
    /// Configuration.
    pub configuration: Configuration,
    /// What was done, and what was denied and allowed, in order.
    pub steps: Vec<String>,
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `lsmeter`.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Tool {
    /// This program.
    pub fn this() -> Tool {
        Tool {
            name: "lsmeter".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// One of the environments of a document that was put together, and its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// What they ran on.
    pub environment: Environment,
    /// Positions in `cells`, from 0, in order; none, if none of the cells ran there.
    pub cells: Vec<u32>,
}

/// What an experiment ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The host's distribution, as `/etc/os-release` names it.
    pub os: String,
    /// The host's `uname -r`.
    pub host_kernel: String,
    /// The host's processor model.
    pub cpu: String,
    /// Processors that the run could use.
    pub cores: u32,
    /// Was KVM used?
    pub kvm: bool,
    /// What drove the guests' clock.
    pub clock: Clock,
    /// The emulator; missing on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qemu: Option<Emulator>,
    /// LSMs active on the host, where they matter: on the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_lsms: Vec<String>,
}

impl Environment {
    /// The machine, as far as figures of a metric depend on it: figures of different
    /// machines are not put beside each other. Counts depend on the emulated processor and
    /// on what drives its clock; times on everything.
    pub fn machine(&self, metric: Metric) -> String {
        let emulated = self.qemu.as_ref().map(|qemu| match metric {
            Metric::Instructions => format!("{}, {} clock", qemu.cpu, self.clock),
            Metric::Time | Metric::Throughput => {
                format!("QEMU {}, {}, {} clock", qemu.version, qemu.cpu, self.clock)
            }
        });
        if metric == Metric::Instructions {
            return emulated.unwrap_or_default();
        }
        let mut text = format!("{}, {} processors", self.cpu, self.cores);
        if self.kvm {
            text += ", KVM";
        }
        match emulated {
            Some(emulated) => text + ", " + &emulated,
            None => text,
        }
    }

    /// What must be the same for figures of a metric to stand in one document as those of
    /// one run: stricter than [`Environment::machine`]. Of counts all of QEMU, of times
    /// also the running kernel where that is what is measured.
    pub fn fingerprint(&self, metric: Metric) -> String {
        match (&self.qemu, metric) {
            (Some(qemu), Metric::Instructions) => format!(
                "QEMU {} ({}, {}), {} clock",
                qemu.version, qemu.machine, qemu.cpu, self.clock
            ),
            (Some(_), _) => self.machine(metric),
            (None, _) => format!(
                "{}, Linux {} with {}",
                self.machine(metric),
                self.host_kernel,
                self.host_lsms.join(",")
            ),
        }
    }
}

/// The emulator and the machine it emulates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Emulator {
    /// QEMU's version.
    pub version: String,
    /// `-cpu`.
    pub cpu: String,
    /// `-machine`.
    pub machine: String,
    /// The TCG plugin interface; missing if no plugin was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin_api: Option<PluginApi>,
}

/// Versions of QEMU's TCG plugin interface (`qemu_plugin_info_t.version`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginApi {
    /// The oldest that QEMU serves.
    pub min: u32,
    /// QEMU's own.
    pub current: u32,
}

/// A reason to doubt a run, in part or as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Which one.
    pub kind: WarningKind,
    /// What was seen, in one or two sentences.
    pub message: String,
    /// What to do about it.
    pub advice: String,
    /// Positions in `cells` of those it concerns, from 0; empty: the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<u32>,
}

impl Warning {
    /// A warning with its kind's usual advice, about the whole run.
    pub fn new(kind: WarningKind, message: impl Into<String>) -> Warning {
        Warning {
            kind,
            message: message.into(),
            advice: kind.advice().to_owned(),
            cells: Vec::new(),
        }
    }
}

/// All reasons to doubt a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Time was taken in an emulated processor: it is no silicon's time.
    EmulatedTime,
    /// So many windows were dirty that the modal path rests on few.
    DirtyWindows,
    /// No path through the kernel is clearly the most frequent.
    UnstablePath,
    /// The clock's share of a sample is above what was asked for.
    ClockShare,
    /// The measuring thread could not be pinned to a processor.
    NotPinned,
    /// The processor's frequency may have changed while measuring.
    Throttling,
    /// The rounds of a timed cell disagree: something drifted.
    Drift,
    /// The same experiment gave other counts when it was run again.
    AaDiffers,
    /// More rules, or more layers, measured less: something else was measured too.
    NonMonotone,
    /// The kernel runs modules that the stack does not name and cannot leave out.
    ExtraModules,
    /// The kernel does not name its functions: fewer windows can be counted.
    NoSymbols,
    /// A slope is not what was counted.
    SlopeDiffers,
    /// Hooks that were to be delayed cannot be: what is asked there is in no slope.
    UndelayedHooks,
    /// Hooks were called and are in no figure.
    LostCalls,
    /// Some cells failed or were unsupported.
    MissingCells,
    /// The run was ended before all cells were measured.
    Interrupted,
    /// Part of the kernel index could not be refreshed.
    StaleIndex,
    /// A kind that this version does not know; the message still holds.
    #[serde(other)]
    Other,
}

impl WarningKind {
    /// What a user can do about it.
    pub fn advice(self) -> &'static str {
        match self {
            WarningKind::EmulatedTime => {
                "use the metric instructions, or measure time on the host or with KVM"
            }
            WarningKind::DirtyWindows => "raise samples, or use the deterministic clock",
            WarningKind::UnstablePath => {
                "raise warmup and samples, and look at the other paths (details)"
            }
            WarningKind::ClockShare => {
                "the operation cannot be batched further: read the figure as an upper bound"
            }
            WarningKind::NotPinned => "allow sched_setaffinity, or expect a wider interval",
            WarningKind::Throttling => {
                "fix the processor's frequency (cpupower frequency-set) and leave the machine idle"
            }
            WarningKind::Drift => "leave the machine idle and raise rounds",
            WarningKind::AaDiffers => {
                "use the deterministic clock and raise warmup; a difference of this size says nothing"
            }
            WarningKind::NonMonotone => {
                "do not trust differences of this size: leave the machine idle, and raise \
                 rounds and samples"
            }
            WarningKind::ExtraModules => {
                "compare stacks of the same kernel only: every one has these modules"
            }
            WarningKind::NoSymbols => {
                "build the kernel with CONFIG_KALLSYMS=y, or give the unstripped vmlinux beside it"
            }
            WarningKind::SlopeDiffers => {
                "look at the slopes hook by hook, and at the reason given there"
            }
            WarningKind::UndelayedHooks => {
                "read slopes over all hooks as those of the others; the Tunable Security Module \
                 delays every hook, in a kernel built with it"
            }
            WarningKind::LostCalls => {
                "read the counts as lower bounds; watch fewer hooks, or processes"
            }
            WarningKind::MissingCells => "see each cell's reason",
            WarningKind::Interrupted => "run again for the rest; `lsmeter run` takes --resume",
            WarningKind::StaleIndex => {
                "check the network and fetch the kernel again if its version matters"
            }
            WarningKind::Other => "see the documentation of the version that wrote it",
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            WarningKind::EmulatedTime => "emulated time",
            WarningKind::DirtyWindows => "dirty windows",
            WarningKind::UnstablePath => "unstable path",
            WarningKind::ClockShare => "clock share",
            WarningKind::NotPinned => "not pinned",
            WarningKind::Throttling => "throttling",
            WarningKind::Drift => "drift",
            WarningKind::AaDiffers => "A/A differs",
            WarningKind::NonMonotone => "non-monotone",
            WarningKind::ExtraModules => "extra modules",
            WarningKind::NoSymbols => "no symbols",
            WarningKind::SlopeDiffers => "slope differs",
            WarningKind::UndelayedHooks => "undelayed hooks",
            WarningKind::LostCalls => "lost calls",
            WarningKind::MissingCells => "missing cells",
            WarningKind::Interrupted => "interrupted",
            WarningKind::StaleIndex => "stale index",
            WarningKind::Other => "other",
        })
    }
}
