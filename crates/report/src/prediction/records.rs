// SPDX-License-Identifier: GPL-2.0-or-later
//! A prediction for programs: a row per hook, system call and stack.

use model::PredictionDocument;
use model::prediction::{CallCost, PredictedCalls, PredictedLoad};

use crate::column::{Columns, Records};

type Line<'a> = (
    &'a PredictedLoad,
    &'a PredictedCalls,
    (usize, &'a String),
    Option<&'a CallCost>,
);

/// Columns: `docs/export.md`.
pub fn prediction_records(document: &PredictionDocument) -> Records<'_> {
    let stacks = document.stacks.iter().enumerate();
    let rows = document.loads.iter().flat_map(move |load| {
        let stacks = stacks.clone();
        load.calls.iter().flat_map(move |pair| {
            let stacks = stacks.clone();
            stacks.map(move |stack| -> Line<'_> { (load, pair, stack, pair.costs.get(stack.0)) })
        })
    });
    let baseline = document.stacks.first();
    Columns::new()
        .column("load", |(load, ..): Line<'_>| &load.name)
        .column("seconds", |(load, ..)| load.seconds)
        .column("hook", |(_, pair, ..)| &pair.hook)
        .column("system_call", |(_, pair, ..)| &pair.system_call)
        .column("calls", |(_, pair, ..)| pair.calls)
        .column("recorded_ns", |(_, pair, ..)| pair.recorded_ns)
        .column("basis", |(_, pair, ..)| pair.basis.as_str())
        .column("operations", |(_, pair, ..)| pair.operations)
        .column("stack", |(_, _, (_, stack), _)| stack)
        .column("baseline", move |_| baseline)
        .column("per_call", |(.., cost)| Some(cost?.instructions))
        .column("added", |(_, pair, (at, _), _)| {
            Some(pair.added(at)?.middle)
        })
        .column("added_low", |(_, pair, (at, _), _)| {
            Some(pair.added(at)?.low)
        })
        .column("added_high", |(_, pair, (at, _), _)| {
            Some(pair.added(at)?.high)
        })
        .records(rows)
}
