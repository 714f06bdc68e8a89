// SPDX-License-Identifier: GPL-2.0-or-later
//! Shows a placement next to measured profiles.

use model::placement::{Agreement, ComparedHook, Comparison};

use crate::column::Columns;
use crate::format::{count, word};
use crate::table::{Report, Table, Tone, Value};
use crate::text::{printable, short};

const ORDER: [Agreement; 7] = [
    Agreement::Unknown,
    Agreement::AboveMaximum,
    Agreement::Missed,
    Agreement::Under,
    Agreement::Over,
    Agreement::FalseAlarm,
    Agreement::Exact,
];

pub fn agreement_report(kernel: &str, comparison: &Comparison) -> Report {
    let tables = [Some(summary(kernel, comparison)), disagreements(comparison)];
    let skipped = comparison.skipped.iter().map(|(operation, reason)| {
        let (operation, reason) = (short(operation), printable(reason, 200));
        format!("not compared: {operation}: {reason}")
    });
    Report::new(tables, skipped.collect())
}

fn is_wrong(agreement: Agreement) -> bool {
    matches!(agreement, Agreement::Unknown | Agreement::AboveMaximum)
}

fn toned(value: impl Into<Value>, wrong: bool) -> Value {
    let tone = if wrong { Tone::Worse } else { Tone::Plain };
    value.into().tone(tone)
}

fn summary(kernel: &str, comparison: &Comparison) -> Table {
    let all = comparison.hooks.len();
    let percent = |what: &str, share: f64| {
        let share = Value::plain(format!("{share:.1} %"));
        (what.to_owned(), Value::default(), share)
    };
    let what = "hooks of operations, measured or on the success path".to_owned();
    let mut rows: Vec<(String, Value, Value)> = vec![(what, all.into(), Value::default())];
    for agreement in ORDER.into_iter().rev() {
        let n = comparison.cells.get(&agreement).copied().unwrap_or(0);
        let share = crate::format::share(n as u64, all as u64).unwrap_or_default();
        rows.push((
            format!("  {}: {}", word(agreement), meaning(agreement)),
            toned(n, is_wrong(agreement) && n > 0),
            Value::plain(share),
        ));
    }
    let [recall, precision, false_alarms] = [
        "recall: measured hooks that are on the success path",
        "precision: hooks on the success path that were measured",
        "false alarms: hooks on the success path that were not measured",
    ];
    rows.extend([
        percent(recall, comparison.recall_percent),
        percent(precision, comparison.precision_percent),
        percent(false_alarms, comparison.false_alarm_percent),
    ]);
    let sound = if comparison.is_sound() {
        "Sound: every hook measured is in the static set, none above its maximum."
    } else {
        "NOT SOUND: measured hooks are missing from the static set, or exceed their upper bound."
    };
    Columns::new()
        .left("", |(what, ..): &(String, Value, Value)| Value::plain(what))
        .right("count", |(_, n, _)| n.clone())
        .right("share", |(.., share)| share.clone())
        .table(
            format!("{}: hooks by source and by measurement", short(kernel)),
            &rows,
        )
        .legend([sound, &bounded(comparison)])
}

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
    let mut hooks: Vec<&ComparedHook> = comparison.hooks.iter().collect();
    hooks.retain(|hook| hook.agreement != Agreement::Exact);
    hooks.sort_by_key(|hook| place(hook.agreement));
    let bound = |n: Option<u64>| n.map_or_else(|| "unbounded".to_owned(), count);
    Columns::new()
        .left("agreement", |hook: &ComparedHook| {
            toned(word(hook.agreement), is_wrong(hook.agreement))
        })
        .left("operation", |hook| &hook.operation)
        .left("on", |hook| &hook.filesystem)
        .left("hook", |hook| &hook.hook)
        .column("measured", |hook| hook.measured)
        .right("success path", move |hook| {
            bound((hook.success_path < u64::MAX).then_some(hook.success_path))
        })
        .right("at most", move |hook| bound(hook.max))
        .table("Hooks that differ", hooks)
        .fixed(4)
        .if_any()
}

fn meaning(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Exact => "as often as on the success path",
        Agreement::Over => "less often than on the success path",
        Agreement::Under => "more often than on the success path",
        Agreement::FalseAlarm => "on the success path, not measured",
        Agreement::Missed => "not on the success path, but measured",
        Agreement::AboveMaximum => "above the upper bound",
        Agreement::Unknown => "not in the static set, but measured",
    }
}
