// SPDX-License-Identifier: GPL-2.0-or-later
//! Results of an experiment: its result file, and further data of its measurements.

use std::collections::{BTreeMap, BTreeSet};

use counts::profile::CellProfile;
use model::{Cell, Document, Key, PolicyProof, Warning};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    pub profile: Option<CellProfile>,
    /// In a sweep: each operation's value, in order, in the metric's unit. None if the operation
    /// was interrupted. Operation `i` ran under point `i % points`.
    pub operations: Option<Vec<Option<f64>>>,
    /// In a sweep that lists them: hook calls of one operation, in order, as `HOOK OBJECT DETAIL`
    /// (`crates/sensitivity/kernel/README.md`).
    pub questions: Vec<String>,
    /// In a sweep: listed hooks that the kernel cannot delay. Their points had no effect.
    pub undelayed: BTreeSet<String>,
}

/// A finished measurement, ok or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    pub cell: Cell,
    /// Their `cells` are empty: positions are known once the result file is complete.
    pub warnings: Vec<Warning>,
    pub proof: Option<PolicyProof>,
    pub trace: Trace,
}

#[derive(Debug)]
pub struct Outcome {
    pub run: Document,
    /// Whether the run was cancelled before all measurements were made.
    pub cancelled: bool,
    pub traces: BTreeMap<Key, Trace>,
}

impl Outcome {
    pub fn profile(&self, cell: &Key) -> Option<&CellProfile> {
        self.traces.get(cell)?.profile.as_ref()
    }

    pub fn operations(&self, cell: &Key) -> &[Option<f64>] {
        let operations = self
            .traces
            .get(cell)
            .and_then(|trace| trace.operations.as_deref());
        operations.unwrap_or_default()
    }

    pub fn undelayed(&self, kernel: &str) -> BTreeSet<String> {
        let traces = self.traces.iter().filter(|(key, _)| key.kernel == kernel);
        traces
            .flat_map(|(_, trace)| trace.undelayed.clone())
            .collect()
    }
}
