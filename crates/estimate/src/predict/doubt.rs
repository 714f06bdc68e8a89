// SPDX-License-Identifier: GPL-2.0-or-later
//! Warnings about differences between a recording and the costs.

use std::collections::BTreeSet;

use model::prediction::{Basis, PredictedCalls, PredictedLoad};
use model::{Warning, WarningKind, listed};

use crate::predict::costs::Costs;
use crate::predict::load::{Load, Recording};

const NAMED: usize = 6;
const NAME_LIMIT: usize = 200;
/// If more than this share of the calls has no known cost, a warning is printed.
const UNCOVERED_SHARE: f64 = 0.01;
/// Modules that every stack contains.
const FRAMEWORK: [&str; 2] = ["capability", "lockdown"];

pub(crate) fn doubts(
    recording: &Recording,
    costs: &Costs,
    loads: &[PredictedLoad],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind, message: Option<String>| {
        warnings.extend(message.map(|message| Warning::new(kind, message)));
    };
    let (there, here) = (&recording.release, &costs.release);
    let other = there != here;
    let message = || format!("calls were recorded on {there}, but costs were counted on {here}");
    warn(WarningKind::OtherKernel, other.then(message));
    warn(WarningKind::OtherModules, other_modules(recording, costs));
    let sum = |count: fn(&Load) -> u64| {
        let loads = recording.loads.iter();
        loads.fold(0_u64, |sum, load| sum.saturating_add(count(load)))
    };
    let lost = sum(|load| load.lost);
    let message = format!("calls seen but not counted: {lost}");
    warn(WarningKind::LostCalls, (lost > 0).then_some(message));
    warn(WarningKind::LostCalls, unwatched(recording));
    let denied = sum(|load| load.denied);
    let calls = loads.iter().map(|load| load.coverage.calls());
    let calls = calls.fold(0, u64::saturating_add);
    let message =
        format!("{denied} of {calls} calls were denied, but the costs are for allowed calls");
    warn(WarningKind::DeniedCalls, (denied > 0).then_some(message));
    warn(WarningKind::UncoveredCalls, uncovered(loads));
    let dropped = costs.dropped;
    let message =
        format!("operations left out because they were not counted under every stack: {dropped}");
    warn(
        WarningKind::MissingMeasurements,
        (dropped > 0).then_some(message),
    );
    warnings
}

fn other_modules(recording: &Recording, costs: &Costs) -> Option<String> {
    let unknown: Vec<&str> = recording
        .active_lsms
        .iter()
        .map(String::as_str)
        .filter(|module| !FRAMEWORK.contains(module) && !costs.modules.contains(*module))
        .collect();
    (!unknown.is_empty()).then(|| {
        let names = listed(&unknown, NAMED, NAME_LIMIT);
        format!("{names} ran where calls were recorded, but in none of the stacks")
    })
}

fn unwatched(recording: &Recording) -> Option<String> {
    let names = recording
        .left_out
        .iter()
        .chain(&recording.without_framework);
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "not watched and not counted: {}",
            listed(&names, NAMED, NAME_LIMIT)
        )
    })
}

fn uncovered(loads: &[PredictedLoad]) -> Option<String> {
    let much = |load: &&PredictedLoad| {
        load.coverage.uncovered as f64 > UNCOVERED_SHARE * load.coverage.calls() as f64
    };
    let loads: Vec<&PredictedLoad> = loads.iter().filter(much).collect();
    let pairs = loads.iter().flat_map(|load| &load.calls);
    let mut pairs: Vec<&PredictedCalls> =
        pairs.filter(|call| call.basis == Basis::Nothing).collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.calls));
    let mut seen = BTreeSet::new();
    let hooks = pairs.iter().map(|pair| pair.hook.as_str());
    let hooks: Vec<&str> = hooks.filter(|hook| seen.insert(*hook)).collect();
    let share = loads
        .iter()
        .map(|load| 100.0 * load.coverage.uncovered as f64 / load.coverage.calls().max(1) as f64);
    let most = share.fold(0.0, f64::max);
    (!hooks.is_empty()).then(|| {
        let names = listed(&hooks, NAMED, NAME_LIMIT);
        format!("{most:.1} % of the calls have no known cost and are not included: {names}")
    })
}
