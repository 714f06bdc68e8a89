// SPDX-License-Identifier: GPL-2.0-or-later
//! Estimated nanoseconds of stacks, next to their counted instructions.

use std::collections::HashMap;

use model::estimate::{EstimatedCell, Weights};
use model::{Cell, EstimateDocument, Key};

use super::{estimated, tenths};
use crate::cells::Group;
use crate::table::Value;
use crate::text::short;

#[derive(Default)]
pub(crate) struct Estimates<'a> {
    cells: HashMap<&'a Key, &'a EstimatedCell>,
    weights: Option<&'a Weights>,
}

impl<'a> Estimates<'a> {
    pub(crate) fn of(document: &'a EstimateDocument) -> Estimates<'a> {
        Estimates {
            cells: document
                .cells
                .iter()
                .map(|cell| (&cell.key, cell))
                .collect(),
            weights: Some(&document.weights),
        }
    }

    pub(crate) fn are_of(&self, group: &Group<'_>) -> bool {
        let said = |cell: Option<&Cell>| cell.is_some_and(|of| self.cells.contains_key(&of.key));
        let mut rows = group.rows.iter().copied();
        rows.any(|row| group.tested().any(|of| said(group.cell(row, of))))
    }

    pub(crate) fn value(&self, cell: &Cell) -> Option<Value> {
        self.cells.get(&cell.key).map(|cell| estimated(cell))
    }

    pub(crate) fn legend(&self) -> String {
        let Some(weights) = self.weights else {
            return String::new();
        };
        let error = &weights.error;
        format!(
            "ns: what that would take more on {}, estimated from what the instructions do; of operations \
             that the fit was not shown, 95 of 100 lie in such an interval, and the median distance is {} ns. \
             Of the kernel's path, without entry and exit, on one processor.",
            short(&weights.processor),
            tenths(error.median_ns),
        )
    }
}
