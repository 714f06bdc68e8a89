// SPDX-License-Identifier: GPL-2.0-or-later
//! What becomes of an experiment: its document, and what its cells leave behind.

use std::collections::{BTreeMap, BTreeSet};

use counts::profile::CellProfile;
use model::{Document, Key};
use serde::{Deserialize, Serialize};

/// What a cell left behind besides its evidence. It is in the journal, and in no document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// What was called in it, if its hooks were told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<CellProfile>,
    /// In a sweep each operation's figure in order, in the metric's unit; None where
    /// something else ran in it. Operation `i` ran under the point `i % points`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<Vec<Option<f64>>>,
    /// In a sweep that is to tell it: what one operation asked of hooks, in order, as
    /// `HOOK OBJECT DETAIL` (`crates/sensitivity/kernel/README.md`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// In a sweep: hooks that its kernel lets nobody delay although they were listed. Their
    /// points had no effect.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub undelayed: BTreeSet<String>,
}

pub type JournalEntry = model::journal::JournalEntry<Trace>;

#[derive(Debug)]
pub struct Outcome {
    pub run: Document,
    /// It was cancelled before all cells were measured; the journal can be resumed.
    pub cancelled: bool,
    pub traces: BTreeMap<Key, Trace>,
}

impl Outcome {
    /// What was called in a cell, if its hooks were told apart.
    pub fn profile(&self, cell: &Key) -> Option<&CellProfile> {
        self.traces.get(cell)?.profile.as_ref()
    }

    /// A cell's operations one by one; empty if they were not kept.
    pub fn operations(&self, cell: &Key) -> &[Option<f64>] {
        let operations = self
            .traces
            .get(cell)
            .and_then(|of| of.operations.as_deref());
        operations.unwrap_or_default()
    }

    /// Hooks that a kernel lets nobody delay.
    pub fn undelayed(&self, kernel: &str) -> BTreeSet<String> {
        let of = self.traces.iter().filter(|(key, _)| key.kernel == kernel);
        of.flat_map(|(_, trace)| trace.undelayed.clone()).collect()
    }
}
