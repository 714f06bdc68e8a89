// SPDX-License-Identifier: GPL-2.0-or-later
//! Computes the exact cost of an operation from measured regions: the dominant path.

use std::collections::BTreeMap;

use crate::records::{CellRecords, Window};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Guest kernel instructions; a REP instruction counts once.
    pub instructions: u64,
    pub rep_iterations: u64,
    /// Median over its regions.
    pub lines: Option<u64>,
    pub regions: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// The path that most clean measured regions took; if there are several, the shortest. For a
    /// composite operation, the sum of its regions' dominant paths; `regions` is then the number of
    /// operations with that many instructions.
    pub dominant: Path,
    /// Most frequent first. Empty for a composite operation.
    pub others: Vec<Path>,
    /// Instructions of each clean region, in order. For composite operations, instructions of each
    /// operation, with a position's dominant path in place of a dirty region.
    pub samples: Vec<u64>,
    pub regions: usize,
    /// Number of measured regions in which something else ran.
    pub dirty: usize,
}

/// Instructions, REP iterations, hash of calls and returns.
pub type PathKey = (u64, u64, u64);

/// The clean regions. Operations longer than a timer tick have none; for these, the regions in
/// which no other task ran. The work of interrupts is not counted in them.
pub(crate) fn counting<'a>(
    regions: impl Iterator<Item = &'a Window> + Clone,
) -> impl Iterator<Item = &'a Window> {
    let some_clean = regions.clone().any(|window| window.clean);
    regions.filter(move |window| match some_clean {
        true => window.clean,
        false => window.alone,
    })
}

/// Most frequent first.
pub(crate) fn paths<'a>(regions: impl Iterator<Item = &'a Window> + Clone) -> Vec<(PathKey, Path)> {
    let mut lines: BTreeMap<PathKey, Vec<Option<u64>>> = BTreeMap::new();
    for window in counting(regions) {
        lines.entry(window.key()).or_default().push(window.lines);
    }
    let mut paths: Vec<(PathKey, Path)> = lines
        .into_iter()
        .map(|(key, mut lines)| {
            lines.sort_unstable();
            let path = Path {
                instructions: key.0,
                rep_iterations: key.1,
                lines: lines[lines.len() / 2],
                regions: lines.len(),
            };
            (key, path)
        })
        .collect();
    // The sort is stable, so among equally frequent paths the shortest stays first.
    paths.sort_by_key(|(_, path)| std::cmp::Reverse(path.regions));
    paths
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CountError {
    /// All regions (at one position, if composite) were disturbed.
    #[error(
        "all {regions} measured regions were disturbed by interrupts or other tasks \
         (or the plugin was not armed)"
    )]
    NoCleanWindow { regions: usize },
    /// Operations of a composite benchmark opened different numbers of measured regions.
    #[error("operation {operation} opened {found} measured regions, but the first {expected}")]
    UnevenOperations {
        operation: usize,
        found: usize,
        /// The number in the first operation.
        expected: usize,
    },
}

pub fn count(cell: &CellRecords) -> Result<Counts, CountError> {
    let dirty = cell.regions.iter().filter(|window| !window.clean).count();
    if !cell.operations.is_empty() {
        return count_composite(cell, dirty);
    }
    let mut paths = paths(cell.regions.iter()).into_iter().map(|(_, path)| path);
    let Some(dominant) = paths.next() else {
        return Err(CountError::NoCleanWindow {
            regions: cell.regions.len(),
        });
    };
    let others = paths.collect();
    let counting = counting(cell.regions.iter());
    Ok(Counts {
        dominant,
        others,
        samples: counting.map(|window| window.instructions).collect(),
        regions: cell.regions.len(),
        dirty,
    })
}

fn operations(cell: &CellRecords) -> Vec<&[Window]> {
    let ends = cell
        .operations
        .iter()
        .skip(1)
        .copied()
        .chain([cell.regions.len()]);
    cell.operations
        .iter()
        .zip(ends)
        .map(|(&begin, end)| &cell.regions[begin..end])
        .collect()
}

/// The sum of a composite operation's dominant paths, and the paths by position. None if a position
/// has no clean region.
pub(crate) fn dominant_paths(cell: &CellRecords) -> Option<(Path, Vec<PathKey>)> {
    let operations = operations(cell);
    let mut keys = Vec::new();
    let mut sum = Path {
        instructions: 0,
        rep_iterations: 0,
        lines: None,
        regions: operations.len(),
    };
    for position in 0..operations.first()?.len() {
        let at_position = operations
            .iter()
            .filter_map(|regions| regions.get(position));
        let (key, path) = paths(at_position).first().copied()?;
        sum.instructions += path.instructions;
        sum.rep_iterations += path.rep_iterations;
        sum.lines = path.lines.map(|lines| lines + sum.lines.unwrap_or(0));
        keys.push(key);
    }
    Some((sum, keys))
}

fn count_composite(cell: &CellRecords, dirty: usize) -> Result<Counts, CountError> {
    let operations = operations(cell);
    check_even(&operations)?;
    let (mut dominant, usual) = dominant_paths(cell).ok_or(CountError::NoCleanWindow {
        regions: operations.len(),
    })?;
    let instructions = |(window, usual): (&Window, &PathKey)| match window.clean {
        true => window.instructions,
        false => usual.0,
    };
    let samples = operations
        .iter()
        .map(|regions| regions.iter().zip(&usual).map(instructions).sum::<u64>());
    let samples: Vec<u64> = samples.collect();
    let is_on_dominant = |sample: &&u64| **sample == dominant.instructions;
    dominant.regions = samples.iter().filter(is_on_dominant).count();
    Ok(Counts {
        dominant,
        others: Vec::new(),
        samples,
        regions: cell.regions.len(),
        dirty,
    })
}

/// Instructions of each operation, in order; None if another task ran in it. Operation `i` is of
/// the kind `kinds[i % kinds.len()]`. Each region of a composite operation counts as the shortest
/// one at its position in operations of its kind, because rare extra work (a slab's refill) would
/// otherwise add up over hundreds of regions.
pub fn by_operation(cell: &CellRecords, kinds: &[usize]) -> Result<Vec<Option<u64>>, CountError> {
    if cell.operations.is_empty() {
        let regions = cell.regions.iter();
        return Ok(regions
            .map(|window| window.alone.then_some(window.instructions))
            .collect());
    }
    let operations = operations(cell);
    let length = check_even(&operations)?;
    let mut by_kind: BTreeMap<usize, Vec<&[Window]>> = BTreeMap::new();
    let kinds = kinds.iter().cycle().take(operations.len());
    for (&kind, &regions) in kinds.clone().zip(&operations) {
        by_kind.entry(kind).or_default().push(regions);
    }
    let shortest = by_kind.iter().map(|(&kind, operations)| {
        let positions = (0..length).map(|position| {
            let regions = operations.iter().map(|regions| &regions[position]);
            let alone = regions.filter(|window| window.alone);
            alone.map(|window| window.instructions).min()
        });
        (kind, positions.sum::<Option<u64>>())
    });
    let shortest: BTreeMap<usize, Option<u64>> = shortest.collect();
    Ok(kinds.map(|kind| shortest[kind]).collect())
}

fn check_even(operations: &[&[Window]]) -> Result<usize, CountError> {
    let expected = operations.first().map_or(0, |regions| regions.len());
    let uneven = operations
        .iter()
        .position(|regions| regions.len() != expected);
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
            lines: None,
            path: instructions % 7,
            clean,
            alone: clean,
        }
    }

    fn cell(regions: Vec<Window>, operations: &[usize]) -> CellRecords {
        CellRecords {
            regions,
            operations: operations.to_vec(),
            ..CellRecords::default()
        }
    }

    #[test]
    fn the_modal_path_wins_over_a_shorter_one() {
        let regions = [90, 100, 100, 110].map(|n| window(n, true)).to_vec();
        let counts = count(&cell(regions, &[])).unwrap();
        let dominant = Path {
            instructions: 100,
            rep_iterations: 2,
            lines: None,
            regions: 2,
        };
        assert_eq!(counts.dominant, dominant);
        let others: Vec<u64> = counts.others.iter().map(|path| path.instructions).collect();
        assert_eq!(others, [90, 110]);
    }

    #[test]
    fn dirty_windows_are_counted_but_not_used() {
        let regions = vec![window(100, true), window(500, false), window(500, false)];
        let counts = count(&cell(regions, &[])).unwrap();
        assert_eq!(
            (counts.dominant.instructions, counts.dirty, counts.regions),
            (100, 2, 3)
        );
        let nothing = count(&cell(vec![window(1, false)], &[]));
        assert_eq!(nothing, Err(CountError::NoCleanWindow { regions: 1 }));
    }

    #[test]
    fn operations_that_are_always_interrupted_count_what_is_theirs() {
        let mut regions = vec![window(100, false), window(100, false), window(700, false)];
        regions[0].alone = true;
        regions[1].alone = true;
        let counts = count(&cell(regions.clone(), &[])).unwrap();
        assert_eq!((counts.dominant.regions, counts.dirty), (2, 3));
        assert_eq!(counts.samples, [100, 100]);
        let composite = count(&cell(regions, &[0, 1, 2])).unwrap();
        assert_eq!(composite.dominant.instructions, 100);
    }

    #[test]
    fn a_composite_operation_is_the_sum_of_its_positions() {
        let mut regions = [10, 20, 10, 21, 11, 21].map(|n| window(n, true)).to_vec();
        regions[1].clean = false;
        let counts = count(&cell(regions, &[0, 2, 4])).unwrap();
        // The last of the three operations took a longer path.
        assert_eq!(
            (counts.dominant.instructions, counts.dominant.regions),
            (31, 2)
        );
        assert_eq!(counts.samples, [31, 31, 32]);
    }

    #[test]
    fn operations_keep_their_order_and_their_turns() {
        let regions = vec![window(10, true), window(500, false), window(12, true)];
        assert_eq!(
            by_operation(&cell(regions, &[]), &[0, 1]),
            Ok(vec![Some(10), None, Some(12)])
        );

        // Operations have two regions each and are of two kinds: 10 + 20 and 110 + 120. In the
        // second of each kind, one region was disturbed.
        let numbers = [10, 20, 110, 120, 10, 999, 999, 120];
        let regions = numbers.map(|n| window(n, n != 999)).to_vec();
        let expected = [30, 230, 30, 230].map(Some).to_vec();
        assert_eq!(
            by_operation(&cell(regions, &[0, 2, 4, 6]), &[0, 1]),
            Ok(expected)
        );
    }

    #[test]
    fn uneven_operations_are_refused() {
        let regions = [10, 20, 10].map(|n| window(n, true)).to_vec();
        assert!(matches!(
            count(&cell(regions, &[0, 2])),
            Err(CountError::UnevenOperations { operation: 1, .. })
        ));
    }
}
