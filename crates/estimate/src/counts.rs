// SPDX-License-Identifier: GPL-2.0-or-later
//! What operations do, and what they do under the baseline.

use experiment::{Cell, Document, Events, HookCost, HookedPath, Key};

use crate::error::EstimateError;

/// An operation under a stack, and under the baseline.
#[derive(Debug, Clone)]
pub struct Counted {
    /// Whose it is.
    pub(crate) key: Key,
    pub(crate) own: Did,
    /// The baseline's stack.
    pub(crate) baseline: Vec<String>,
    pub(crate) base: Did,
    /// No path of it stands for all.
    pub(crate) mixed: bool,
}

/// What a path's instructions do, hook by hook.
#[derive(Debug, Clone)]
pub(crate) struct Did {
    pub(crate) instructions: u64,
    pub(crate) events: Events,
    pub(crate) hooks: Vec<HookCost>,
}

/// What operations do.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// `uname -r` of the kernel.
    pub(crate) release: String,
    pub(crate) cells: Vec<Counted>,
}

impl Did {
    fn of(path: &HookedPath) -> Option<Did> {
        Some(Did {
            instructions: path.total,
            events: path.events?,
            hooks: path.hooks.clone(),
        })
    }

    pub(crate) fn both(&self) -> (u64, &Events) {
        (self.instructions, &self.events)
    }
}

impl Counts {
    /// These and others.
    #[must_use]
    pub fn with(mut self, others: Counts) -> Counts {
        self.cells.extend(others.cells);
        self
    }
}

/// The operations of a profile or run whose instructions are known by what they do, with those
/// of the baseline.
///
/// # Errors
/// [`EstimateError::NoEvents`].
pub fn counts_of(document: &Document) -> Result<Counts, EstimateError> {
    let cells: Vec<Counted> = document
        .cells
        .iter()
        .filter_map(|cell| counted(cell, document))
        .collect();
    let first = document.cells.first();
    match first {
        Some(first) if !cells.is_empty() => Ok(Counts {
            release: first.release.clone(),
            cells,
        }),
        _ => Err(EstimateError::NoEvents),
    }
}

fn counted(cell: &Cell, document: &Document) -> Option<Counted> {
    let of = cell.counted()?;
    let own = Did::of(of.hooked.as_ref()?)?;
    let found = |base: &Key| document.cells.iter().find(|cell| cell.key == *base);
    let (baseline, base) = match &of.residual {
        Some(residual) => (residual.stack.clone(), Did::of(&residual.path)?),
        None => {
            let base = found(&document.baseline_of(&cell.key)?)?;
            let path = base.counted()?.hooked.as_ref()?;
            (base.key.stack.clone(), Did::of(path)?)
        }
    };
    Some(Counted {
        key: cell.key.clone(),
        own,
        baseline,
        base,
        mixed: !of.is_comparable(),
    })
}
