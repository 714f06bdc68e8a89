// SPDX-License-Identifier: GPL-2.0-or-later
//! Counted operations under a stack and under the baseline.

use model::{Cell, Document, Events, Failure, HookCost, HookedPath, Key};

use crate::terms::{Difference, Terms};

#[derive(Debug, Clone)]
pub struct Counted {
    pub(crate) release: String,
    pub(crate) key: Key,
    pub(crate) own: Did,
    pub(crate) baseline: Vec<String>,
    pub(crate) base: Did,
    pub(crate) mixed: bool,
    /// Counted by an old version, which does not count long REP instructions.
    pub(crate) older: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Did {
    pub(crate) instructions: u64,
    pub(crate) events: Events,
    pub(crate) hooks: Vec<HookCost>,
}

#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub(crate) cells: Vec<Counted>,
}

pub(crate) fn version(release: &str) -> (Option<&str>, Option<&str>) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    (numbers.next(), numbers.next())
}

impl Did {
    fn from_path(path: &HookedPath) -> Option<Did> {
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

impl Counted {
    pub(crate) fn more(&self, terms: &Terms) -> Difference {
        let lines = self.base.events.instruction_lines;
        terms.difference(self.own.both(), self.base.both(), lines)
    }
}

impl Counts {
    pub fn with(mut self, others: Counts) -> Counts {
        for cell in others.cells {
            if !self.cells.iter().any(|known| known.key == cell.key) {
                self.cells.push(cell);
            }
        }
        self
    }

    /// Counts for one kernel: the first with the release's version, or else the first of all.
    pub(crate) fn of_version(&self, release: &str) -> impl Iterator<Item = &Counted> {
        let mut cells = self.cells.iter();
        let same = cells.find(|cell| version(&cell.release) == version(release));
        let kernel = same.or(self.cells.first()).map(|cell| &cell.key.kernel);
        let of_kernel = move |cell: &&Counted| Some(&cell.key.kernel) == kernel;
        self.cells.iter().filter(of_kernel)
    }
}

/// The operations of a profile or run that have events, with the baseline's.
pub fn counts_of(document: &Document) -> Result<Counts, Failure> {
    let mut cells: Vec<Counted> = document
        .cells
        .iter()
        .filter_map(|cell| counted(cell, document))
        .collect();
    if cells.is_empty() {
        return Err(Failure::usage(
            "no events for a stack and its baseline",
            "count with `lsmeter profile --events --baseline capability`",
        ));
    }
    let is_older = |cell: &Counted| {
        [&cell.own, &cell.base]
            .iter()
            .any(|did| is_missing_long_rep(&did.events))
    };
    if cells.iter().any(is_older) {
        cells.iter_mut().for_each(|cell| cell.older = true);
    }
    Ok(Counts { cells })
}

/// If REP instructions process this many bytes on average, some of them are long.
fn is_missing_long_rep(events: &Events) -> bool {
    let fewest = events
        .rep_instructions
        .saturating_mul(Events::LONG_REP_BYTES);
    events.rep_instructions > 0 && events.long_rep_instructions == 0 && events.rep_bytes >= fewest
}

fn counted(cell: &Cell, document: &Document) -> Option<Counted> {
    let counted = cell.counted()?;
    let own = Did::from_path(counted.hooked.as_ref()?)?;
    let found = |base: &Key| document.cells.iter().find(|cell| cell.key == *base);
    let (baseline, base) = match &counted.residual {
        Some(residual) => (residual.stack.clone(), Did::from_path(&residual.path)?),
        None => {
            let base = found(&document.baseline_of(&cell.key)?)?;
            let path = base.counted()?.hooked.as_ref()?;
            (base.key.stack.clone(), Did::from_path(path)?)
        }
    };
    Some(Counted {
        release: cell.release.clone(),
        key: cell.key.clone(),
        own,
        baseline,
        base,
        mixed: !counted.is_comparable(),
        older: false,
    })
}
