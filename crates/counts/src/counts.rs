// SPDX-License-Identifier: GPL-2.0-or-later
//! From windows to the exact cost of an operation: the modal path.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::records::{CellRecords, Window};

/// One way through the kernel that an operation took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// Guest kernel instructions; a REP instruction counts once.
    pub instructions: u64,
    pub rep_iterations: u64,
    pub windows: usize,
}

/// What the windows of a cell say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// The path that most clean windows took; of several, the shortest. For a
    /// composite operation the sum of its windows' modal paths, with `windows`
    /// the number of operations that took as many instructions.
    pub modal: Path,
    /// The other paths, most frequent first. Empty for a composite operation.
    pub others: Vec<Path>,
    /// Instructions of each clean window (of each operation, if composite: a
    /// dirty window stands for its position's modal path), in order.
    pub samples: Vec<u64>,
    pub windows: usize,
    /// Windows in which something else ran.
    pub dirty: usize,
}

/// Instructions, REP iterations, hash of the calls and returns.
pub type PathKey = (u64, u64, u64);

/// The windows that count: the clean ones. An operation longer than the time between two ticks
/// has none, and then those in which no other task ran: what an interrupt did in them is not
/// counted.
pub(crate) fn counting<'a>(
    windows: impl Iterator<Item = &'a Window> + Clone,
) -> impl Iterator<Item = &'a Window> {
    let some_clean = windows.clone().any(|window| window.clean);
    windows.filter(move |window| match some_clean {
        true => window.clean,
        false => window.alone,
    })
}

/// The paths of the windows that count, most frequent first.
pub(crate) fn paths<'a>(windows: impl Iterator<Item = &'a Window> + Clone) -> Vec<(PathKey, Path)> {
    let mut count: BTreeMap<PathKey, usize> = BTreeMap::new();
    for window in counting(windows) {
        *count.entry(window.key()).or_default() += 1;
    }
    let mut paths: Vec<(PathKey, Path)> = count
        .into_iter()
        .map(|(key, windows)| {
            let path = Path {
                instructions: key.0,
                rep_iterations: key.1,
                windows,
            };
            (key, path)
        })
        .collect();
    // Stable: among equally frequent paths the shortest stays first.
    paths.sort_by_key(|(_, path)| std::cmp::Reverse(path.windows));
    paths
}

/// Why a cell's windows give no count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CountError {
    /// Every window (at one position, if composite) was disturbed.
    #[error(
        "all {windows} windows were disturbed by interrupts or other tasks \
         (or the plugin was not armed)"
    )]
    NoCleanWindow { windows: usize },
    /// Operations of a composite benchmark opened different numbers of windows.
    #[error("operation {operation} opened {found} windows, the first one {expected}")]
    UnevenOperations {
        /// Which one, from 0.
        operation: usize,
        found: usize,
        /// The first operation's windows.
        expected: usize,
    },
}

pub fn count(cell: &CellRecords) -> Result<Counts, CountError> {
    let dirty = cell.windows.iter().filter(|window| !window.clean).count();
    if !cell.operations.is_empty() {
        return count_composite(cell, dirty);
    }
    let mut paths = paths(cell.windows.iter()).into_iter().map(|(_, path)| path);
    let Some(modal) = paths.next() else {
        return Err(CountError::NoCleanWindow {
            windows: cell.windows.len(),
        });
    };
    let others = paths.collect();
    let counting = counting(cell.windows.iter());
    Ok(Counts {
        modal,
        others,
        samples: counting.map(|window| window.instructions).collect(),
        windows: cell.windows.len(),
        dirty,
    })
}

/// The windows of each operation of a composite benchmark.
fn operations(cell: &CellRecords) -> Vec<&[Window]> {
    let ends = cell
        .operations
        .iter()
        .skip(1)
        .copied()
        .chain([cell.windows.len()]);
    cell.operations
        .iter()
        .zip(ends)
        .map(|(&begin, end)| &cell.windows[begin..end])
        .collect()
}

/// Of a composite operation the sum of its windows' modal paths, and these, by position.
/// None if a position has no clean window.
pub(crate) fn modal_paths(cell: &CellRecords) -> Option<(Path, Vec<PathKey>)> {
    let operations = operations(cell);
    let mut keys = Vec::new();
    let mut sum = Path {
        instructions: 0,
        rep_iterations: 0,
        windows: operations.len(),
    };
    for position in 0..operations.first()?.len() {
        let at_position = operations
            .iter()
            .filter_map(|windows| windows.get(position));
        let (key, path) = paths(at_position).first().copied()?;
        sum.instructions += path.instructions;
        sum.rep_iterations += path.rep_iterations;
        keys.push(key);
    }
    Some((sum, keys))
}

fn count_composite(cell: &CellRecords, dirty: usize) -> Result<Counts, CountError> {
    let operations = operations(cell);
    check_even(&operations)?;
    let (mut modal, usual) = modal_paths(cell).ok_or(CountError::NoCleanWindow {
        windows: operations.len(),
    })?;
    let of = |(window, usual): (&Window, &PathKey)| match window.clean {
        true => window.instructions,
        false => usual.0,
    };
    let samples = operations
        .iter()
        .map(|windows| windows.iter().zip(&usual).map(of).sum::<u64>());
    let samples: Vec<u64> = samples.collect();
    let is_modal = |sample: &&u64| **sample == modal.instructions;
    modal.windows = samples.iter().filter(is_modal).count();
    Ok(Counts {
        modal,
        others: Vec::new(),
        samples,
        windows: cell.windows.len(),
        dirty,
    })
}

/// Instructions of each operation, in order; None where another task ran in it. Operation
/// `i` is of the kind `kinds[i % kinds.len()]`. Each window of a composite operation
/// stands for the shortest at its position in operations of its kind: what comes on top
/// now and then (a slab that is filled again) would add up over hundreds of windows.
pub fn by_operation(cell: &CellRecords, kinds: &[usize]) -> Result<Vec<Option<u64>>, CountError> {
    if cell.operations.is_empty() {
        let windows = cell.windows.iter();
        return Ok(windows
            .map(|window| window.alone.then_some(window.instructions))
            .collect());
    }
    let operations = operations(cell);
    let length = check_even(&operations)?;
    let mut by_kind: BTreeMap<usize, Vec<&[Window]>> = BTreeMap::new();
    let kinds = kinds.iter().cycle().take(operations.len());
    for (&kind, &windows) in kinds.clone().zip(&operations) {
        by_kind.entry(kind).or_default().push(windows);
    }
    let shortest = by_kind.iter().map(|(&kind, operations)| {
        let positions = (0..length).map(|position| {
            let windows = operations.iter().map(|windows| &windows[position]);
            let alone = windows.filter(|window| window.alone);
            alone.map(|window| window.instructions).min()
        });
        (kind, positions.sum::<Option<u64>>())
    });
    let shortest: BTreeMap<usize, Option<u64>> = shortest.collect();
    Ok(kinds.map(|kind| shortest[kind]).collect())
}

fn check_even(operations: &[&[Window]]) -> Result<usize, CountError> {
    let expected = operations.first().map_or(0, |windows| windows.len());
    let uneven = operations
        .iter()
        .position(|windows| windows.len() != expected);
    match uneven {
        None => Ok(expected),
        Some(operation) => Err(CountError::UnevenOperations {
            operation,
            found: operations[operation].len(),
            expected,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(instructions: u64, clean: bool) -> Window {
        Window {
            instructions,
            rep_iterations: 2,
            path: instructions % 7,
            clean,
            alone: clean,
        }
    }

    fn cell(windows: Vec<Window>, operations: &[usize]) -> CellRecords {
        CellRecords {
            windows,
            operations: operations.to_vec(),
            ..CellRecords::default()
        }
    }

    #[test]
    fn the_modal_path_wins_over_a_shorter_one() {
        let windows = [90, 100, 100, 110].map(|n| window(n, true)).to_vec();
        let counts = count(&cell(windows, &[])).unwrap();
        let modal = Path {
            instructions: 100,
            rep_iterations: 2,
            windows: 2,
        };
        assert_eq!(counts.modal, modal);
        let others: Vec<u64> = counts.others.iter().map(|path| path.instructions).collect();
        assert_eq!(others, [90, 110]);
    }

    #[test]
    fn dirty_windows_are_counted_but_not_used() {
        let windows = vec![window(100, true), window(500, false), window(500, false)];
        let counts = count(&cell(windows, &[])).unwrap();
        assert_eq!(
            (counts.modal.instructions, counts.dirty, counts.windows),
            (100, 2, 3)
        );
        let nothing = count(&cell(vec![window(1, false)], &[]));
        assert_eq!(nothing, Err(CountError::NoCleanWindow { windows: 1 }));
    }

    #[test]
    fn operations_that_are_always_interrupted_count_what_is_theirs() {
        let mut windows = vec![window(100, false), window(100, false), window(700, false)];
        windows[0].alone = true;
        windows[1].alone = true;
        let counts = count(&cell(windows.clone(), &[])).unwrap();
        assert_eq!((counts.modal.windows, counts.dirty), (2, 3));
        assert_eq!(counts.samples, [100, 100]);
        let composite = count(&cell(windows, &[0, 1, 2])).unwrap();
        assert_eq!(composite.modal.instructions, 100);
    }

    #[test]
    fn a_composite_operation_is_the_sum_of_its_positions() {
        let mut windows = [10, 20, 10, 21, 11, 21].map(|n| window(n, true)).to_vec();
        windows[1].clean = false;
        let counts = count(&cell(windows, &[0, 2, 4])).unwrap();
        // Of the three operations the last took a longer path.
        assert_eq!((counts.modal.instructions, counts.modal.windows), (31, 2));
        assert_eq!(counts.samples, [31, 31, 32]);
    }

    #[test]
    fn operations_keep_their_order_and_their_turns() {
        let windows = vec![window(10, true), window(500, false), window(12, true)];
        assert_eq!(
            by_operation(&cell(windows, &[]), &[0, 1]),
            Ok(vec![Some(10), None, Some(12)])
        );

        // Two windows an operation, two turns: 10 + 20, 110 + 120, once again disturbed.
        let numbers = [10, 20, 110, 120, 10, 999, 999, 120];
        let windows = numbers.map(|n| window(n, n != 999)).to_vec();
        let expected = [30, 230, 30, 230].map(Some).to_vec();
        assert_eq!(
            by_operation(&cell(windows, &[0, 2, 4, 6]), &[0, 1]),
            Ok(expected)
        );
    }

    #[test]
    fn uneven_operations_are_refused() {
        let windows = [10, 20, 10].map(|n| window(n, true)).to_vec();
        assert!(matches!(
            count(&cell(windows, &[0, 2])),
            Err(CountError::UnevenOperations { operation: 1, .. })
        ));
    }
}
