// SPDX-License-Identifier: GPL-2.0-or-later
//! What operations took, and what stacks added to that.

use std::collections::BTreeMap;

use experiment::{Document, Key, Metric};
use stats::centre;

use crate::error::EstimateError;

/// A time and how far it may well be off, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ns {
    pub(crate) ns: f64,
    pub(crate) error: f64,
}

/// What operations took.
#[derive(Debug, Clone)]
pub struct Times {
    /// The processor's name.
    pub(crate) processor: String,
    /// `uname -r` of its kernels.
    pub(crate) release: String,
    /// By key without kernel and metric: what the operation took.
    pub(crate) whole: BTreeMap<Key, Ns>,
    /// What it took more than the baseline.
    pub(crate) added: BTreeMap<Key, Ns>,
    /// System calls of the operation.
    pub(crate) system_calls: BTreeMap<Key, usize>,
}

/// A key by which times and counts meet: of any kernel, of any metric.
pub(crate) fn meeting(key: &Key) -> Key {
    Key {
        kernel: String::new(),
        metric: Metric::Instructions,
        ..key.clone()
    }
}

/// The times of a run. Of several kernels (layouts of one, as `lsmeter kernel build --layouts`
/// makes) the centre of their figures, each that of a quiet round.
///
/// # Errors
/// [`EstimateError::NoTimes`].
pub fn times_of(document: &Document) -> Result<Times, EstimateError> {
    let mut whole: BTreeMap<Key, Vec<Ns>> = BTreeMap::new();
    let mut added: BTreeMap<Key, Vec<Ns>> = BTreeMap::new();
    let mut system_calls = BTreeMap::new();
    let mut by_key: BTreeMap<&Key, Ns> = BTreeMap::new();
    let mut release = String::new();
    for cell in &document.cells {
        let Some(timed) = cell.timed().filter(|_| cell.key.metric == Metric::Time) else {
            continue;
        };
        let [low, high] = timed.estimate.ci95.unwrap_or([timed.estimate.median; 2]);
        let figure = Ns {
            ns: judge::quiet(timed).unwrap_or(timed.estimate.median),
            error: (high - low).abs() / 4.0,
        };
        by_key.insert(&cell.key, figure);
        whole.entry(meeting(&cell.key)).or_default().push(figure);
        system_calls.insert(meeting(&cell.key), cell.syscalls.len());
        release.clone_from(&cell.release);
    }
    for (key, own) in &by_key {
        let base = document.baseline_of(key);
        let Some(base) = base.and_then(|base| by_key.get(&base).copied()) else {
            continue;
        };
        added.entry(meeting(key)).or_default().push(Ns {
            ns: own.ns - base.ns,
            error: own.error.hypot(base.error),
        });
    }
    if added.is_empty() {
        return Err(EstimateError::NoTimes);
    }
    Ok(Times {
        processor: document.environment.cpu.clone(),
        release,
        whole: together(whole),
        added: together(added),
        system_calls,
    })
}

/// Where the figures of several kernels lie.
fn together(figures: BTreeMap<Key, Vec<Ns>>) -> BTreeMap<Key, Ns> {
    let one = |of: Vec<Ns>| {
        let mut ns: Vec<f64> = of.iter().map(|of| of.ns).collect();
        if let Some(centre) = centre(&ns) {
            let [low, high] = centre.ci95;
            return Ns {
                ns: centre.value,
                error: (high - low) / 4.0,
            };
        }
        ns.sort_by(f64::total_cmp);
        let error = of.iter().map(|of| of.error).fold(0.0, f64::max);
        Ns {
            ns: stats::median_of_sorted(&ns),
            error,
        }
    };
    let figures = figures.into_iter().map(|(key, of)| (key, one(of)));
    figures
        .filter(|(_, of)| of.ns.is_finite() && of.error.is_finite())
        .collect()
}
