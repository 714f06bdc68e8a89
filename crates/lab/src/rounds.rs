// SPDX-License-Identifier: GPL-2.0-or-later
//! Timed rounds of one measurement, and the selection of rounds that count.

use model::{Estimate, Evidence, Metric, Timed, Warning, WarningKind};
use stats::{Summary, quantile_of_sorted};

use crate::protocol::Sample;
use crate::session::CellReport;

/// Largest part of a sample that reading the clock may take.
const CLOCK_SHARE: f64 = 0.01;
/// Rounds whose medians differ by more have drifted.
const DRIFT: f64 = 0.1;
/// If the coefficient of variation of the rounds is larger, their number may be doubled.
const UNSTEADY: f64 = 0.02;
/// Quantile of a round's samples for [`Timed::quiet`].
const QUIET: f64 = 0.1;

#[derive(Debug, Clone)]
struct Round {
    samples: Vec<Sample>,
    is_disturbed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Rounds {
    metric: Metric,
    asked: u32,
    pub(crate) are_probed: bool,
    rounds: Vec<Round>,
    batch: u32,
    clock_ns: f64,
}

impl Rounds {
    pub(crate) fn new(metric: Metric, asked: u32) -> Rounds {
        Rounds {
            metric,
            asked,
            are_probed: false,
            rounds: Vec::new(),
            batch: 0,
            clock_ns: 0.0,
        }
    }

    pub(crate) fn take(&mut self, report: CellReport, clock_ns: f64) {
        self.batch = report.batch;
        self.clock_ns = clock_ns;
        self.rounds.push(Round {
            samples: report.samples,
            is_disturbed: report.disturbed > 0,
        });
    }

    fn undisturbed(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(|round| !round.is_disturbed)
    }

    pub(crate) fn are_complete(&self) -> bool {
        self.rounds.len() >= self.asked as usize
    }

    /// The number of undisturbed rounds that are missing. At least half of the requested number is
    /// needed, or twice that if rounds differ.
    pub(crate) fn missing(&self) -> u32 {
        let alone = self.undisturbed().count() as u32;
        let needed = match self.are_probed && self.are_unsteady() {
            true => 2 * self.asked,
            false => self.least(),
        };
        needed.saturating_sub(alone)
    }

    fn least(&self) -> u32 {
        self.asked.div_ceil(2)
    }

    fn are_unsteady(&self) -> bool {
        let quiet = quiet(&self.figures());
        let n = quiet.len() as f64;
        let mean = quiet.iter().sum::<f64>() / n;
        let variance = quiet.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>() / (n - 1.0);
        quiet.len() > 1 && variance.sqrt() > UNSTEADY * mean
    }

    /// Values of the rounds that count, in the metric's unit: the undisturbed ones, or all if every
    /// round was disturbed.
    fn figures(&self) -> Vec<Vec<f64>> {
        let all = self.undisturbed().next().is_none();
        let chosen = self
            .rounds
            .iter()
            .filter(|round| all || !round.is_disturbed);
        let figures = |round: &Round| {
            let samples = round.samples.iter();
            samples.map(|sample| figure(self.metric, *sample)).collect()
        };
        chosen.map(figures).collect()
    }

    pub(crate) fn timed(&self, keep_samples: bool) -> Result<(Evidence, Vec<f64>), String> {
        let rounds = self.figures();
        let quiet = match self.metric {
            Metric::Time => quiet(&rounds),
            _ => Vec::new(),
        };
        let timed = Timed {
            rounds: medians(&rounds),
            quiet,
            batch: Some(self.batch),
            disturbed: self.are_probed.then(|| self.undisturbed().next().is_none()),
            ..Timed::new(estimate(&rounds, keep_samples)?)
        };
        Ok((Evidence::Timed(timed), rounds.concat()))
    }

    pub(crate) fn held(&self) -> Result<Estimate, String> {
        estimate(&self.figures(), false)
    }

    pub(crate) fn doubts(&self, title: &str) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |kind, message| warnings.push(Warning::new(kind, message));
        let samples = self.rounds.iter().flat_map(|round| &round.samples);
        let shortest = samples.map(|sample| sample.ns).min().unwrap_or(0);
        let share = 2.0 * self.clock_ns / shortest.max(1) as f64;
        if share > CLOCK_SHARE {
            let percent = share * 100.0;
            warn(
                WarningKind::ClockShare,
                format!("{title}: reading the clock takes {percent:.1} % of a sample"),
            );
        }
        let (all, alone) = (self.rounds.len(), self.undisturbed().count());
        if alone < self.least() as usize {
            warn(
                WarningKind::Disturbed,
                format!(
                    "{title}: other tasks used the processor core in {} of {all} rounds",
                    all - alone
                ),
            );
        }
        let medians = medians(&self.figures());
        let low = medians.iter().copied().fold(f64::INFINITY, f64::min);
        let high = medians.iter().copied().fold(0.0, f64::max);
        if medians.len() > 1 && high > low * (1.0 + DRIFT) {
            warn(
                WarningKind::Drift,
                format!("{title}: the medians of its rounds range from {low:.0} to {high:.0}"),
            );
        }
        warnings
    }
}

pub(crate) fn estimate(rounds: &[Vec<f64>], keep_samples: bool) -> Result<Estimate, String> {
    let summary = Summary::from_rounds(rounds).map_err(|error| error.to_string())?;
    Ok(Estimate {
        samples: keep_samples.then(|| rounds.concat()),
        ..Estimate::from(&summary)
    })
}

fn medians(rounds: &[Vec<f64>]) -> Vec<f64> {
    let median = |round: &Vec<f64>| {
        Summary::from_samples(round)
            .ok()
            .map(|summary| summary.median)
    };
    rounds.iter().filter_map(median).collect()
}

/// The low quantile of each round's samples; rounds without samples are skipped.
fn quiet(rounds: &[Vec<f64>]) -> Vec<f64> {
    let rounds = rounds.iter().filter(|round| !round.is_empty());
    let quiet = rounds.map(|round| {
        let mut sorted = round.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        quantile_of_sorted(&sorted, QUIET)
    });
    quiet.collect()
}

fn figure(metric: Metric, sample: Sample) -> f64 {
    let (operations, ns) = (sample.operations as f64, sample.ns as f64);
    match metric {
        Metric::Throughput => operations * 1e9 / ns,
        _ => ns / operations,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_is_operations_per_second() {
        let sample = Sample {
            operations: 5,
            ns: 1_000,
        };
        assert_eq!(figure(Metric::Throughput, sample), 5e6);
    }
}
