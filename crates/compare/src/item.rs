// SPDX-License-Identifier: GPL-2.0-or-later
//! Items: the keyed figures of a result file.

use crate::judge::Measured;
use model::{Document, Key, comparison::Place};

use crate::doubt::doubts;

#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// In a recording, the function replaces the benchmark.
    pub(crate) key: Key,
    /// A sweep's delay or a recording's module, in words.
    pub(crate) detail: String,
    pub(crate) measured: Measured,
    pub(crate) doubts: Vec<String>,
    pub(crate) position: usize,
}

pub(crate) fn place(key: &Key) -> Place {
    Place {
        kernel: key.kernel.clone(),
        configuration: key.configuration_title(),
        filesystem: key.filesystem.clone(),
    }
}

/// All measurements, in order. A measurement of a profile becomes two items: the whole operation,
/// and the part in hooks.
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

fn delay(key: &Key) -> String {
    key.delay.as_ref().map_or_else(String::new, |delay| {
        let part = if delay.part { ", its part" } else { "" };
        let hooks = delay.hooks.join("+");
        format!("{} at {hooks}{part}, {} caches", delay.module, delay.caches)
    })
}
