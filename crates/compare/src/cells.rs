// SPDX-License-Identifier: GPL-2.0-or-later
//! Cells as items: by what stands behind each.

use experiment::{
    Cell, Counted, Document, Estimate, Evidence, Experiment, HookedPath, Key, Kind, Metric, Paths,
    Slope, Status, Timed,
};
use stats::median_of_sorted;

use crate::doubt::Doubts;
use crate::item::{Item, Measured};

/// Most windows that are laid out one by one.
const WINDOWS_MAX: u64 = 100_000;

/// All cells, in their order. Of a profile each is two: what the operation takes, and what of
/// it is inside hooks.
pub(crate) fn items(document: &Document) -> Vec<Item> {
    let doubts = Doubts::of(&document.warnings);
    let cells = document.cells.iter().enumerate();
    let items = cells.flat_map(|(position, cell)| {
        let figures = figures(cell, document).into_iter();
        figures.map(move |(metric, measured)| (position, cell, metric, measured))
    });
    items
        .map(|(position, cell, metric, measured)| Item {
            key: Key {
                metric,
                ..cell.key.clone()
            },
            detail: delay(&cell.key),
            doubts: doubts.of_position(position, metric, measured.rounds.len() > 1),
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

fn figures(cell: &Cell, document: &Document) -> Vec<(Metric, Measured)> {
    let measured = match cell.evidence() {
        Some(Evidence::Counted(counted)) => match &counted.hooked {
            Some(path) if document.kind == Kind::Profile => {
                return vec![
                    (Metric::Instructions, of_path(path, counted, path.total)),
                    (
                        Metric::HookInstructions,
                        of_path(path, counted, path.hooked),
                    ),
                ];
            }
            _ => of_windows(cell, counted),
        },
        Some(Evidence::Timed(timed)) => of_rounds(cell, timed, document.experiment.as_ref()),
        Some(Evidence::Slope(slope)) => of_line(slope),
        // A recording's figures are of its functions; a monitor's counts are compared by
        // `lsmeter check`.
        Some(Evidence::Calls(_) | Evidence::HookCalls(_)) => return Vec::new(),
        None => Measured::missing(cell.status(), cell.reason()),
    };
    let inside_hooks = document.kind == Kind::Profile && measured.value.is_none();
    let inside_hooks = inside_hooks.then(|| (Metric::HookInstructions, measured.clone()));
    let all = std::iter::once((cell.key.metric, measured));
    all.chain(inside_hooks).collect()
}

/// A figure of the path whose hooks are told.
fn of_path(path: &HookedPath, counted: &Counted, value: u64) -> Measured {
    let stable = 2 * u128::from(path.windows) >= u128::from(counted.windows());
    Measured {
        exact: stable,
        n: Some(counted.windows()),
        reason: (!stable).then(|| "no path holds half of its windows".to_owned()),
        ..Measured::exact(value as f64)
    }
}

/// The cell's figure, and what its samples say of it.
fn estimated(cell: &Cell, estimate: Option<&Estimate>) -> Measured {
    let Some(value) = cell.headline().filter(|value| value.is_finite()) else {
        return Measured::missing(cell.status(), cell.reason());
    };
    Measured {
        value: Some(value),
        n: estimate.map(|estimate| estimate.n),
        ci95: estimate.and_then(|estimate| estimate.ci95),
        ..Measured::missing(Status::Ok, None)
    }
}

fn of_windows(cell: &Cell, counted: &Counted) -> Measured {
    let estimate = counted.estimate.as_ref();
    let mut measured = estimated(cell, estimate);
    if measured.value.is_some() {
        measured.exact = counted.paths.as_ref().is_some_and(Paths::is_stable);
        let samples = estimate.and_then(|estimate| estimate.samples.clone());
        let windows = || counted.paths.as_ref().and_then(windows);
        measured.take_samples(samples.or_else(windows).unwrap_or_default());
    }
    measured
}

/// All windows one by one, as their paths tell them, if they tell all.
fn windows(paths: &Paths) -> Option<Vec<f64>> {
    let all = || std::iter::once(&paths.modal).chain(&paths.others);
    let told: u128 = all().map(|path| u128::from(path.windows)).sum();
    if told != u128::from(paths.windows) || paths.windows > WINDOWS_MAX {
        return None;
    }
    let of = |path: &experiment::PathCount| {
        std::iter::repeat_n(path.instructions as f64, path.windows as usize)
    };
    Some(all().flat_map(of).collect())
}

fn of_rounds(cell: &Cell, timed: &Timed, experiment: Option<&Experiment>) -> Measured {
    let mut measured = estimated(cell, Some(&timed.estimate));
    if measured.value.is_some() {
        measured.runs.clone_from(&timed.runs);
        measured.rounds.clone_from(&timed.rounds);
        if let Some(samples) = &timed.estimate.samples {
            if timed.rounds.is_empty() {
                measured.rounds = rounds(cell.key.metric, samples, experiment);
            }
            measured.take_samples(samples.clone());
        }
    }
    measured
}

/// Each round's median, of its share of the samples, which are in the order taken.
fn rounds(metric: Metric, samples: &[f64], experiment: Option<&Experiment>) -> Vec<f64> {
    let Some(experiment) = experiment else {
        return Vec::new();
    };
    let (all, rounds) = (
        experiment.samples.of(metric) as usize,
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

/// A slope with its interval, which is at least as wide as what slope and count may be
/// apart without anybody asking why: a line through counts has no width of its own.
fn of_line(slope: &Slope) -> Measured {
    let [low, high] = slope.ci95;
    let ci95 = [
        low.min(slope.slope - Slope::DIFFERENCE),
        high.max(slope.slope + Slope::DIFFERENCE),
    ];
    Measured {
        value: Some(slope.slope),
        n: Some(slope.n),
        ci95: Some(ci95),
        ..Measured::missing(Status::Ok, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden() -> Document {
        Document::parse(include_bytes!("../../experiment/tests/golden/v2.json")).unwrap()
    }

    fn measured(run: &Document, cell: usize) -> Measured {
        figures(&run.cells[cell], run).remove(0).1
    }

    #[test]
    fn stable_counts_are_exact_and_others_are_windows() {
        let mut run = golden();
        let open = measured(&run, 0);
        assert_eq!((open.value, open.exact), (Some(4979.0), true));
        let of = |run: &mut Document, windows, others| {
            let paths = run.cells[1].counted_mut().unwrap().paths.as_mut().unwrap();
            (paths.windows, paths.others[0].windows) = (windows, others);
            assert_eq!(paths.modal.windows, 59);
        };
        of(&mut run, 200, 5);
        let stat = measured(&run, 1);
        assert!(!stat.exact && stat.samples.is_empty(), "paths are missing");
        of(&mut run, u64::MAX, u64::MAX - 59);
        assert!(measured(&run, 1).samples.is_empty());
        of(&mut run, 120, 61);
        assert_eq!(measured(&run, 1).samples.len(), 120);
    }

    #[test]
    fn rounds_are_shares_of_the_samples() {
        let mut run = golden();
        let mut cells = run.cells.iter();
        let time = cells.position(|cell| cell.key.metric == Metric::Time);
        let time = time.unwrap();
        let of = |run: &mut Document, samples| {
            let experiment = run.experiment.as_mut().unwrap();
            (experiment.rounds, experiment.samples.time) = (3, samples);
        };
        let timed = run.cells[time].timed_mut().unwrap();
        timed.estimate.samples = Some(vec![1.0, 2.0, 3.0, 10.0, 20.0, 7.0, 7.0]);
        of(&mut run, 7);
        assert_eq!(measured(&run, time).rounds, [2.0, 15.0, 7.0]);
        of(&mut run, 8);
        assert!(measured(&run, time).rounds.is_empty());
        run.experiment = None;
        assert!(measured(&run, time).rounds.is_empty());
    }
}
