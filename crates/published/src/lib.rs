// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures, and a run's own next to them.
//!
//! [`published`] has every figure of `crates/published/data/` with its place in the source;
//! [`beside()`] compares a run, with a [`Verdict`] and possible explanations. The crate `report`
//! makes tables of them.
//!
//! Published times are of other machines: only relative overheads and counts are compared, never a
//! time with an instruction count.

mod beside;
mod counts;
mod explanation;
mod lookup;
mod over_layouts;
mod publication;
mod read;

use std::fmt;
use std::sync::LazyLock;

use model::{AuditRules, Cell, ImaPolicy, Integrity, Policy, Settings, Stack, glob};
use serde::Deserialize;

pub use beside::{Beside, Comparison, Time, Verdict, beside};
pub use explanation::{Explanation, Instead, Kind, Larger, explanations};
pub use over_layouts::{OverLayouts, OwnTest};
pub use publication::{
    Alternatives, Answer, Cause, Content, Publication, Row, State, Summary, publication,
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// First part of its figures' ids: `paper`.
    pub id: String,
    pub title: String,
    pub cite: String,
    /// Machine and system, as far as published.
    pub setting: String,
    pub lines: String,
}

/// A stack with its policies, as published or a substitute.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// As in `lsm=`; `none` for a kernel without LSMs (the paper's DAC).
    pub stack: Stack,
    #[serde(default)]
    pub policy: Policy,
    #[serde(default)]
    pub integrity: Vec<Integrity>,
    /// Rules in addition to the necessary ones, where their number matters.
    #[serde(default)]
    pub rules: Option<u32>,
    #[serde(default)]
    pub audit_rules: Option<AuditRules>,
    #[serde(default)]
    pub ima_policy: Option<ImaPolicy>,
    /// Difference from the published configuration; None: the same.
    #[serde(default)]
    pub why: Option<String>,
}

impl Setup {
    /// Whether a cell has this setup. Sizes of policies are ignored unless set.
    pub fn is_of(&self, cell: &Cell) -> bool {
        let names = self.stack.as_str().split(',');
        self.policy == cell.key.policy
            && (self.rules.is_none() || self.rules == cell.key.settings.rules)
            && (self.audit_rules.is_none() || self.audit_rules == cell.key.settings.audit_rules)
            && self.ima_policy == cell.key.settings.ima_policy
            && names.eq(cell.key.stack.iter().map(String::as_str))
            && (self.integrity.iter()).all(|i| cell.key.integrity.contains(i))
            && (cell.key.integrity.iter()).all(|i| self.integrity.contains(i))
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

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operation {
    pub benchmark: String,
    /// `AA/BB`; empty for a workload.
    pub variant: String,
}

impl Operation {
    /// Parses `open:AA/BB`, or a program, which has no variants.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// (tested - baseline) / baseline of a latency, as a fraction: 0.87 is 87 %.
    Overhead,
    /// (baseline - tested) / baseline of a throughput, as a fraction.
    ThroughputOverhead,
    Latency,
    /// Time beyond the baseline's, in microseconds.
    AddedLatency,
    Throughput,
    /// Mean time of one call of a hook, in microseconds.
    HookTime,
    /// Calls of the hooks per operation.
    HookCalls,
    /// Fraction of all hook calls.
    HookShare,
    /// Calls of the hooks per operation, from the slope of latency over the delay of each call.
    Slope,
    /// Upper bound of calls of the module's implementations per operation, from static analysis;
    /// per path component if the figure is.
    CallsAtMost,
    /// Lower bound of hook calls per operation, from a specification.
    CallsAtLeast,
    /// Calls of the modules' implementations, over all operations together.
    Checks,
    ModuleHooks,
    Lines,
    SystemCalls,
}

impl Quantity {
    pub fn as_str(self) -> &'static str {
        self.words()[0]
    }

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

    pub fn is_overhead(self) -> bool {
        matches!(self, Quantity::Overhead | Quantity::ThroughputOverhead)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    #[default]
    Each,
    /// Sum of the figures over the sum of the baselines.
    Mean,
    Median,
    Largest,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Unique: `paper:table1.current-selinux.open`.
    pub id: String,
    pub source: String,
    pub place: String,
    /// Place in the text, in units of [`Source::lines`].
    pub lines: String,
    pub kernel: String,
    pub theirs: String,
    /// The configuration, then substitutes; empty if none is involved.
    #[serde(default)]
    pub tested: Vec<Setup>,
    #[serde(default)]
    pub baseline: Vec<Setup>,
    /// Kernel of the tested side, and of the baseline if that is another.
    pub tested_kernel: Option<String>,
    pub baseline_kernel: Option<String>,
    #[serde(skip)]
    pub ours: Vec<Operation>,
    #[serde(default)]
    pub over: Over,
    /// Hook names, `*` at the end matches anything. Several are added up.
    #[serde(default)]
    pub hooks: Vec<String>,
    /// Modules whose hooks or lines are added up; `framework` is the LSM framework.
    #[serde(default)]
    pub modules: Vec<String>,
    /// Subset of their hooks: a category of Table 5, or `general`; None: all.
    pub of: Option<String>,
    pub quantity: Quantity,
    /// Value or lower bound; None: only an upper bound is published.
    pub low: Option<f64>,
    /// Value or upper bound; None: only a lower bound is published.
    pub high: Option<f64>,
    /// Only the magnitude is published, not the sign.
    #[serde(default)]
    pub unsigned: bool,
    #[serde(default)]
    pub per_component: bool,
    /// Values that it is the mean of, in its unit; empty if not published.
    #[serde(default)]
    pub single: Vec<f64>,
    /// For an overhead between means with single values: ids of tested and baseline figure.
    pub of_means: Option<[String; 2]>,
    /// Caveats: contradictions, what the text leaves open.
    pub note: Option<String>,
}

static PUBLISHED: LazyLock<read::Published> =
    LazyLock::new(|| read::published().expect("the embedded figures; a test reads them"));

pub fn published() -> &'static [Figure] {
    &PUBLISHED.figures
}

pub fn sources() -> &'static [Source] {
    &PUBLISHED.sources
}

/// Figures whose id matches `pattern` (`*` matches anything).
pub fn named(pattern: &str) -> impl Iterator<Item = &'static Figure> {
    published()
        .iter()
        .filter(move |figure| glob(pattern, &figure.id))
}
