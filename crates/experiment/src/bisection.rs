// SPDX-License-Identifier: GPL-2.0-or-later
//! The commit of a git history with which counts changed.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::comparison::ComparisonDocument;
use crate::document::{DocumentFault, Kind, Stored};
use crate::environment::Tool;
use crate::metric::Metric;
use crate::words::{UnknownWord, words};

words! {
    /// What a commit's counts are beside those of the good end.
    StepVerdict, "verdict":
    /// They are the same, or within the limit.
    Good = "good",
    /// They differ, or are above the limit.
    Bad = "bad",
    /// It cannot be told: it does not build, boot or count.
    Skipped = "skipped",
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    pub hash: String,
    pub short: String,
    pub author: String,
    /// When: RFC 3339.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// A figure of a cell in one commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepFigure {
    /// Stack and what else is at work: `capability,selinux (enforcing)`.
    pub configuration: String,
    /// Benchmark and variant: `open:AA`.
    pub operation: String,
    pub metric: Metric,
    /// How many; None if the cell has no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectionStep {
    pub commit: Commit,
    pub verdict: StepVerdict,
    /// Seconds that building it took; None if it was measured before, or its document was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_s: Option<f64>,
    /// Objects that were compiled, where lsmeter builds itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<u64>,
    /// Its figures; none if it was skipped without being measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<StepFigure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What `lsmeter bisect` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter bisection")]
pub struct BisectionDocument {
    pub tool: Tool,
    /// The repository, as the user named it.
    pub repository: String,
    /// The end whose counts are those that the others are held against.
    pub good: Commit,
    pub bad: Commit,
    /// Commits after the good end up to the bad one: each could be the first bad one.
    pub range: u64,
    /// How much worse a commit may be to be good; None: it may not differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Commits that were looked at, the good end first.
    pub steps: Vec<BisectionStep>,
    /// The first commit with the change; None if several could be it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_bad: Option<Commit>,
    /// Commits of which each could be the first bad one, since those between were skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Commit>,
    /// The good commit that the first bad one is compared with: its parent, or if that was not
    /// measured another that has the same counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Commit>,
    /// What the first bad commit changed, against `before`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<ComparisonDocument>,
}

impl BisectionDocument {
    /// Builds for it, with those that failed.
    pub fn builds(&self) -> usize {
        let built = |step: &&BisectionStep| step.build_s.is_some();
        self.steps.iter().filter(built).count()
    }
}

impl Stored for BisectionDocument {
    const KIND: Kind = Kind::Bisection;

    fn check(&self) -> Result<(), DocumentFault> {
        self.comparison.as_ref().map_or(Ok(()), Stored::check)
    }
}
