// SPDX-License-Identifier: GPL-2.0-or-later
//! What operations do, and what they do under the baseline.

use experiment::{Cell, Document, Events, HookCost, HookedPath, Key};

use crate::error::EstimateError;

/// An operation under a stack, and under the baseline.
#[derive(Debug, Clone)]
pub struct Counted {
    /// `uname -r` of the kernel.
    pub(crate) release: String,
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
    pub(crate) cells: Vec<Counted>,
}

/// The first two numbers of a release: `6.12`.
pub(crate) fn version(release: &str) -> (Option<&str>, Option<&str>) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    (numbers.next(), numbers.next())
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
    /// These, and of others what these do not have.
    #[must_use]
    pub fn with(mut self, others: Counts) -> Counts {
        for cell in others.cells {
            if !self.cells.iter().any(|known| known.key == cell.key) {
                self.cells.push(cell);
            }
        }
        self
    }

    /// Those of one kernel: the first of a release's version, or the first if there is none.
    pub(crate) fn of_version(&self, release: &str) -> impl Iterator<Item = &Counted> {
        let mut cells = self.cells.iter();
        let same = cells.find(|cell| version(&cell.release) == version(release));
        let kernel = same.or(self.cells.first()).map(|cell| &cell.key.kernel);
        let of_kernel = move |cell: &&Counted| Some(&cell.key.kernel) == kernel;
        self.cells.iter().filter(of_kernel)
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
    if cells.is_empty() {
        return Err(EstimateError::NoEvents);
    }
    Ok(Counts { cells })
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
        release: cell.release.clone(),
        key: cell.key.clone(),
        own,
        baseline,
        base,
        mixed: !of.is_comparable(),
    })
}
