// SPDX-License-Identifier: GPL-2.0-or-later
//! One row: a cell, or a sample of it, with where it comes from.

use std::collections::HashMap;

use experiment::{Cell, CellKey, Environment, Metric, Run};
use stats::overhead;

use crate::{Rows, Source};

pub(crate) struct Row<'a> {
    pub(crate) document: &'a str,
    pub(crate) run: &'a Run,
    pub(crate) environment: &'a Environment,
    pub(crate) cell: &'a Cell,
    /// Of `cell` against its baseline, as a fraction.
    pub(crate) overhead: Option<f64>,
    pub(crate) is_baseline: bool,
    /// Position and figure.
    pub(crate) sample: Option<(usize, f64)>,
}

impl Row<'_> {
    /// Instructions of the modal path, if they are what stands for the cell.
    pub(crate) fn counts(&self) -> Option<&experiment::Counts> {
        let counted = self.cell.metric == Metric::Instructions;
        self.cell.counts.as_ref().filter(|_| counted)
    }
}

/// Gives all rows of all documents, one after the other, to `take`.
///
/// # Errors
/// Those of `take`.
pub(crate) fn each<E>(
    sources: &[Source],
    rows: Rows,
    mut take: impl FnMut(&Row<'_>) -> Result<(), E>,
) -> Result<(), E> {
    for Source { name, run } in sources {
        let figures: HashMap<CellKey, f64> = run
            .cells
            .iter()
            .filter_map(|cell| Some((cell.key(), cell.headline()?)))
            .collect();
        for (index, cell) in run.cells.iter().enumerate() {
            let baseline = run.experiment.baseline_of(&cell.key());
            let cost = || {
                let base = figures.get(baseline.as_ref()?)?;
                overhead(cell.headline()?, *base, cell.metric.direction())
            };
            let mut row = Row {
                document: name,
                run,
                environment: run.environment_of(index),
                cell,
                overhead: cost(),
                is_baseline: baseline.is_none(),
                sample: None,
            };
            match rows {
                Rows::Cells => take(&row)?,
                Rows::Samples => {
                    let samples = cell.samples.as_deref().unwrap_or_default();
                    for (number, sample) in samples.iter().enumerate() {
                        row.sample = Some((number, *sample));
                        take(&row)?;
                    }
                }
            }
        }
    }
    Ok(())
}
