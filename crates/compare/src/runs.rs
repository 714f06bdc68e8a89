// SPDX-License-Identifier: GPL-2.0-or-later
//! A run's cells as items.

use experiment::comparison::Quantity;
use experiment::{Cell, Experiment, Metric, Run, Status};
use stats::median_of_sorted;

use crate::doubt::Doubts;
use crate::item::{Evidence, Item, Key, Setup};

/// Most windows that are laid out one by one.
const WINDOWS_MAX: u64 = 100_000;

/// All cells of a run, in its order.
pub(crate) fn items(run: &Run) -> Vec<Item> {
    let doubts = Doubts::of(&run.warnings);
    let cells = run.cells.iter().enumerate();
    cells
        .map(|(position, cell)| {
            let quantity = Quantity::of_metric(cell.metric);
            let evidence = evidence(cell, &run.experiment);
            let rounds = evidence.rounds.len() > 1;
            Item {
                key: key(cell, quantity),
                doubts: doubts.of_position(position, quantity, rounds),
                evidence,
                position,
            }
        })
        .collect()
}

fn key(cell: &Cell, quantity: Quantity) -> Key {
    Key {
        kernel: cell.kernel.clone(),
        configuration: Setup {
            stack: cell.stack.join(","),
            integrity: cell.integrity.clone(),
            policy: cell.policy,
            tuning: cell.tuning,
        },
        filesystem: cell.filesystem.clone(),
        benchmark: cell.benchmark.clone(),
        variant: cell.variant.clone(),
        detail: String::new(),
        quantity,
    }
}

fn evidence(cell: &Cell, experiment: &Experiment) -> Evidence {
    let Some(value) = cell.headline().filter(|value| value.is_finite()) else {
        return Evidence::missing(cell.status, cell.reason.as_deref());
    };
    let counts = cell.counts.as_ref();
    let exact = cell.metric == Metric::Instructions && counts.is_some_and(|c| c.is_stable());
    let mut evidence = Evidence {
        value: Some(value),
        exact,
        n: cell.n,
        ci95: cell.ci95,
        ..Evidence::missing(Status::Ok, None)
    };
    if let Some(runs) = &cell.aa_medians {
        evidence.runs.clone_from(runs);
    }
    if let Some(samples) = cell.samples.clone().or_else(|| windows(cell)) {
        evidence.rounds = rounds(cell, &samples, experiment);
        evidence.take_samples(samples);
    } else if let Some(medians) = &cell.round_medians {
        evidence.rounds.clone_from(medians);
    }
    evidence
}

/// The windows of an instruction cell, which its paths tell, if they tell all.
fn windows(cell: &Cell) -> Option<Vec<f64>> {
    let counts = cell.counts.as_ref()?;
    let paths = || std::iter::once(&counts.modal).chain(&counts.paths);
    let told: u128 = paths().map(|path| u128::from(path.windows)).sum();
    if told != u128::from(counts.windows) || counts.windows > WINDOWS_MAX {
        return None;
    }
    let of = |path: &experiment::PathCount| {
        std::iter::repeat_n(path.instructions as f64, path.windows as usize)
    };
    Some(paths().flat_map(of).collect())
}

/// Each round's median: as the document has them, or of its share of the samples, which
/// are in the order taken.
fn rounds(cell: &Cell, samples: &[f64], experiment: &Experiment) -> Vec<f64> {
    if cell.metric == Metric::Instructions {
        return Vec::new();
    }
    if let Some(medians) = &cell.round_medians {
        return medians.clone();
    }
    let (all, rounds) = (
        experiment.samples.of(cell.metric) as usize,
        experiment.rounds as usize,
    );
    if samples.len() != all || rounds < 2 || rounds > all {
        return Vec::new();
    }
    let mut rest = samples;
    (0..rounds)
        .map(|round| {
            let share = all / rounds + usize::from(round < all % rounds);
            let (this, after) = rest.split_at(share.min(rest.len()));
            rest = after;
            let mut sorted = this.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            median_of_sorted(&sorted)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden() -> Run {
        Run::parse(include_bytes!("../../experiment/tests/golden/v1.json")).unwrap()
    }

    #[test]
    fn stable_counts_are_exact_and_others_are_windows() {
        let mut run = golden();
        let open = evidence(&run.cells[0], &run.experiment);
        assert_eq!((open.value, open.exact), (Some(4979.0), true));
        let counts = run.cells[1].counts.as_mut().unwrap();
        let (modal, other) = (counts.modal.windows, counts.paths[0].windows);
        assert_eq!((modal, other), (59, 5));
        counts.windows = 200;
        let stat = evidence(&run.cells[1], &run.experiment);
        assert!(!stat.exact && stat.samples.is_empty(), "paths are missing");
        let counts = run.cells[1].counts.as_mut().unwrap();
        counts.windows = u64::MAX;
        counts.paths[0].windows = u64::MAX - 59;
        assert!(evidence(&run.cells[1], &run.experiment).samples.is_empty());
    }

    #[test]
    fn rounds_are_shares_of_the_samples() {
        let mut run = golden();
        let position = run.cells.iter().position(|c| c.metric == Metric::Time);
        let position = position.unwrap();
        run.experiment.rounds = 3;
        run.experiment.samples.time = 7;
        run.cells[position].samples = Some(vec![1.0, 2.0, 3.0, 10.0, 20.0, 7.0, 7.0]);
        let cell = &run.cells[position];
        assert_eq!(evidence(cell, &run.experiment).rounds, [2.0, 15.0, 7.0]);
        run.experiment.samples.time = 8;
        assert!(evidence(cell, &run.experiment).rounds.is_empty());
    }
}
