// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences between two result files, and the result file that lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::aa::AaReport;
use crate::document::{DocumentFault, Kind, Stored, all_sound};
use crate::environment::Tool;

mod cell;
mod explain;
mod words;

pub use cell::{CellGate, ComparedCell, Figure, Limit, Place, UnmatchedCell};
pub use explain::{
    CallerChange, EventChange, Explanation, HookChange, ImplementationChange, WordChange,
};
pub use words::{Axis, GateVerdict, Method, Side, Verdict};

/// Result file of `lsmeter compare`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter comparison result file")]
pub struct ComparisonDocument {
    pub tool: Tool,
    pub base: Source,
    pub new: Source,
    /// The compared axis within one run.
    pub across: Option<Axis>,
    pub judgement: Judgement,
    /// Keys that had to match, and those that could differ.
    pub matched_by: Vec<String>,
    /// Differences between the two environments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentDifference>,
    /// Known false alarms of this machine.
    pub aa: Option<AaReport>,
    /// Measurements that both sides have, in the order of NEW.
    pub compared: Vec<ComparedCell>,
    /// Measurements that only one side has.
    #[serde(default)]
    pub unmatched: Vec<UnmatchedCell>,
    /// Hooks that account for the differences, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<Explanation>,
    /// The gate's result, if there is one.
    pub gate: Option<Gate>,
    /// Warnings of both result files, and of the comparison.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One of the compared result files.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Name given by the user: a file, or a value of the axis.
    pub name: String,
    /// Kind of result file: `run result file`.
    pub document: String,
    pub tool: Tool,
    /// Start of the measurements, in RFC 3339, if known.
    pub started: Option<String>,
    #[serde(rename = "measurements")]
    pub cells: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// Significance level: a difference is real if its corrected p is at most this.
    pub alpha: f64,
    /// Number of tested measurements; exact ones need no test.
    pub tested: u64,
    /// Whether differences between the environments were accepted (`--trust-environment`).
    pub trust_environment: bool,
}

/// A difference between the two environments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentDifference {
    /// Key: `cpu`, `kvm`, `qemu.version`.
    pub key: String,
    pub base: String,
    pub new: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// The worst of all measurements' results and of the doubts about the comparison as a whole.
    pub verdict: GateVerdict,
    /// Number of measurements that are worse than their limit.
    pub failed: u64,
    /// Number of measurements without a verdict.
    pub inconclusive: u64,
    /// Number of measurements within their limit.
    pub passed: u64,
    /// Why the gate is inconclusive, apart from the results of single measurements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl ComparisonDocument {
    pub fn count(&self, verdict: Verdict) -> usize {
        let has_verdict = |cell: &&ComparedCell| cell.verdict == verdict;
        self.compared.iter().filter(has_verdict).count()
    }
}

impl Stored for ComparisonDocument {
    const KIND: Kind = Kind::Comparison;

    fn check(&self) -> Result<(), DocumentFault> {
        let cells = self.compared.len();
        all_sound("compared", &self.compared, ComparedCell::contradiction)?;
        all_sound("explanations", &self.explanations, |explained| {
            explained.contradiction(cells)
        })
    }
}
