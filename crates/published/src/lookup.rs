// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds a run's cells.

use std::collections::{HashMap, HashSet};

use compare::judge::Layouts;
use model::{Cell, Document, Metric, layouts_base};

use crate::{Operation, Setup};

/// Kernel, file system and metric of one table. For layouts that are evaluated together the kernel
/// has no number.
pub(crate) type Place<'a> = (&'a str, &'a str, Metric);

type Key<'a> = (Place<'a>, &'a str, &'a str);

/// Limit of places, and of kernels without LSMs per operation: an experiment has at most 64
/// kernels, but a document may be malicious.
const PLACES_LIMIT: usize = 1_024;
const BASELINES_LIMIT: usize = 64;

pub(crate) struct Cells<'a> {
    pub(crate) places: Vec<Place<'a>>,
    cells: HashMap<Key<'a>, Vec<&'a Cell>>,
    /// Cells without LSMs of all kernels; their key has no kernel.
    without: HashMap<Key<'a>, Vec<&'a Cell>>,
    drawn: Vec<Layouts<'a>>,
}

impl<'a> Cells<'a> {
    pub(crate) fn of(run: &'a Document) -> Cells<'a> {
        let mut found = Cells {
            places: Vec::new(),
            cells: HashMap::new(),
            without: HashMap::new(),
            drawn: Layouts::of(run),
        };
        let mut seen = HashSet::new();
        for cell in &run.cells {
            let place = (
                found.kernel(cell),
                cell.key.filesystem.as_str(),
                cell.key.metric,
            );
            if found.places.len() < PLACES_LIMIT && seen.insert(place) {
                found.places.push(place);
            }
            let (benchmark, variant) = (cell.key.benchmark(), cell.key.variant());
            let here = found.cells.entry((place, benchmark, variant)).or_default();
            here.push(cell);
            if cell.key.stack == ["none"] {
                let anywhere = ("", place.1, place.2);
                let key = (anywhere, benchmark, variant);
                let without = found.without.entry(key).or_default();
                if without.len() < BASELINES_LIMIT {
                    without.push(cell);
                }
            }
        }
        found
    }

    pub(crate) fn kernel<'b>(&self, cell: &'b Cell) -> &'b str {
        let key = &cell.key;
        let base = layouts_base(&key.kernel).filter(|_| key.metric == Metric::Time);
        let is_drawn = |base: &&str| {
            self.drawn.iter().any(|of| {
                let other = of.baseline().map(|other| other.kernel);
                of.filesystem == key.filesystem && (of.kernel == *base || other == Some(*base))
            })
        };
        base.filter(is_drawn).unwrap_or(&key.kernel)
    }

    pub(crate) fn layouts(&self, place: Place<'_>) -> Option<&Layouts<'a>> {
        let mut drawn = self.drawn.iter().filter(|_| place.2 == Metric::Time);
        drawn.find(|of| (of.kernel, of.filesystem) == (place.0, place.1))
    }

    pub(crate) fn here<'b>(
        &'b self,
        place: Place<'b>,
        operation: &'b Operation,
    ) -> impl Iterator<Item = &'a Cell> + use<'a, 'b> {
        let key = (place, &*operation.benchmark, &*operation.variant);
        self.cells.get(&key).into_iter().flatten().copied()
    }

    /// The cell with a figure of this setup in the place; preferably the one with default policy
    /// sizes.
    pub(crate) fn tested(
        &self,
        place: Place<'_>,
        operation: &Operation,
        setup: &Setup,
    ) -> Option<&'a Cell> {
        let fits = |cell: &&Cell| setup.is_of(cell) && cell.headline().is_some();
        let plain = |cell: &&Cell| cell.key.settings.is_default();
        self.here(place, operation)
            .filter(fits)
            .find(plain)
            .or_else(|| self.here(place, operation).find(fits))
    }

    /// Same for a baseline. A kernel without LSMs is a different kernel: it is used if it is the
    /// only one, or the only one of the same version.
    pub(crate) fn baseline(
        &self,
        place: Place<'_>,
        operation: &Operation,
        setup: &Setup,
        tested: &Cell,
    ) -> Option<&'a Cell> {
        if let Some(cell) = self.tested(place, operation, setup) {
            return Some(cell);
        }
        if !setup.stack.is_none() {
            return None;
        }
        let anywhere = ("", place.1, place.2);
        let key = (anywhere, &*operation.benchmark, &*operation.variant);
        let others = self.without.get(&key).into_iter().flatten().copied();
        let others: Vec<&Cell> = others
            .filter(|cell| setup.is_of(cell) && cell.headline().is_some())
            .collect();
        self.only(&others).or_else(|| {
            let version = version(&tested.release)?;
            let same = |cell: &&&Cell| self::version(&cell.release) == Some(version);
            self.only(&others.iter().filter(same).copied().collect::<Vec<_>>())
        })
    }

    fn only(&self, cells: &[&'a Cell]) -> Option<&'a Cell> {
        let first = cells.first()?;
        let same = |cell: &&Cell| self.kernel(cell) == self.kernel(first);
        cells.iter().all(same).then_some(first)
    }
}

fn version(release: &str) -> Option<&str> {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.');
    let version = release[..end.unwrap_or(release.len())].trim_end_matches('.');
    (!version.is_empty()).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_releases() {
        assert_eq!(version("6.12.117-all"), Some("6.12.117"));
        assert_eq!(version("6.1.0"), Some("6.1.0"));
        assert_eq!(version("6.1.+x"), Some("6.1"));
        assert_eq!(version("größe"), None);
        assert_eq!(version(""), None);
    }
}
