// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares a run's cells with their baselines.

use std::collections::{HashMap, HashSet};

use model::{Cell, Document, Key};

use crate::judge::{ALPHA, Judged, Measured, together};

pub struct Baselines<'a> {
    run: &'a Document,
    cells: HashMap<&'a Key, &'a Cell>,
}

impl<'a> Baselines<'a> {
    pub fn new(run: &'a Document) -> Baselines<'a> {
        let cells = run.cells.iter().map(|cell| (&cell.key, cell)).collect();
        Baselines { run, cells }
    }

    /// None for a baseline itself, and if the baseline was not measured.
    pub fn baseline(&self, cell: &Cell) -> Option<&'a Cell> {
        let key = self.run.baseline_of(&cell.key)?;
        self.cells.get(&key).copied()
    }
}

pub struct Judgements<'a> {
    run: &'a Document,
    judged: HashMap<(&'a Key, &'a Key), Judged>,
}

impl<'a> Judgements<'a> {
    pub fn new(run: &'a Document) -> Judgements<'a> {
        let baselines = Baselines::new(run);
        let mut judgements = Judgements {
            run,
            judged: HashMap::new(),
        };
        let cells = run.cells.iter();
        judgements.also(cells.filter_map(|cell| Some((baselines.baseline(cell)?, cell))));
        judgements
    }

    /// Judges further pairs (BASE, NEW) that have no verdict yet; p is corrected for these only.
    pub fn also(&mut self, pairs: impl IntoIterator<Item = (&'a Cell, &'a Cell)>) {
        let figure = |cell| Measured::from_cell(cell, self.run.experiment.as_ref());
        let mut seen = HashSet::new();
        let new = pairs.into_iter().filter_map(|(base, new)| {
            let key = (&base.key, &new.key);
            let known = self.judged.contains_key(&key) || !seen.insert(key);
            (!known).then(|| Some((key, figure(base)?, figure(new)?)))?
        });
        let new: Vec<_> = new.collect();
        let figures = (new.iter()).map(|((_, key), old, young)| (old, young, key.metric));
        let judged = together(figures, ALPHA);
        let keys = new.iter().map(|(key, ..)| *key);
        self.judged.extend(keys.zip(judged));
    }

    pub fn verdict(&self, base: &'a Cell, new: &'a Cell) -> Option<&Judged> {
        self.judged.get(&(&base.key, &new.key))
    }
}
