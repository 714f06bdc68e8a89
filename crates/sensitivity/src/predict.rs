// SPDX-License-Identifier: GPL-2.0-or-later
//! What a module's decisions should cost an operation, and how far off that is.

use std::collections::BTreeMap;

use experiment::{Caches, HookCost, Prediction, Profile, Slope, Status};

/// Of one module on one kernel: what it adds to each operation, hook by hook.
#[derive(Debug, Default)]
struct Added {
    /// Instructions that the module adds, and calls, by hook.
    hooks: BTreeMap<String, (f64, u64)>,
    /// Instructions that it adds altogether.
    total: f64,
}

impl Added {
    /// From an operation's profile with the module, compared with one without.
    fn of(profile: &Profile) -> Option<Added> {
        let base = profile.baseline.as_ref()?;
        let before: BTreeMap<&str, &HookCost> = base
            .hooks
            .iter()
            .map(|hook| (hook.hook.as_str(), hook))
            .collect();
        let mut hooks = BTreeMap::new();
        for hook in &profile.hooks {
            let without = before.get(hook.hook.as_str()).map_or(0, |h| h.outermost);
            let added = hook.outermost as f64 - without as f64;
            hooks.insert(hook.hook.clone(), (added, hook.calls));
        }
        Some(Added {
            hooks,
            total: profile.total as f64 - base.total as f64,
        })
    }
}

/// Predicts what `lsm` adds to each operation that was profiled with and without it:
/// each hook's slope times what the module adds to a call of that hook in operations of
/// *other* benchmarks, so that nothing is foretold from itself.
#[must_use]
pub fn of_module(lsm: &str, profiles: &[Profile], slopes: &[Slope]) -> Vec<Prediction> {
    let usable = |profile: &&Profile| profile.status == Status::Ok && profile.baseline.is_some();
    let added: Vec<(&Profile, Added)> = profiles
        .iter()
        .filter(usable)
        .filter_map(|profile| Some((profile, Added::of(profile)?)))
        .collect();
    let mut predictions = Vec::new();
    for (profile, own) in &added {
        let per_hook: Vec<&Slope> = slopes
            .iter()
            .filter(|slope| {
                slope.status == Status::Ok
                    && !slope.is_whole()
                    && slope.caches == Caches::Warm
                    && (&slope.kernel, &slope.benchmark, &slope.variant)
                        == (&profile.kernel, &profile.benchmark, &profile.variant)
            })
            .collect();
        if per_hook.is_empty() && own.hooks.values().any(|(cost, _)| *cost != 0.0) {
            continue;
        }
        let mut predicted = 0.0;
        let mut decisions = 0.0;
        let mut unknown = Vec::new();
        for slope in per_hook {
            let hook = &slope.hooks[0];
            match elsewhere(&added, profile, hook) {
                Some(cost) => predicted += slope.slope * cost,
                None => unknown.push(hook.clone()),
            }
            decisions += slope.slope;
        }
        predictions.push(Prediction {
            kernel: profile.kernel.clone(),
            benchmark: profile.benchmark.clone(),
            variant: profile.variant.clone(),
            lsm: Some(lsm.to_owned()),
            decision: if decisions > 0.5 {
                predicted / decisions
            } else {
                0.0
            },
            predicted,
            measured: Some(own.total),
            error: (own.total != 0.0).then(|| (predicted - own.total) / own.total),
            unknown,
        });
    }
    predictions
}

/// Instructions that the module adds to a call of `hook`, over all operations of other
/// benchmarks on the kernel.
fn elsewhere(added: &[(&Profile, Added)], profile: &Profile, hook: &str) -> Option<f64> {
    let (mut cost, mut calls) = (0.0, 0);
    for (other, of) in added {
        if other.benchmark == profile.benchmark || other.kernel != profile.kernel {
            continue;
        }
        if let Some((instructions, n)) = of.hooks.get(hook) {
            cost += instructions;
            calls += n;
        }
    }
    (calls > 0).then(|| cost / calls as f64)
}

/// What decisions of `decision` instructions each add to every operation.
#[must_use]
pub fn of_time(decision: f64, slopes: &[Slope]) -> Vec<Prediction> {
    slopes
        .iter()
        .filter(|slope| {
            slope.status == Status::Ok && slope.is_whole() && slope.caches == Caches::Warm
        })
        .map(|slope| Prediction {
            kernel: slope.kernel.clone(),
            benchmark: slope.benchmark.clone(),
            variant: slope.variant.clone(),
            lsm: None,
            decision,
            predicted: slope.slope * decision,
            measured: None,
            error: None,
            unknown: Vec::new(),
        })
        .collect()
}
