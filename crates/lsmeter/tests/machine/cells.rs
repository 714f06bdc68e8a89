// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares runs that must have equal measurements.

use model::{Cell, Document};

/// A run on the tests' kernel, and the file system that boots fastest.
pub const RUN: &str = "run --offline --kernel debian:6.12 --fs tmpfs";

/// Asserts that two runs have equal measurements, except for times of the host. Prints only those
/// that differ.
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
