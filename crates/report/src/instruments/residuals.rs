// SPDX-License-Identifier: GPL-2.0-or-later
//! What stacks differ in outside hooks.

use std::collections::BTreeMap;

use experiment::check::CheckedResidual;
use experiment::{CheckDocument, CheckVerdict};

use super::{REASON_LIMIT, some_of};
use crate::column::Columns;
use crate::format::difference;
use crate::table::{TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

const LEGEND: &str = "Guest kernel instructions of one operation under the stack, against the \
                      first stack; residual: what differs outside all hooks.";

/// Each residual that nothing explains.
pub(super) fn disagreements(document: &CheckDocument) -> Option<Table> {
    let of = |residual: &&CheckedResidual| residual.verdict == CheckVerdict::Disagree;
    let residuals = document.residuals.iter().filter(of);
    table("Residuals that nothing explains", residuals)
}

/// Every residual.
pub(super) fn all(document: &CheckDocument) -> Option<Table> {
    table("All residuals", &document.residuals)
}

/// What explains residuals, operations together in which it is the same.
pub(super) fn explained(document: &CheckDocument) -> Option<Table> {
    type Key = (String, String, i64, String);
    let mut groups: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    let of = |residual: &&CheckedResidual| residual.verdict == CheckVerdict::Explained;
    for residual in document.residuals.iter().filter(of) {
        let stack = printable(&residual.stack.join(","), TEXT_LIMIT);
        for function in &residual.functions {
            let why = function.explanation.as_deref().unwrap_or_default();
            let why = printable(why, REASON_LIMIT);
            let name = printable(&function.function, TEXT_LIMIT);
            let key = (stack.clone(), name, function.difference, why);
            groups.entry(key).or_default().push(residual.title());
        }
    }
    Columns::new()
        .left("stack", |((stack, ..), _): (&Key, &Vec<String>)| stack)
        .left("function", |((_, function, ..), _)| function)
        .left("operations", |(_, titles)| Value::plain(some_of(titles)))
        .right("differs by", |((_, _, instructions, _), _)| {
            difference(i128::from(*instructions))
        })
        .left("why", |((.., why), _)| {
            Value::default().noted([why.clone()])
        })
        .table("Functions outside hooks that differ for a reason", &groups)
        .fixed(2)
        .legend([LEGEND])
        .if_any()
}

fn tone(residual: &CheckedResidual) -> Tone {
    match residual.verdict {
        CheckVerdict::Disagree => Tone::Worse,
        _ => Tone::Plain,
    }
}

fn functions(residual: &CheckedResidual) -> Value {
    let functions = residual.functions.iter().take(super::NAMED).map(|of| {
        let name = printable(&of.function, TEXT_LIMIT);
        format!("{name} {}", difference(of.difference.into()))
    });
    Value::plain(functions.collect::<Vec<_>>().join(", "))
}

fn table<'a>(
    title: &str,
    residuals: impl IntoIterator<Item = &'a CheckedResidual>,
) -> Option<Table> {
    Columns::new()
        .left("stack", |residual: &CheckedResidual| {
            residual.stack.join(",")
        })
        .left("operation", |residual| residual.title())
        .right("difference", |residual| {
            difference(residual.difference.into())
        })
        .right("in hooks", |residual| difference(residual.explained.into()))
        .right("residual", |residual| {
            let left = difference(residual.residual.into());
            Value::toned(left, tone(residual))
        })
        .left("functions", functions)
        .left("verdict", |residual| match residual.verdict {
            CheckVerdict::Alone => Value::toned("no one path", tone(residual)),
            verdict => Value::toned(verdict.as_str(), tone(residual)),
        })
        .table(title, residuals)
        .fixed(2)
        .legend([LEGEND])
        .if_any()
}
