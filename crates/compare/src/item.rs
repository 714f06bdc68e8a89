// SPDX-License-Identifier: GPL-2.0-or-later
//! What every document is turned into: figures with their keys, and what stands behind them.

use experiment::comparison::{Figure, Place};
use experiment::{Key, Status};
use stats::median_of_sorted;

/// A figure, and what stands behind it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Whose it is; of a recording the function takes the benchmark's place.
    pub(crate) key: Key,
    /// What else tells it from others, in words: of a sweep the key's delay, of a recording
    /// the module.
    pub(crate) detail: String,
    pub(crate) measured: Measured,
    /// Reasons not to trust it.
    pub(crate) doubts: Vec<String>,
    /// Where in its document it is, from 0.
    pub(crate) position: usize,
}

/// A figure as far as a comparison needs it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) status: Status,
    pub(crate) reason: Option<String>,
    /// None unless the status is ok.
    pub(crate) value: Option<f64>,
    /// It is a count that needs no interval.
    pub(crate) exact: bool,
    pub(crate) n: Option<u64>,
    pub(crate) ci95: Option<[f64; 2]>,
    /// All samples, ascending; empty if they were not kept.
    pub(crate) samples: Vec<f64>,
    /// Each round's median; empty if rounds are not known.
    pub(crate) rounds: Vec<f64>,
    /// What the figure was in runs without a change, this one among them; empty if there
    /// were none.
    pub(crate) runs: Vec<f64>,
}

/// Where a figure was measured.
pub(crate) fn place(key: &Key) -> Place {
    Place {
        kernel: key.kernel.clone(),
        configuration: key.configuration_title(),
        filesystem: key.filesystem.clone(),
    }
}

impl Measured {
    /// Nothing: why.
    pub(crate) fn missing(status: Status, reason: Option<&str>) -> Measured {
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

    /// A count.
    pub(crate) fn exact(value: f64) -> Measured {
        Measured {
            value: Some(value),
            exact: true,
            ..Measured::missing(Status::Ok, None)
        }
    }

    /// Samples, in any order.
    pub(crate) fn of_samples(samples: Vec<f64>) -> Measured {
        let mut measured = Measured::missing(Status::Ok, None);
        measured.take_samples(samples);
        if measured.samples.is_empty() {
            return Measured::missing(Status::Failed, Some("it has no samples"));
        }
        measured.value = Some(median_of_sorted(&measured.samples));
        measured.n = Some(measured.samples.len() as u64);
        measured
    }

    /// Takes over samples, if all are numbers.
    pub(crate) fn take_samples(&mut self, mut samples: Vec<f64>) {
        if samples.iter().all(|x| x.is_finite()) {
            samples.sort_unstable_by(f64::total_cmp);
            self.samples = samples;
        }
    }

    pub(crate) fn figure(&self) -> Figure {
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
