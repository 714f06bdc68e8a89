// SPDX-License-Identifier: GPL-2.0-or-later
//! How often operations ask for authorisation, and the document that holds it.

use std::io::{Read, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{
    self, Document, DocumentError, DocumentFault, DocumentKind, check_warnings, json, lines,
};
use crate::run::{Environment, PolicyProof, Tool, Warning};
use crate::words::{Caches, DelayModule, Status, Unit};

/// The delays are at every hook that the module knows.
pub const ALL_HOOKS: &str = "all";

/// What `lsmeter sensitivity` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SensitivityDocument {
    /// Version of this document's layout.
    pub schema_version: u32,
    /// What wrote it.
    pub tool: Tool,
    /// What it ran on.
    pub environment: Environment,
    /// How each kernel proved that no delay outlives whoever asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<PolicyProof>,
    /// One for each kernel, benchmark, variant, state of the caches and choice of hooks.
    pub slopes: Vec<Slope>,
    /// How the counts of a benchmark grow with the depth of its path.
    #[serde(default)]
    pub rules: Vec<DepthRule>,
    /// What decisions of a module should cost, beside what they do cost.
    #[serde(default)]
    pub predictions: Vec<Prediction>,
    /// Questions that operations ask more than once of the same object.
    #[serde(default)]
    pub repeated: Vec<RepeatedQuestion>,
    /// Reasons to doubt it.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// How an operation's cost follows the time of a policy's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slope {
    /// Kernel as the user named it.
    pub kernel: String,
    /// `uname -r` as it was reported.
    pub release: String,
    /// What delays.
    pub module: DelayModule,
    /// The stack, in order.
    pub stack: Vec<String>,
    /// The hooks at which decisions are delayed together: `["all"]` are all that the
    /// module knows.
    pub hooks: Vec<String>,
    /// It is one hook's part of the operation's slope over several hooks.
    #[serde(default)]
    pub part: bool,
    /// File system worked on.
    pub filesystem: String,
    /// What the kernel's caches know of the path before each operation.
    pub caches: Caches,
    /// Benchmark.
    pub benchmark: String,
    /// Its variant; may be empty.
    pub variant: String,
    /// System calls of one operation, in order.
    pub syscalls: Vec<String>,
    /// How it ended; without figures unless ok.
    pub status: Status,
    /// Why it is not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// β2 of the paper's Equation 1: how much longer an operation takes for each unit
    /// that a decision takes longer, which is the number of decisions it asks for.
    pub slope: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Cost of an operation whose decisions take no time, in `unit`.
    pub intercept: f64,
    /// Unit of costs. Under the deterministic clock an instruction takes a nanosecond.
    pub unit: Unit,
    /// Share of the variance that the line explains; None where nothing varies.
    pub r2: Option<f64>,
    /// How far the points are from a straight line: the sag of a parabola fitted to them
    /// as a share of the line's rise, -1 to 1; None if that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bend: Option<f64>,
    /// Largest distance of a point from the line, in `unit`.
    pub residual: f64,
    /// Operations that it was made of.
    pub n: u64,
    /// Operations left out because something else ran in them.
    pub dirty: u64,
    /// Operations left out because they lie off the line that most lie on: they took
    /// other paths through the kernel.
    #[serde(default)]
    pub others: u64,
    /// What it was fitted to.
    pub points: Vec<SlopePoint>,
    /// Calls of these hooks per operation as counted without any delay; None if nothing
    /// counted them.
    pub counted: Option<f64>,
    /// Why slope and count are not the same, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// Operations under one delay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopePoint {
    /// How much longer each decision took.
    pub delay_ns: u32,
    /// Median cost of an operation, in the slope's unit.
    pub median: f64,
    /// Operations.
    pub n: u64,
}

/// How a count follows from the depth of the path: `a·depth + b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepthRule {
    /// Kernel.
    pub kernel: String,
    /// What delays.
    pub module: DelayModule,
    /// As [`Slope::caches`].
    pub caches: Caches,
    /// Benchmark.
    pub benchmark: String,
    /// What is counted: `all`, or one hook.
    pub hook: String,
    /// For each component of the path.
    pub a: f64,
    /// Whatever its depth.
    pub b: f64,
    /// Share of the variance that the rule explains; None where the count is the same at
    /// all depths.
    pub r2: Option<f64>,
    /// Largest distance of a count from the rule.
    pub residual: f64,
    /// Depths that it was made of, in components of the path.
    pub depths: Vec<u32>,
    /// β1 of the paper's Equation 1, as far as depth can tell: what an operation without
    /// delays costs more for each further hook call, in the slopes' unit. The walk
    /// through a component of the path is part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta1: Option<f64>,
}

/// What a module's decisions should add to an operation, beside what the module adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// Kernel.
    pub kernel: String,
    /// Benchmark.
    pub benchmark: String,
    /// Its variant.
    pub variant: String,
    /// The module, or None where only a time was given.
    pub lsm: Option<String>,
    /// Instructions that one decision takes: a given number, or the mean of the module's
    /// implementations over this operation's hooks, as they cost in the other operations.
    pub decision: f64,
    /// What all decisions of the operation take together, in instructions.
    pub predicted: f64,
    /// What the module adds, in instructions.
    pub measured: Option<f64>,
    /// `(predicted - measured) / measured`.
    pub error: Option<f64>,
    /// Hooks whose cost was seen in no other operation, so that it could not be foretold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A question that an operation asks more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedQuestion {
    /// Kernel.
    pub kernel: String,
    /// Benchmark.
    pub benchmark: String,
    /// Its variant.
    pub variant: String,
    /// The hook.
    pub hook: String,
    /// What it was asked about: `inode:0:25:7`, with what else the question held.
    pub object: String,
    /// How often in one operation.
    pub times: u64,
    /// For each time the functions that led to it, outermost first.
    pub chains: Vec<Vec<String>>,
}

impl Slope {
    /// Decisions that slope and count may be apart before something has to be said.
    pub const DIFFERENCE: f64 = 0.05;

    /// `benchmark:variant`, or `benchmark` if there is only one variant.
    pub fn title(&self) -> String {
        crate::cell::title(&self.benchmark, &self.variant)
    }

    /// Is it the slope over all hooks that were delayed together?
    pub fn is_whole(&self) -> bool {
        !self.part
    }

    /// Is the slope further from the count than [`Slope::DIFFERENCE`]?
    pub fn differs(&self) -> bool {
        self.difference()
            .is_some_and(|difference| difference.abs() > Slope::DIFFERENCE)
    }

    /// Distance of the slope from the count.
    pub fn difference(&self) -> Option<f64> {
        let counted = self.counted.filter(|_| self.status == Status::Ok)?;
        Some(self.slope - counted)
    }

    fn contradiction(&self) -> Option<String> {
        let finite = [self.slope, self.ci95[0], self.ci95[1], self.intercept];
        if finite.iter().any(|figure| !figure.is_finite()) {
            return Some("a figure is none".to_owned());
        }
        if self.status == Status::Ok && self.points.is_empty() {
            return Some("a slope without points".to_owned());
        }
        let n: u128 = self.points.iter().map(|point| u128::from(point.n)).sum();
        (n != u128::from(self.n)).then(|| format!("n is {}, its points hold {n}", self.n))
    }
}

impl SensitivityDocument {
    /// Reads a document of this or an older schema version.
    ///
    /// # Errors
    /// [`DocumentError`], which says where. Reads at most
    /// [`DOCUMENT_LIMIT_BYTES`](crate::DOCUMENT_LIMIT_BYTES).
    pub fn read(reader: impl Read) -> Result<SensitivityDocument, DocumentError> {
        document::read(reader)
    }

    /// Reads a document that is in memory. Like [`SensitivityDocument::read`].
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn parse(bytes: &[u8]) -> Result<SensitivityDocument, DocumentError> {
        document::parse(bytes)
    }

    /// Writes the document: one line per slope, rule, prediction, question and warning.
    ///
    /// # Errors
    /// [`DocumentFault::Io`] when the writer fails. Flushes at the end.
    pub fn write(&self, writer: impl Write) -> Result<(), DocumentError> {
        document::write(self, writer)
    }
}

impl Document for SensitivityDocument {
    const KIND: DocumentKind = DocumentKind::Sensitivity;

    fn check(&self) -> Result<(), DocumentFault> {
        for (index, slope) in self.slopes.iter().enumerate() {
            if let Some(message) = slope.contradiction() {
                let path = format!("slopes[{index}]");
                return Err(DocumentFault::Contradiction { path, message });
            }
        }
        check_warnings(&self.warnings, self.slopes.len(), "slope")
    }

    fn write_keys(&self, w: &mut impl Write) -> Result<(), DocumentFault> {
        // Taken apart in full, so that a new key cannot be forgotten here.
        let SensitivityDocument {
            schema_version,
            tool,
            environment,
            setups,
            slopes,
            rules,
            predictions,
            repeated,
            warnings,
        } = self;
        write!(w, "{{\n\"schema_version\": {schema_version},\n\"tool\": ")?;
        json(w, tool)?;
        w.write_all(b",\n\"environment\": ")?;
        json(w, environment)?;
        if !setups.is_empty() {
            w.write_all(b",\n\"setups\": ")?;
            lines(w, setups)?;
        }
        w.write_all(b",\n\"slopes\": ")?;
        lines(w, slopes)?;
        w.write_all(b",\n\"rules\": ")?;
        lines(w, rules)?;
        w.write_all(b",\n\"predictions\": ")?;
        lines(w, predictions)?;
        w.write_all(b",\n\"repeated\": ")?;
        lines(w, repeated)?;
        w.write_all(b",\n\"warnings\": ")?;
        lines(w, warnings)?;
        Ok(w.write_all(b"\n}\n")?)
    }
}
