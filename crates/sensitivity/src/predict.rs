// SPDX-License-Identifier: GPL-2.0-or-later
//! Predicts a module's cost from slopes, with the error.

use std::collections::BTreeMap;

use model::{Caches, Cell, Delay, Document, HookCost, HookedPath, Key, Prediction};

/// What a module adds to each operation on one kernel.
#[derive(Debug, Default)]
struct Added {
    /// Added instructions, and calls, by hook.
    hooks: BTreeMap<String, (f64, u64)>,
    total: f64,
}

impl Added {
    fn new(path: &HookedPath, base: &HookedPath) -> Added {
        let before = base.hooks.iter().map(|hook| (hook.hook.as_str(), hook));
        let before: BTreeMap<&str, &HookCost> = before.collect();
        let mut hooks = BTreeMap::new();
        for hook in &path.hooks {
            let without = before.get(hook.hook.as_str()).map_or(0, |h| h.outermost);
            let added = hook.outermost as f64 - without as f64;
            hooks.insert(hook.hook.clone(), (added, hook.calls));
        }
        Added {
            hooks,
            total: path.total as f64 - base.total as f64,
        }
    }
}

/// Predicts the cost of `lsm` for each operation profiled with and without it: each hook's slope
/// times the module's cost per call in *other* benchmarks, so a result never predicts itself.
pub fn of_module(lsm: &str, profiles: &Document, sweep: &Document) -> Vec<Prediction> {
    let compared = profiles.hooked().filter_map(|(cell, counted, path)| {
        let base = &counted.residual.as_ref()?.path;
        Some((cell, Added::new(path, base)))
    });
    let added: Vec<(&Cell, Added)> = compared.collect();
    let mut predictions = Vec::new();
    for (Cell { key, .. }, own) in &added {
        let per_hook: Vec<(&String, f64)> = sweep
            .slopes()
            .filter(|(cell, delay, _)| {
                !delay.is_whole()
                    && delay.caches == Caches::Warm
                    && (&cell.key.kernel, &cell.key.subject) == (&key.kernel, &key.subject)
            })
            .map(|(_, delay, slope)| (&delay.hooks[0], slope.slope))
            .collect();
        if per_hook.is_empty() && own.hooks.values().any(|(cost, _)| *cost != 0.0) {
            continue;
        }
        let mut predicted = 0.0;
        let mut decisions = 0.0;
        let mut unknown = Vec::new();
        for (hook, slope) in per_hook {
            match elsewhere(&added, key, hook) {
                Some(cost) => predicted += slope * cost,
                None => unknown.push(hook.clone()),
            }
            decisions += slope;
        }
        predictions.push(Prediction {
            kernel: key.kernel.clone(),
            benchmark: key.benchmark().to_owned(),
            variant: key.variant().to_owned(),
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

/// Added instructions per call of `hook`, over operations of other benchmarks on the kernel.
fn elsewhere(added: &[(&Cell, Added)], key: &Key, hook: &str) -> Option<f64> {
    let (mut cost, mut calls) = (0.0, 0);
    for (Cell { key: other, .. }, costs) in added {
        if other.benchmark() == key.benchmark() || other.kernel != key.kernel {
            continue;
        }
        if let Some((instructions, n)) = costs.hooks.get(hook) {
            cost += instructions;
            calls += n;
        }
    }
    (calls > 0).then(|| cost / calls as f64)
}

/// For decisions that take `decision` instructions.
pub fn of_time(decision: f64, sweep: &Document) -> Vec<Prediction> {
    let whole = |delay: &Delay| delay.is_whole() && delay.caches == Caches::Warm;
    let slopes = sweep.slopes().filter(|(_, delay, _)| whole(delay));
    slopes
        .map(|(Cell { key, .. }, _, slope)| Prediction {
            kernel: key.kernel.clone(),
            benchmark: key.benchmark().to_owned(),
            variant: key.variant().to_owned(),
            lsm: None,
            decision,
            predicted: slope.slope * decision,
            measured: None,
            error: None,
            unknown: Vec::new(),
        })
        .collect()
}
