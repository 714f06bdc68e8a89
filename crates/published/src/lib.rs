// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures that others published, and a run's own beside them.
//!
//! [`published`] gives every figure of `crates/published/data/`, with where it stands in
//! its source; [`beside()`] puts what a run measured next to those that it can answer, with a
//! [`Verdict`] and what could explain a difference. Tables of them are the report's.
//!
//! Theirs are times on the machines of their day. Only relative overheads and counts are
//! ever compared, never a time with an instruction.

mod alternatives;
mod beside;
mod cannot;
mod counts;
mod explanation;
mod hook_cost;
mod lookup;
mod over_layouts;
mod placements;
mod publication;
mod read;

use std::fmt;
use std::sync::LazyLock;

use model::{AuditRules, Cell, ImaPolicy, Integrity, Policy, Settings, Stack, glob};
use serde::Deserialize;

pub use alternatives::Alternatives;
pub use beside::{Beside, Comparison, Time, Verdict, beside};
pub use explanation::{Explanation, Instead, Kind, Larger, explanations};
pub use over_layouts::{OverLayouts, OwnTest};
pub use publication::{
    Answer, Cause, Content, Given, Publication, Row, State, Summary, publication,
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Short name, the first part of its figures' ids: `paper`.
    pub id: String,
    pub title: String,
    /// Where to find it.
    pub cite: String,
    /// What was measured on, as far as it says.
    pub setting: String,
    /// What a figure's `lines` count.
    pub lines: String,
}

/// A stack with the state of its policies, as a figure was measured with or as comes near.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// As `lsm=` has it; `none` for a kernel without LSMs (the paper's DAC).
    pub stack: Stack,
    #[serde(default)]
    pub policy: Policy,
    /// Integrity subsystems at work, in the order of [`Integrity::ALL`].
    #[serde(default)]
    pub integrity: Vec<Integrity>,
    /// Rules more than it needs, where their number matters.
    #[serde(default)]
    pub rules: Option<u32>,
    /// Rules of audit, where they matter.
    #[serde(default)]
    pub audit_rules: Option<AuditRules>,
    /// Rules of IMA; None: lsmeter's own.
    #[serde(default)]
    pub ima_policy: Option<ImaPolicy>,
    /// In what it differs from the published configuration; None: it is that.
    #[serde(default)]
    pub why: Option<String>,
}

impl Setup {
    /// Was this cell measured with it? Sizes of policies do not matter where it names none.
    pub fn is_of(&self, cell: &Cell) -> bool {
        let names = self.stack.as_str().split(',');
        self.policy == cell.key.policy
            && (self.rules.is_none() || self.rules == cell.key.settings.rules)
            && (self.audit_rules.is_none() || self.audit_rules == cell.key.settings.audit_rules)
            && self.ima_policy == cell.key.settings.ima_policy
            && names.eq(cell.key.stack.iter().map(String::as_str))
            && self
                .integrity
                .iter()
                .all(|i| cell.key.integrity.contains(i))
            && cell
                .key
                .integrity
                .iter()
                .all(|i| self.integrity.contains(i))
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&model::configuration_title(
            self.stack.as_str(),
            &self.integrity,
            self.policy,
            &Settings {
                rules: self.rules,
                audit_rules: self.audit_rules,
                ima_policy: self.ima_policy,
                ..Settings::default()
            },
        ))
    }
}

/// One of our benchmarks that stands for one of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operation {
    /// Benchmark: `open`; or a workload: `fork-exit`.
    pub benchmark: String,
    /// Its variant: `AA/BB`; empty of a workload.
    pub variant: String,
}

impl Operation {
    /// `open:AA/BB`, or a program, which has no variants.
    pub(crate) fn named(name: &str) -> Operation {
        let (benchmark, variant) = name.split_once(':').unwrap_or((name, ""));
        Operation {
            benchmark: benchmark.to_owned(),
            variant: variant.to_owned(),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variant.as_str() {
            "" => f.write_str(&self.benchmark),
            variant => write!(f, "{}:{variant}", self.benchmark),
        }
    }
}

/// What a figure is, and with that its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// (tested - baseline) / baseline of a latency, as a fraction: 0.87 is 87 %.
    Overhead,
    /// (baseline - tested) / baseline of a throughput, as a fraction.
    ThroughputOverhead,
    Latency,
    /// Time of an operation beyond the baseline's, in microseconds.
    AddedLatency,
    /// Megabytes per second.
    Throughput,
    /// Mean time of one call of a hook, in microseconds.
    HookTime,
    /// Calls of the hooks per operation, as counted.
    HookCalls,
    /// The hooks' part of all calls of hooks, as a fraction.
    HookShare,
    /// Calls of the hooks per operation, as the slope of the operation's latency over
    /// the latency of each call.
    Slope,
    /// Most calls of the module's implementations of the hooks per operation, from
    /// static analysis; per component of the path if the figure says so.
    CallsAtMost,
    /// Fewest calls of hooks per operation, from a specification.
    CallsAtLeast,
    /// Calls of the modules' implementations of the hooks, over all operations together.
    Checks,
    /// Hooks that a module implements, or that the framework has.
    ModuleHooks,
    Lines,
    /// System calls of one operation.
    SystemCalls,
}

impl Quantity {
    pub fn as_str(self) -> &'static str {
        self.words()[0]
    }

    /// Its unit, for a table or a CSV column; empty for a plain number.
    pub fn unit(self) -> &'static str {
        self.words()[1]
    }

    fn words(self) -> [&'static str; 2] {
        let calls = "calls per operation";
        match self {
            Quantity::Overhead => ["overhead", "fraction"],
            Quantity::ThroughputOverhead => ["overhead of throughput", "fraction"],
            Quantity::Latency => ["latency", "us"],
            Quantity::AddedLatency => ["added latency", "us"],
            Quantity::Throughput => ["throughput", "MB/s"],
            Quantity::HookTime => ["time of a hook", "us"],
            Quantity::HookCalls => ["calls of hooks", calls],
            Quantity::HookShare => ["share of hook calls", "fraction"],
            Quantity::Slope => ["slope", calls],
            Quantity::CallsAtMost => ["calls at most", calls],
            Quantity::CallsAtLeast => ["calls at least", calls],
            Quantity::Checks => ["checks", "checks"],
            Quantity::ModuleHooks => ["hooks", "hooks"],
            Quantity::Lines => ["lines of code", "lines"],
            Quantity::SystemCalls => ["system calls", "system calls"],
        }
    }

    /// Is it an overhead, of a latency or a throughput?
    pub fn is_overhead(self) -> bool {
        matches!(self, Quantity::Overhead | Quantity::ThroughputOverhead)
    }
}

/// How several of our benchmarks stand for one figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Each of them does, alone.
    #[default]
    Each,
    /// Their mean: the sum of the figures against the sum of the baselines'.
    Mean,
    Median,
    /// The largest of their overheads.
    Largest,
}

/// One published figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Unique: `paper:table1.current-selinux.open`.
    pub id: String,
    pub source: String,
    pub place: String,
    /// Where in the text, as [`Source::lines`] counts.
    pub lines: String,
    /// Kernel measured: `5.3.0`.
    pub kernel: String,
    pub theirs: String,
    /// The configuration, then what may stand for it; empty if none plays a part.
    pub tested: Vec<Setup>,
    pub baseline: Vec<Setup>,
    /// Kernels of the two sides, where they are not the same kernel.
    pub kernels: Option<[String; 2]>,
    /// Which of our benchmarks stand for theirs; none if we have none.
    pub ours: Vec<Operation>,
    pub over: Over,
    /// Hooks that it is of, by name; a `*` at the end stands for anything. Several are
    /// added up.
    pub hooks: Vec<String>,
    /// Modules whose hooks or lines it counts, added up; `framework` is what they stand in.
    pub modules: Vec<String>,
    /// Which of their hooks: a category of Table 5, or `general`; all of them where it says
    /// nothing.
    pub of: Option<String>,
    pub quantity: Quantity,
    /// The value, or its lower bound; None: only an upper bound is published.
    pub low: Option<f64>,
    /// The value, or its upper bound; None: only a lower bound is published.
    pub high: Option<f64>,
    /// Only its size is published, not which way it goes.
    pub unsigned: bool,
    /// It is for each component of the path.
    pub per_component: bool,
    /// The single values that it is the mean of, in its unit; empty where none are published.
    pub single: Vec<f64>,
    /// The figures that an overhead is of, where they have single values: tested, baseline; by id.
    pub of_means: Option<[String; 2]>,
    /// What a reader should know: contradictions, what the text leaves open.
    pub note: Option<String>,
}

static PUBLISHED: LazyLock<read::Published> =
    LazyLock::new(|| read::published().expect("the embedded figures; a test reads them"));

/// All published figures, in the order of the sources.
pub fn published() -> &'static [Figure] {
    &PUBLISHED.figures
}

/// Where they come from.
pub fn sources() -> &'static [Source] {
    &PUBLISHED.sources
}

/// The published figures whose id fits `pattern`, in which `*` stands for anything.
pub fn named(pattern: &str) -> impl Iterator<Item = &'static Figure> {
    published()
        .iter()
        .filter(move |figure| glob(pattern, &figure.id))
}
