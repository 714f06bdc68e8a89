// SPDX-License-Identifier: GPL-2.0-or-later
//! What every kind of document is turned into: keys and evidence.

use experiment::comparison::{Figure, Place, Quantity};
use experiment::{Integrity, Policy, Status, Tuning, configuration_title};
use stats::median_of_sorted;

/// What identifies a figure on one side.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) kernel: String,
    pub(crate) configuration: Setup,
    pub(crate) filesystem: String,
    pub(crate) benchmark: String,
    pub(crate) variant: String,
    pub(crate) detail: String,
    pub(crate) quantity: Quantity,
}

/// A configuration; of recordings and sweeps only what they have of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Setup {
    pub(crate) stack: String,
    pub(crate) integrity: Vec<Integrity>,
    pub(crate) policy: Policy,
    pub(crate) tuning: Tuning,
}

/// A figure, and what stands behind it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) key: Key,
    pub(crate) evidence: Evidence,
    /// Reasons not to trust it.
    pub(crate) doubts: Vec<String>,
    /// Where in its document it is, from 0.
    pub(crate) position: usize,
}

/// What stands behind a figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
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

impl Setup {
    pub(crate) fn of_stack(stack: String) -> Setup {
        Setup {
            stack,
            integrity: Vec::new(),
            policy: Policy::None,
            tuning: Tuning::default(),
        }
    }

    pub(crate) fn title(&self) -> String {
        configuration_title(&self.stack, &self.integrity, self.policy, &self.tuning)
    }
}

impl Key {
    pub(crate) fn place(&self) -> Place {
        Place {
            kernel: self.kernel.clone(),
            configuration: self.configuration.title(),
            filesystem: self.filesystem.clone(),
        }
    }
}

impl Evidence {
    /// Nothing: why.
    pub(crate) fn missing(status: Status, reason: Option<&str>) -> Evidence {
        Evidence {
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
    pub(crate) fn exact(value: f64) -> Evidence {
        Evidence {
            value: Some(value),
            exact: true,
            ..Evidence::missing(Status::Ok, None)
        }
    }

    /// Samples, in any order.
    pub(crate) fn of_samples(samples: Vec<f64>) -> Evidence {
        let mut evidence = Evidence::missing(Status::Ok, None);
        evidence.take_samples(samples);
        if evidence.samples.is_empty() {
            return Evidence::missing(Status::Failed, Some("it has no samples"));
        }
        evidence.value = Some(median_of_sorted(&evidence.samples));
        evidence.n = Some(evidence.samples.len() as u64);
        evidence
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
