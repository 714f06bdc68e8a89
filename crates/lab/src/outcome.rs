// SPDX-License-Identifier: GPL-2.0-or-later
//! Results of an experiment: its result file, and further data of its cells.

use std::collections::{BTreeMap, BTreeSet};

use counts::profile::CellProfile;
use model::{Document, Key};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<CellProfile>,
    /// In a sweep: each operation's value in order, in the metric's unit; None if the operation was
    /// interrupted. Operation `i` ran under point `i % points`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<Vec<Option<f64>>>,
    /// In a sweep that lists them: hook calls of one operation, in order, as `HOOK OBJECT DETAIL`
    /// (`crates/sensitivity/kernel/README.md`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// In a sweep: listed hooks that the kernel cannot delay. Their points had no effect.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub undelayed: BTreeSet<String>,
}

pub type JournalEntry = model::journal::JournalEntry<Trace>;

#[derive(Debug)]
pub struct Outcome {
    pub run: Document,
    /// Cancelled before all cells were measured; the journal can be resumed.
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
            .and_then(|of| of.operations.as_deref());
        operations.unwrap_or_default()
    }

    pub fn undelayed(&self, kernel: &str) -> BTreeSet<String> {
        let of = self.traces.iter().filter(|(key, _)| key.kernel == kernel);
        of.flat_map(|(_, trace)| trace.undelayed.clone()).collect()
    }
}
