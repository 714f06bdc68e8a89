// SPDX-License-Identifier: GPL-2.0-or-later
//! A prediction for programs: a row for each hook, system call and stack.

use model::PredictionDocument;
use model::prediction::{CallCost, PredictedCalls, PredictedLoad};

use crate::column::{Columns, Records};

/// Calls under a stack, with its position.
type Line<'a> = (
    &'a PredictedLoad,
    &'a PredictedCalls,
    (usize, &'a String),
    Option<&'a CallCost>,
);

/// A row for each hook, system call and stack. A later version may append columns; it keeps
/// these.
///
/// - `load`: whose calls; `seconds`: how long they were recorded, empty of a whole program.
/// - `hook`, `system_call`, `calls`: what was recorded; `recorded_ns`: the time that it took.
/// - `basis`: `system_call`, `hook` or `nothing`: by what the cost is known; `operations`: of
///   how many operations it is the median.
/// - `stack`, `baseline`: the first is the baseline, whose `added` are empty.
/// - `per_call`: instructions of one call under the stack; `added`, `added_low`, `added_high`:
///   what all calls cost more than under the baseline, with the cheapest and the dearest.
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
