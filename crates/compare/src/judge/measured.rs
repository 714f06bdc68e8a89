// SPDX-License-Identifier: GPL-2.0-or-later
//! A figure with its evidence.

use model::{
    Cell, Counted, Document, Estimate, Evidence, Experiment, HookedPath, Kind, Metric, Paths,
    Slope, Status, Timed, comparison::Figure, is_dominant,
};
use stats::median_of_sorted;

/// At most this many measured regions are expanded into samples.
const WINDOWS_MAX: u64 = 100_000;

#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub status: Status,
    pub reason: Option<String>,
    pub value: Option<f64>,
    /// A count that needs no interval.
    pub exact: bool,
    pub n: Option<u64>,
    pub ci95: Option<[f64; 2]>,
    /// Ascending; empty if they were not kept.
    pub samples: Vec<f64>,
    /// Each round's median; empty if unknown.
    pub rounds: Vec<f64>,
    /// Figures in runs without a change, including this run; may be empty.
    pub runs: Vec<f64>,
}

impl Measured {
    /// `experiment` is the cell's, if known. Returns None for calls, which have many figures.
    pub fn from_cell(cell: &Cell, experiment: Option<&Experiment>) -> Option<Measured> {
        match cell.evidence() {
            Some(Evidence::Counted(counted)) => Some(of_regions(cell, counted)),
            Some(Evidence::Timed(timed)) => Some(of_rounds(cell, timed, experiment)),
            Some(Evidence::Slope(slope)) => Some(of_line(slope)),
            Some(Evidence::Calls(_)) => None,
            None => Some(Measured::missing(cell.status(), cell.reason())),
        }
    }

    pub fn missing(status: Status, reason: Option<&str>) -> Measured {
        Measured {
            status,
            reason: reason.map(str::to_owned),
            value: None,
            exact: false,
            n: None,
            ci95: None,
            samples: Vec::new(),
            rounds: Vec::new(),
            runs: Vec::new(),
        }
    }

    pub fn exact(value: f64) -> Measured {
        Measured {
            value: Some(value),
            exact: true,
            ..Measured::missing(Status::Ok, None)
        }
    }

    pub fn of_samples(samples: Vec<f64>) -> Measured {
        let mut measured = Measured::missing(Status::Ok, None);
        measured.take_samples(samples);
        if measured.samples.is_empty() {
            return Measured::missing(Status::Failed, Some("no samples"));
        }
        measured.value = Some(median_of_sorted(&measured.samples));
        measured.n = Some(measured.samples.len() as u64);
        measured
    }

    fn take_samples(&mut self, mut samples: Vec<f64>) {
        if samples.iter().all(|x| x.is_finite()) {
            samples.sort_unstable_by(f64::total_cmp);
            self.samples = samples;
        }
    }

    /// Bounds of a varying count: its 95 % interval or, with too few samples, the range extended on
    /// both sides by its own width.
    pub(crate) fn ends(&self) -> Option<[f64; 2]> {
        if self.exact {
            return self.value.map(|value| [value; 2]);
        }
        self.ci95.or_else(|| {
            let (low, high) = (*self.samples.first()?, *self.samples.last()?);
            Some([2.0 * low - high, 2.0 * high - low])
        })
    }

    pub fn figure(&self) -> Figure {
        Figure {
            status: self.status,
            value: self.value,
            n: self.n,
            rounds: (self.rounds.len() > 1).then_some(self.rounds.len() as u32),
            ci95: self.ci95.filter(|_| !self.exact),
            reason: self.reason.clone(),
        }
    }
}

/// A profile's cell has two figures: the whole operation, and its part in hooks.
pub fn figures(cell: &Cell, document: &Document) -> Vec<(Metric, Measured)> {
    let profile = document.kind == Kind::Profile;
    let counted = cell.counted().filter(|_| profile);
    let hooked = counted.and_then(|counted| Some((counted, counted.hooked.as_ref()?)));
    if let Some((counted, path)) = hooked {
        let whole = match is_dominant(path.regions, counted.regions()) {
            true => of_path(path, counted, path.total),
            false => of_regions(cell, counted),
        };
        if cell.key.metric.is_of_transfers() {
            return vec![(cell.key.metric, whole)];
        }
        let inside = of_path(path, counted, path.hooked);
        return vec![
            (Metric::Instructions, whole),
            (Metric::HookInstructions, inside),
        ];
    }
    let Some(measured) = Measured::from_cell(cell, document.experiment.as_ref()) else {
        return Vec::new();
    };
    let inside_hooks = profile && measured.value.is_none();
    let inside_hooks = inside_hooks.then(|| (Metric::HookInstructions, measured.clone()));
    let all = std::iter::once((cell.key.metric, measured));
    all.chain(inside_hooks).collect()
}

fn of_path(path: &HookedPath, counted: &Counted, value: u64) -> Measured {
    let dominant = is_dominant(path.regions, counted.regions());
    Measured {
        exact: dominant,
        n: Some(counted.regions()),
        reason: (!dominant).then(|| "no dominant path".to_owned()),
        ..Measured::exact(value as f64)
    }
}

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

fn of_regions(cell: &Cell, counted: &Counted) -> Measured {
    let estimate = counted.estimate.as_ref();
    let mut measured = estimated(cell, estimate);
    if measured.value.is_some() {
        let held = cell.key.metric == Metric::Memory;
        let program = counted.program.as_ref();
        let alike = held || program.is_some() || counted.paths.is_some();
        measured.exact = alike && counted.is_exact();
        measured.runs.clone_from(&counted.machines);
        let samples = estimate.and_then(|estimate| estimate.samples.clone());
        let regions = || counted.paths.as_ref().and_then(regions);
        let runs = || Some(program?.runs.iter().map(|run| run.kernel as f64).collect());
        let samples = samples.or_else(regions).or_else(runs);
        measured.take_samples(samples.unwrap_or_default());
    }
    measured
}

fn regions(paths: &Paths) -> Option<Vec<f64>> {
    let all = || std::iter::once(&paths.dominant).chain(&paths.others);
    let sum: u128 = all().map(|path| u128::from(path.regions)).sum();
    if sum != u128::from(paths.regions) || paths.regions > WINDOWS_MAX {
        return None;
    }
    let samples = |path: &model::PathCount| {
        std::iter::repeat_n(path.instructions as f64, path.regions as usize)
    };
    Some(all().flat_map(samples).collect())
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

/// Medians of rounds; `samples` are in the order taken.
fn rounds(metric: Metric, samples: &[f64], experiment: Option<&Experiment>) -> Vec<f64> {
    let Some(experiment) = experiment else {
        return Vec::new();
    };
    let all = experiment.samples.for_metric(metric) as usize;
    let rounds = experiment.rounds as usize;
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

/// A slope with an interval at least as wide as the accepted difference between slope and count,
/// because the interval of a line through exact counts has no width.
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
