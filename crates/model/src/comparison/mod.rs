// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences between two documents, and the document that lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aa::AaReport;
use crate::document::{DocumentFault, Kind, Stored, all_sound};
use crate::environment::Tool;

mod cell;
mod explain;
mod words;

pub use crate::words::Correction;
pub use cell::{CellGate, ComparedCell, Figure, Limit, Place, UnmatchedCell};
pub use explain::{CallerChange, EventChange, Explanation, HookChange, ImplementationChange};
pub use words::{Axis, GateVerdict, Method, Side, Verdict};

/// What `lsmeter compare` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter comparison document")]
pub struct ComparisonDocument {
    pub tool: Tool,
    pub base: Source,
    pub new: Source,
    /// What the cells differ in, if they are of one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub across: Option<Axis>,
    pub judgement: Judgement,
    /// What cells were matched by, and what was allowed to differ.
    pub matched_by: Vec<String>,
    /// Where the two were not measured alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentDifference>,
    /// What is known of this machine's false alarms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aa: Option<AaReport>,
    /// Cells of both sides, in the order of NEW.
    pub compared: Vec<ComparedCell>,
    /// Cells of one side only.
    #[serde(default)]
    pub unmatched: Vec<UnmatchedCell>,
    /// Which hooks hold the differences, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<Explanation>,
    /// What the gate says as a whole, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// Warnings of both documents, and of the comparison.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One of the documents that were compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// As the user named it: a file, or a value of the axis.
    pub name: String,
    /// Which document: `run document`.
    pub document: String,
    pub tool: Tool,
    /// When measuring began, in RFC 3339, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    #[serde(rename = "measurements")]
    pub cells: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// A difference is real if its corrected p is at most this.
    pub alpha: f64,
    pub correction: Correction,
    /// Cells that were tested: exact ones are not.
    pub tested: u64,
    /// Were differences of the environment taken as harmless?
    pub trust_environment: bool,
}

/// Something in which the two were not measured alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentDifference {
    /// What: `cpu`, `kvm`, `qemu.version`.
    pub key: String,
    pub base: String,
    pub new: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// The worst of the cells, and of what keeps the whole from being trusted.
    pub verdict: GateVerdict,
    /// Cells that are worse by more than their limit.
    pub failed: u64,
    /// Cells about which nothing can be said.
    pub inconclusive: u64,
    /// Cells that are not.
    pub passed: u64,
    /// Why it is inconclusive, beside single cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl ComparisonDocument {
    pub fn count(&self, verdict: Verdict) -> usize {
        let of = |cell: &&ComparedCell| cell.verdict == verdict;
        self.compared.iter().filter(of).count()
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
