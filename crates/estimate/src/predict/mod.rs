// SPDX-License-Identifier: GPL-2.0-or-later
//! Predicts the cost of recorded hook calls under another stack; returns a
//! [`PredictionDocument`](model::PredictionDocument).
//!
//! [`Load`]s are recorded calls, [`Costs`] the lab's cost of a call under each stack. [`predict()`]
//! multiplies the two. This module does no I/O.

mod costs;
mod doubt;
mod forms;
mod load;

pub use costs::{Cost, Costs, Wanted};
pub use load::{Load, Recorded, Recording};

use std::collections::{BTreeMap, HashMap};

use model::prediction::{
    Basis, Coverage, PredictedCalls, PredictedLoad, PredictedModule, PredictedStack, Range,
};
use model::{PredictionDocument, Tool};

use doubt::doubts;

/// Costs of a recording's calls under each stack. For programs counted under several stacks, the
/// calls under the baseline are used, else those under the first stack. Where a program was counted
/// under the baseline and a stack, the measured cost is added to the prediction.
pub fn predict(recording: &Recording, costs: &Costs) -> PredictionDocument {
    // In the recording's order, each with all its stacks.
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<&Load>> = Vec::new();
    for load in &recording.loads {
        let position = *positions.entry(&load.name).or_insert(groups.len());
        match groups.get_mut(position) {
            Some(group) => group.push(load),
            None => groups.push(vec![load]),
        }
    }
    let loads = groups.iter().map(|same| predict_load(same, costs));
    let loads: Vec<PredictedLoad> = loads.collect();
    PredictionDocument {
        tool: Tool::default(),
        release: recording.release.clone(),
        active_lsms: recording.active_lsms.clone(),
        costs_release: costs.release.clone(),
        stacks: costs.stacks.clone(),
        processor: costs.processor.clone(),
        warnings: doubts(recording, costs, &loads),
        loads,
    }
}

fn predict_load(same: &[&Load], costs: &Costs) -> PredictedLoad {
    let under = |stack: &String| same.iter().find(|load| load.stack == *stack);
    let load = under(&costs.stacks[0]).unwrap_or(&same[0]);
    let mut calls = Vec::new();
    let mut modules = vec![BTreeMap::new(); costs.stacks.len()];
    for recorded in load.calls.iter().filter(|call| call.calls > 0) {
        let cost = costs.of_call(&recorded.hook, &recorded.system_call);
        if let Some(cost) = cost {
            for (sums, parts) in modules.iter_mut().zip(&cost.modules) {
                for (module, part) in parts {
                    *sums.entry(module.clone()).or_insert(0.0) += part * recorded.calls as f64;
                }
            }
        }
        calls.push(PredictedCalls {
            hook: recorded.hook.clone(),
            system_call: recorded.system_call.clone(),
            calls: recorded.calls,
            recorded_ns: recorded.ns,
            basis: cost.map_or(Basis::Nothing, |cost| cost.basis),
            operations: cost.map_or(0, |cost| cost.operations as u32),
            costs: cost.map_or_else(Vec::new, |cost| cost.stacks.clone()),
        });
    }
    calls.sort_by(|a, b| (&a.hook, &a.system_call).cmp(&(&b.hook, &b.system_call)));
    let measured = |stack: &String| {
        let [base, own] = [&costs.stacks[0], stack].map(|stack| under(stack)?.hooked);
        let difference = i128::from(own?) - i128::from(base?);
        i64::try_from(difference).ok()
    };
    let stacks = costs.stacks.iter().zip(modules).enumerate();
    PredictedLoad {
        name: load.name.clone(),
        seconds: load.seconds,
        coverage: Coverage::from_calls(&calls),
        stacks: stacks
            .map(|(at, (stack, modules))| PredictedStack {
                measured: measured(stack).filter(|_| at > 0),
                ..sum(&calls, at, modules)
            })
            .collect(),
        calls,
    }
}

fn sum(calls: &[PredictedCalls], at: usize, modules: BTreeMap<String, f64>) -> PredictedStack {
    let instructions: f64 = calls
        .iter()
        .filter_map(|pair| Some(pair.costs.get(at)?.instructions * pair.calls as f64))
        .sum();
    let own: f64 = modules.values().sum();
    let framework = PredictedModule {
        module: None,
        instructions: instructions - own,
    };
    let modules = modules
        .into_iter()
        .map(|(module, instructions)| PredictedModule {
            module: Some(module),
            instructions,
        });
    let added = calls.iter().filter_map(|pair| pair.added(at));
    let added_ns = calls.iter().filter_map(|pair| {
        let ns = |at: usize| pair.costs.get(at)?.ns;
        Some((ns(at)? - ns(0)?) * pair.calls as f64)
    });
    let weighed = calls
        .iter()
        .any(|pair| pair.costs.iter().any(|cost| cost.ns.is_some()));
    PredictedStack {
        instructions,
        added: (at > 0).then(|| added.fold(Range::default(), Range::plus)),
        added_ns: (at > 0 && weighed).then(|| added_ns.sum()),
        measured: None,
        modules: std::iter::once(framework).chain(modules).collect(),
    }
}
