// SPDX-License-Identifier: GPL-2.0-or-later
//! Whether instruments agree on the same operations, and the document that says so.

mod summary;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentFault, Kind, Stored, all_sound, printable, sound};
use crate::environment::{Environment, Tool};
use crate::evidence::FunctionDifference;
use crate::sweep::ALL_HOOKS;
use crate::words::{CheckVerdict, Instrument, InstrumentStatus};

pub use summary::{CheckSummary, PairSummary, Verdicts};

/// Whether the instruments agree on a kernel: `lsmeter check --json`. See
/// [`CheckDocument::read`] and [`CheckDocument::write`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter check document")]
pub struct CheckDocument {
    /// What wrote it.
    pub tool: Tool,
    /// What the profile was made on; None without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// Kernel as the user named it.
    pub kernel: String,
    /// `uname -r` as the guest reported it.
    pub release: String,
    /// The stack whose hooks are compared.
    pub stack: Vec<String>,
    /// File system worked on; documents of version 1 call it `fs`.
    #[serde(alias = "fs")]
    pub filesystem: String,
    /// What became of each instrument.
    pub instruments: Vec<CheckedInstrument>,
    /// Benchmarks, in the order of the suite.
    pub benchmarks: Vec<CheckedBenchmark>,
    /// Further stacks, against the first: what differs outside hooks.
    pub residuals: Vec<CheckedResidual>,
    /// How many agree.
    pub summary: CheckSummary,
    /// Facts that explain nothing here.
    #[serde(default)]
    pub unused_facts: Vec<String>,
}

/// An instrument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedInstrument {
    /// Which.
    pub instrument: Instrument,
    /// What became of it.
    pub status: InstrumentStatus,
    /// Why it was not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Hooks that it cannot see, or not delay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind: Vec<String>,
}

/// An operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedBenchmark {
    /// Benchmark.
    pub benchmark: String,
    /// Its variant; may be empty.
    pub variant: String,
    /// Hooks of which any instrument has a figure, by name; `all` is the sum over those that were
    /// delayed together.
    pub hooks: Vec<CheckedHook>,
    /// Instruments that have no figures of this operation, though of others, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingInstrument>,
}

/// An instrument that has no figures of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingInstrument {
    /// Which.
    pub instrument: Instrument,
    /// It failed, which is not what it should do.
    pub failed: bool,
    /// Why.
    pub reason: String,
}

/// What the instruments say of one hook in one operation. Figures are calls in one operation;
/// None where an instrument has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedHook {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// Calls that the profile counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<u64>,
    /// Calls that the monitor counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<f64>,
    /// Slope of the operation's cost over the time of the hook's decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// Calls on the nominal path by source: shown, not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal: Option<u64>,
    /// Calls at most by source; None beside a nominal count: without bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<u64>,
    /// Whether these figures agree.
    pub verdict: CheckVerdict,
    /// Pairs of instruments that do not agree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<ApartInstruments>,
    /// Why they do not, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// Two instruments that do not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApartInstruments {
    /// One of them.
    pub first: Instrument,
    /// The other, after the first in the order of [`Instrument::ALL`].
    pub second: Instrument,
    /// Is it known why?
    pub explained: bool,
}

/// An operation under a stack, against the first stack. Figures are guest kernel
/// instructions per operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedResidual {
    /// The stack.
    pub stack: Vec<String>,
    /// The first stack.
    pub baseline: Vec<String>,
    /// Benchmark.
    pub benchmark: String,
    /// Its variant; may be empty.
    pub variant: String,
    /// By how much the operation differs.
    pub difference: i64,
    /// What of that is inside hooks.
    pub explained: i64,
    /// What is not.
    pub residual: i64,
    /// Where that is; they sum up to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionDifference>,
    /// Agree: nothing is outside. Alone: the operation takes no one path that could be
    /// compared.
    pub verdict: CheckVerdict,
}

impl CheckedBenchmark {
    /// `benchmark:variant`, or `benchmark` if there is only one variant.
    pub fn title(&self) -> String {
        crate::key::title(&self.benchmark, &self.variant)
    }
}

impl CheckedResidual {
    /// `benchmark:variant`, or `benchmark` if there is only one variant.
    pub fn title(&self) -> String {
        crate::key::title(&self.benchmark, &self.variant)
    }
}

impl CheckedHook {
    /// Has this instrument a figure of it?
    pub fn tells(&self, instrument: Instrument) -> bool {
        match instrument {
            Instrument::Profile => self.profile.is_some(),
            Instrument::Monitor => self.monitor.is_some(),
            Instrument::Sensitivity => self.slope.is_some(),
            // A hook without bound cannot be called too often.
            Instrument::Placement => self.maximum.is_some(),
        }
    }

    /// Is it one hook, not a sum over several?
    pub fn is_of_a_hook(&self) -> bool {
        self.hook != ALL_HOOKS
    }

    /// These two, in this order, if they do not agree.
    pub fn apart_of(&self, first: Instrument, second: Instrument) -> Option<&ApartInstruments> {
        let mut apart = self.apart.iter();
        apart.find(|apart| apart.first == first && apart.second == second)
    }

    fn contradiction(&self) -> Option<String> {
        let hook = printable(&self.hook);
        let figures = self.monitor.iter().chain(&self.slope);
        if figures.into_iter().any(|figure| !figure.is_finite()) {
            return Some(format!("a figure of {hook} is not finite"));
        }
        let silent = |at: &&ApartInstruments| !self.tells(at.first) || !self.tells(at.second);
        if let Some(apart) = self.apart.iter().find(silent) {
            return Some(format!(
                "{hook}: {} and {} do not agree, but one of them tells nothing",
                apart.first, apart.second
            ));
        }
        let unexplained = self.apart.iter().any(|apart| !apart.explained);
        let fits = match self.verdict {
            CheckVerdict::Agree | CheckVerdict::Alone => self.apart.is_empty(),
            CheckVerdict::Explained => !self.apart.is_empty() && !unexplained,
            CheckVerdict::Disagree => unexplained,
        };
        (!fits).then(|| {
            format!(
                "{hook}: the verdict {} is not what its pairs say",
                self.verdict
            )
        })
    }
}

impl Stored for CheckDocument {
    const KIND: Kind = Kind::Check;

    fn check(&self) -> Result<(), DocumentFault> {
        all_sound("benchmarks", &self.benchmarks, |benchmark| {
            benchmark.hooks.iter().find_map(CheckedHook::contradiction)
        })?;
        all_sound("residuals", &self.residuals, |residual| {
            let sum = i128::from(residual.explained) + i128::from(residual.residual);
            let differs = sum != i128::from(residual.difference);
            differs.then(|| "the difference is not the sum of its parts".to_owned())
        })?;
        let differs = self.summary != CheckSummary::of(&self.benchmarks, &self.residuals);
        let message = "it is not what the hooks and residuals sum up to";
        sound("summary", differs.then(|| message.to_owned()))
    }
}
