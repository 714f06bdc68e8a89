// SPDX-License-Identifier: GPL-2.0-or-later
//! A placement beside measured profiles.

use experiment::placement::{Agreement, ComparedHook, Comparison};

use super::name;
use crate::format::count;
use crate::table::{Align, Column, Report, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

/// In the order in which they matter to a reader.
const ORDER: [Agreement; 7] = [
    Agreement::Unknown,
    Agreement::AboveMaximum,
    Agreement::Missed,
    Agreement::Under,
    Agreement::Over,
    Agreement::FalseAlarm,
    Agreement::Exact,
];

/// How many hooks agree, and each that does not. `kernel` is what was compared.
pub fn agreement_report(kernel: &str, comparison: &Comparison) -> Report {
    let mut tables = vec![summary(kernel, comparison)];
    tables.extend(disagreements(comparison));
    let skipped = comparison.skipped.iter().map(|(operation, reason)| {
        format!(
            "not compared: {}: {}",
            printable(operation, TEXT_LIMIT),
            printable(reason, 200)
        )
    });
    Report {
        tables,
        warnings: skipped.collect(),
    }
}

fn summary(kernel: &str, comparison: &Comparison) -> Table {
    let cells = |agreement| {
        comparison
            .cells
            .get(&agreement)
            .copied()
            .unwrap_or_default()
    };
    let all = comparison.hooks.len();
    let number = |n: usize| Value::plain(count(n as u64));
    let percent = |share: f64| Value::plain(format!("{share:.1} %"));
    let mut rows: Vec<(String, Value, Value)> = vec![(
        "hooks of operations, measured or nominal".to_owned(),
        number(all),
        Value::default(),
    )];
    for agreement in ORDER.into_iter().rev() {
        let n = cells(agreement);
        let share = crate::format::share(n as u64, all as u64).unwrap_or_default();
        let wrong = matches!(agreement, Agreement::Unknown | Agreement::AboveMaximum) && n > 0;
        let tone = if wrong { Tone::Worse } else { Tone::Plain };
        rows.push((
            format!("  {}: {}", word(agreement), meaning(agreement)),
            Value::toned(count(n as u64), tone),
            Value::plain(share),
        ));
    }
    rows.extend([
        (
            "recall: of hooks measured those that are nominal".to_owned(),
            Value::default(),
            percent(comparison.recall_percent),
        ),
        (
            "precision: of nominal hooks those that were measured".to_owned(),
            Value::default(),
            percent(comparison.precision_percent),
        ),
        (
            "false alarms: of nominal hooks those that were not".to_owned(),
            Value::default(),
            percent(comparison.false_alarm_percent),
        ),
    ]);
    Table {
        title: format!(
            "{}: hooks by source and by measurement",
            printable(kernel, TEXT_LIMIT)
        ),
        legend: vec![
            if comparison.is_sound() {
                "Sound: every hook measured is in the static set, none above its maximum."
            } else {
                "NOT SOUND: hooks were measured that the static set lacks, or has less often at \
                 most."
            }
            .to_owned(),
            bounded(comparison),
        ],
        columns: vec![
            Column::new("", Align::Left),
            Column::figures("count", None),
            Column::figures("share", None),
        ],
        fixed_columns: 1,
        rows: rows
            .into_iter()
            .map(|(what, n, share)| Row {
                values: vec![Value::plain(what), n, share],
                summary: false,
            })
            .collect(),
        footnotes: Vec::new(),
    }
}

/// How much it says that none is above its maximum.
fn bounded(comparison: &Comparison) -> String {
    let above = comparison.cells.get(&Agreement::AboveMaximum).copied();
    let exceed = match above.unwrap_or_default() {
        0 => "none exceeds it".to_owned(),
        1 => "1 exceeds it".to_owned(),
        n => format!("{} exceed it", count(n as u64)),
    };
    format!(
        "{} of {} measured counts have a finite maximum; {exceed}.",
        count(comparison.bounded as u64),
        count(comparison.measured as u64)
    )
}

fn disagreements(comparison: &Comparison) -> Option<Table> {
    let place = |agreement| ORDER.iter().position(|other| *other == agreement);
    let mut hooks: Vec<&ComparedHook> = comparison
        .hooks
        .iter()
        .filter(|hook| hook.agreement != Agreement::Exact)
        .collect();
    hooks.sort_by_key(|hook| place(hook.agreement));
    let mut columns = ["agreement", "operation", "on", "hook"]
        .map(|title| Column::new(title, Align::Left))
        .to_vec();
    columns.extend(["measured", "nominal", "at most"].map(|title| Column::figures(title, None)));
    let rows = hooks.iter().map(|hook| {
        let wrong = matches!(hook.agreement, Agreement::Unknown | Agreement::AboveMaximum);
        let tone = if wrong { Tone::Worse } else { Tone::Plain };
        let bound = |n: Option<u64>| n.map_or_else(|| "unbounded".to_owned(), count);
        Row {
            values: vec![
                Value::toned(word(hook.agreement), tone),
                name(&hook.operation),
                name(&hook.fs),
                name(&hook.hook),
                Value::plain(count(hook.measured)),
                Value::plain(bound((hook.nominal < u64::MAX).then_some(hook.nominal))),
                Value::plain(bound(hook.max)),
            ],
            summary: false,
        }
    });
    let rows: Vec<Row> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        title: "Hooks that do not agree".to_owned(),
        legend: Vec::new(),
        columns,
        fixed_columns: 4,
        rows,
        footnotes: Vec::new(),
    })
}

pub(super) fn word(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Exact => "exact",
        Agreement::Over => "over",
        Agreement::Under => "under",
        Agreement::FalseAlarm => "false alarm",
        Agreement::Missed => "missed",
        Agreement::AboveMaximum => "above maximum",
        Agreement::Unknown => "unknown",
    }
}

fn meaning(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Exact => "as often as nominally",
        Agreement::Over => "less often than nominally",
        Agreement::Under => "more often than nominally",
        Agreement::FalseAlarm => "nominal, not measured",
        Agreement::Missed => "not nominal, but measured",
        Agreement::AboveMaximum => "more often than at most",
        Agreement::Unknown => "not in the static set, but measured",
    }
}
