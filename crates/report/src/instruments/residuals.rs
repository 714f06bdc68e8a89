// SPDX-License-Identifier: GPL-2.0-or-later
//! What stacks differ in outside hooks.

use std::collections::BTreeMap;

use experiment::check::CheckedResidual;
use experiment::{CheckDocument, CheckVerdict};

use super::{REASON_LIMIT, some_of};
use crate::format::difference;
use crate::table::{Align, Column, Footnotes, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

const LEGEND: &str = "Guest kernel instructions of one operation under the stack, against the \
                      first stack; residual: what differs outside all hooks.";

/// Each residual that nothing explains.
pub(super) fn disagreements(document: &CheckDocument) -> Option<Table> {
    let of = |residual: &&CheckedResidual| residual.verdict == CheckVerdict::Disagree;
    let rows = document.residuals.iter().filter(of).map(one);
    table(
        "Residuals that nothing explains",
        rows.collect(),
        Vec::new(),
    )
}

/// Every residual.
pub(super) fn all(document: &CheckDocument) -> Option<Table> {
    let rows = document.residuals.iter().map(one);
    table("All residuals", rows.collect(), Vec::new())
}

/// What explains residuals, operations together in which it is the same.
pub(super) fn explained(document: &CheckDocument) -> Option<Table> {
    let mut groups: BTreeMap<(String, String, i64, String), Vec<String>> = BTreeMap::new();
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
    let mut notes = Footnotes::default();
    let rows: Vec<Row> = groups
        .into_iter()
        .map(|((stack, function, instructions, why), titles)| Row {
            values: vec![
                Value::plain(stack),
                Value::plain(function),
                Value::plain(some_of(&titles)),
                Value::plain(difference(instructions.into())),
                Value::plain(notes.mark(why)),
            ],
            summary: false,
        })
        .collect();
    let mut columns = ["stack", "function", "operations"]
        .map(|title| Column::new(title, Align::Left))
        .to_vec();
    columns.push(Column::figures("differs by", None));
    columns.push(Column::new("why", Align::Left));
    (!rows.is_empty()).then(|| Table {
        title: "Functions outside hooks that differ for a reason".to_owned(),
        legend: vec![LEGEND.to_owned()],
        columns,
        fixed_columns: 2,
        rows,
        footnotes: notes.texts,
    })
}

fn one(residual: &CheckedResidual) -> Row {
    let tone = match residual.verdict {
        CheckVerdict::Disagree => Tone::Worse,
        _ => Tone::Plain,
    };
    let functions: Vec<String> = residual
        .functions
        .iter()
        .take(super::NAMED)
        .map(|of| {
            let name = printable(&of.function, TEXT_LIMIT);
            format!("{name} {}", difference(of.difference.into()))
        })
        .collect();
    let verdict = match residual.verdict {
        CheckVerdict::Alone => "no one path",
        verdict => verdict.as_str(),
    };
    Row {
        values: vec![
            Value::plain(printable(&residual.stack.join(","), TEXT_LIMIT)),
            Value::plain(printable(&residual.title(), TEXT_LIMIT)),
            Value::plain(difference(residual.difference.into())),
            Value::plain(difference(residual.explained.into())),
            Value::toned(difference(residual.residual.into()), tone),
            Value::plain(functions.join(", ")),
            Value::toned(verdict, tone),
        ],
        summary: false,
    }
}

fn table(title: &str, rows: Vec<Row>, footnotes: Vec<String>) -> Option<Table> {
    let mut columns = ["stack", "operation"]
        .map(|title| Column::new(title, Align::Left))
        .to_vec();
    let titles = ["difference", "in hooks", "residual"];
    columns.extend(titles.map(|title| Column::figures(title, None)));
    columns.extend(["functions", "verdict"].map(|title| Column::new(title, Align::Left)));
    (!rows.is_empty()).then(|| Table {
        title: title.to_owned(),
        legend: vec![LEGEND.to_owned()],
        columns,
        fixed_columns: 2,
        rows,
        footnotes,
    })
}
