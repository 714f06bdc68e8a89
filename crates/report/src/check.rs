// SPDX-License-Identifier: GPL-2.0-or-later
//! Does anything cost more than its baseline?

use experiment::{Document, Status};

use crate::cells::{Baselines, cost};
use crate::format;
use crate::text::printable;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// Cells that were compared with a baseline.
    pub compared: usize,
    /// Those that cost more than is allowed, a line each, in the document's order.
    pub worse: Vec<String>,
    /// Those of which it cannot be said: the intervals overlap, and yet the difference
    /// is more than is allowed.
    pub unclear: Vec<String>,
}

/// Compares every cell with its baseline. `allowed` is the overhead that a cell may
/// have, as a fraction: 0.02 for 2 %.
pub fn check(run: &Document, allowed: f64) -> Check {
    let baselines = Baselines::of(run);
    let mut found = Check::default();
    for cell in run.cells.iter().filter(|cell| cell.status() == Status::Ok) {
        let Some(baseline) = baselines.baseline(cell) else {
            continue;
        };
        let Some(cost) = cost(cell, baseline) else {
            continue;
        };
        found.compared += 1;
        if cost.overhead <= allowed {
            continue;
        }
        let line = format!(
            "{}, {} under {}: {} {} against {} ({})",
            printable(&cell.title(), 80),
            printable(&cell.key.kernel, 80),
            printable(&cell.configuration_title(), 200),
            format::headline(cell).unwrap_or_default(),
            cell.key.metric.unit(),
            format::headline(baseline).unwrap_or_default(),
            format::percent(cost.overhead),
        );
        if cost.unclear {
            found.unclear.push(line);
        } else {
            found.worse.push(line);
        }
    }
    found
}
