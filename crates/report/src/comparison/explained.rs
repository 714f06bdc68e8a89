// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks hold a difference, as tables.

use experiment::ComparisonDocument;
use experiment::comparison::{Explanation, HookChange};

use crate::format;
use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

/// Most operations that get a table, those that differ most first.
const TABLES_MAX: usize = 50;

/// One table for each operation that differs.
pub(super) fn tables(document: &ComparisonDocument) -> Vec<Table> {
    let explanations = document.explanations.iter().take(TABLES_MAX);
    explanations
        .filter_map(|explained| table(document, explained))
        .collect()
}

fn table(document: &ComparisonDocument, explained: &Explanation) -> Option<Table> {
    let cell = document.compared.get(explained.cell as usize)?;
    let mut rows = Vec::new();
    for hook in &explained.hooks {
        hook_rows(hook, &mut rows);
    }
    for held in &explained.residual_functions {
        let function = printable(&held.function, TEXT_LIMIT);
        let text = match &held.explanation {
            Some(why) => format!("  {function}: {}", printable(why, 120)),
            None => format!("  {function}"),
        };
        rows.push(row(text, String::new(), held.difference, String::new()));
    }
    rows.push(row(
        "outside hooks (residual)".to_owned(),
        String::new(),
        explained.residual,
        String::new(),
    ));
    let mut sum = row(
        "the operation".to_owned(),
        String::new(),
        explained.difference,
        String::new(),
    );
    sum.summary = true;
    rows.push(sum);
    Some(Table {
        title: format!(
            "{} on {}: which hooks hold the difference",
            printable(&cell.title(), TEXT_LIMIT),
            printable(&cell.place.title(), 120)
        ),
        legend: vec![
            "Instructions of NEW less BASE. Hooks: of calls that came from no other hook; they and \
             the residual sum up. Below each, what of its calls lies in modules' functions and in \
             the rest (dispatch), nested hooks included."
                .to_owned(),
        ],
        columns: vec![
            Column::new("hook", Align::Left),
            Column::figures("calls", None),
            Column::figures("difference", None),
            Column::new("called by", Align::Left),
        ],
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    })
}

fn hook_rows(hook: &HookChange, rows: &mut Vec<Row>) {
    let callers: Vec<String> = (hook.callers.iter())
        .map(|caller| {
            let name = printable(&caller.function, TEXT_LIMIT);
            format!("{name} {}", calls(caller.base_calls, caller.new_calls))
        })
        .collect();
    rows.push(row(
        printable(&hook.hook, TEXT_LIMIT),
        calls(hook.base_calls, hook.new_calls),
        hook.difference,
        callers.join(", "),
    ));
    for own in &hook.implementations {
        rows.push(row(
            format!("  {}", printable(&own.function, TEXT_LIMIT)),
            calls(own.base_calls, own.new_calls),
            own.difference,
            String::new(),
        ));
    }
    if hook.dispatch != 0 {
        rows.push(row(
            "  dispatch".to_owned(),
            String::new(),
            hook.dispatch,
            String::new(),
        ));
    }
}

/// `2`, or `1→2` if they differ.
fn calls(base: u64, new: u64) -> String {
    if base == new {
        format::count(new)
    } else {
        format!("{}→{}", format::count(base), format::count(new))
    }
}

fn row(name: String, calls: String, difference: i64, callers: String) -> Row {
    let tone = match difference {
        1.. => Tone::Worse,
        0 => Tone::Plain,
        _ => Tone::Better,
    };
    Row {
        values: vec![
            Value::plain(name),
            Value::plain(calls),
            Value::toned(format::difference(difference.into()), tone),
            Value::plain(callers),
        ],
        summary: false,
    }
}
