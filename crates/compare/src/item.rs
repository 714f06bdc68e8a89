// SPDX-License-Identifier: GPL-2.0-or-later
//! What every document is turned into: figures with their keys, and what stands behind them.

use crate::judge::Measured;
use model::{Document, Key, comparison::Place};

use crate::doubt::doubts;

/// A figure, and what stands behind it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Whose it is; of a recording the function takes the benchmark's place.
    pub(crate) key: Key,
    /// What else tells it from others, in words: of a sweep the key's delay, of a recording
    /// the module.
    pub(crate) detail: String,
    pub(crate) measured: Measured,
    /// Reasons not to trust it.
    pub(crate) doubts: Vec<String>,
    /// Where in its document it is, from 0.
    pub(crate) position: usize,
}

/// Where a figure was measured.
pub(crate) fn place(key: &Key) -> Place {
    Place {
        kernel: key.kernel.clone(),
        configuration: key.configuration_title(),
        filesystem: key.filesystem.clone(),
    }
}

/// All cells, in their order. Of a profile each is two: what the operation takes, and what of
/// it is inside hooks.
pub(crate) fn items(document: &Document) -> Vec<Item> {
    let warnings = &document.warnings;
    let cells = document.cells.iter().enumerate();
    let items = cells.flat_map(|(position, cell)| {
        let figures = crate::judge::figures(cell, document).into_iter();
        figures.map(move |(metric, measured)| (position, cell, metric, measured))
    });
    items
        .map(|(position, cell, metric, measured)| Item {
            key: Key {
                metric,
                ..cell.key.clone()
            },
            detail: delay(&cell.key),
            doubts: doubts(warnings, position, metric, measured.rounds.len() > 1),
            measured,
            position,
        })
        .collect()
}

/// How decisions were delayed, in words; empty if they were not.
fn delay(key: &Key) -> String {
    key.delay.as_ref().map_or_else(String::new, |delay| {
        let part = if delay.part { ", its part" } else { "" };
        let hooks = delay.hooks.join("+");
        format!("{} at {hooks}{part}, {} caches", delay.module, delay.caches)
    })
}
