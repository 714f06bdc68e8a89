// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs that must be the same, cell for cell.

use model::{Cell, Document};

/// A run on the kernel that these tests boot, and the file system that boots fastest.
pub const RUN: &str = "run --offline --kernel debian:6.12 --fs tmpfs";

/// Asserts that the cells of two runs are the same, except for the host's time, and shows
/// only those that are not.
#[track_caller]
pub fn assert_same(run: &Document, expected: &Document) {
    assert_eq!(run.cells.len(), expected.cells.len());
    let timeless = |cell: &Cell| Cell {
        seconds: None,
        ..cell.clone()
    };
    let both = run.cells.iter().zip(&expected.cells);
    let different: Vec<(Cell, Cell)> = both
        .map(|(cell, expected)| (timeless(cell), timeless(expected)))
        .filter(|(cell, expected)| cell != expected)
        .collect();
    assert!(
        different.is_empty(),
        "{} of {} cells differ: {different:#?}",
        different.len(),
        run.cells.len()
    );
}
