// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks account for a difference, as tables.

use model::comparison::{EventChange, Explanation, HookChange};
use model::{ComparisonDocument, Events};

use crate::column::Columns;
use crate::format;
use crate::table::{Table, Value};
use crate::text::{printable, short};

const TABLES_MAX: usize = 50;

pub(super) fn tables(document: &ComparisonDocument) -> Vec<Table> {
    let explanations = document.explanations.iter().take(TABLES_MAX);
    let tables = explanations.filter_map(|explained| table(document, explained));
    tables.collect()
}

#[derive(Default)]
struct Line {
    name: String,
    calls: String,
    difference: i64,
    callers: String,
    does: String,
}

impl Line {
    fn new(name: String, difference: i64) -> Line {
        Line {
            name,
            difference,
            ..Line::default()
        }
    }
}

fn table(document: &ComparisonDocument, explained: &Explanation) -> Option<Table> {
    let cell = document.compared.get(explained.cell as usize)?;
    let mut lines: Vec<Line> = explained.hooks.iter().flat_map(hook_lines).collect();
    lines.extend(explained.residual_functions.iter().map(|held| {
        let function = short(&held.function);
        let why = held
            .explanation
            .iter()
            .map(|why| format!(": {}", printable(why, 120)));
        Line::new(
            format!("  {function}{}", why.collect::<String>()),
            held.difference,
        )
    }));
    let residual = "outside hooks (residual)".to_owned();
    lines.push(Line::new(residual, explained.residual));
    let does = does(&explained.events);
    let with_events = !does.is_empty() || lines.iter().any(|line| !line.does.is_empty());
    let sum = vec![
        Value::plain("the operation"),
        Value::default(),
        Value::difference(explained.difference.into()),
        Value::default(),
        Value::plain(does),
    ];
    let title = format!(
        "{} on {}: which hooks hold the difference",
        short(&cell.title()),
        printable(&cell.place.title(), 120)
    );
    let table = Columns::new()
        .left("hook", |line: &Line| Value::plain(&line.name))
        .right("calls", |line| Value::plain(&line.calls))
        .right("difference", |line| {
            Value::difference(line.difference.into())
        })
        .left("called by", |line| Value::plain(&line.callers))
        .only_if(with_events, |columns| {
            columns.left("what it does", |line| Value::plain(&line.does))
        })
        .summed_up(title, &lines, [sum])
        .legend([
            "Instructions of NEW less BASE. Hooks: of calls that came from no other hook; they and \
             the residual sum up. Below each, what of its calls lies in modules' functions and in \
             the rest (dispatch), nested hooks included.",
        ]);
    Some(table)
}

fn hook_lines(hook: &HookChange) -> Vec<Line> {
    let callers = hook.callers.iter().map(|caller| {
        let name = short(&caller.function);
        format!("{name} {}", calls(caller.base_calls, caller.new_calls))
    });
    let mut lines = vec![Line {
        name: short(&hook.hook),
        calls: calls(hook.base_calls, hook.new_calls),
        difference: hook.difference,
        callers: callers.collect::<Vec<_>>().join(", "),
        does: does(&hook.events),
    }];
    lines.extend(hook.implementations.iter().map(|own| Line {
        calls: calls(own.base_calls, own.new_calls),
        ..Line::new(format!("  {}", short(&own.function)), own.difference)
    }));
    if hook.dispatch != 0 {
        lines.push(Line::new("  dispatch".to_owned(), hook.dispatch));
    }
    lines
}

/// `atomics 13→14, lines read 90→92`.
fn does(changes: &[EventChange]) -> String {
    let title = |name: &str| {
        let kind = Events::kind(name);
        kind.map_or_else(|| printable(name, 40), |kind| kind.title.to_owned())
    };
    let changes = changes.iter().map(|change| {
        let numbers = calls(change.base, change.new);
        format!("{} {numbers}", title(&change.event))
    });
    changes.collect::<Vec<_>>().join(", ")
}

/// `2`, or `1→2` if they differ.
pub(super) fn calls(base: u64, new: u64) -> String {
    if base == new {
        format::count(new)
    } else {
        format!("{}→{}", format::count(base), format::count(new))
    }
}
