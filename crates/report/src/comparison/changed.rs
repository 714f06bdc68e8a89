// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes, as a table and as bars on a comparison's page, and the hooks that explain them.

use model::comparison::{EventChange, Explanation, HookChange, WordChange};
use model::{ComparisonDocument, Events};

use super::found::{Changed, Found, Holder};
use super::{change, difference, is_statistical, statistics, verdict};
use crate::column::Columns;
use crate::figure::model::drawable;
use crate::figure::{Bar, Bars, Chart, Figure};
use crate::format;
use crate::gather::position;
use crate::table::{Table, Tone, Value};
use crate::text::{printable, short};

pub(crate) fn changed(found: &Found<'_>) -> Option<Table> {
    let has_places =
        (found.changed.iter()).any(|changed| !found.place(&changed.cell.place).is_empty());
    let mut cells = found.changed.iter().map(|changed| changed.cell);
    let statistical = cells.any(is_statistical);
    let is_explained = found.metric.is_of_instructions();
    let figure = |value: Option<f64>| value.map_or_else(Value::dash, Value::from);
    Columns::new()
        .left("operation", |changed: &Changed<'_>| changed.cell.title())
        .only_if(has_places, |columns| {
            columns.left("under", |changed| found.place(&changed.cell.place))
        })
        .right("BASE", move |changed| figure(changed.cell.base.value))
        .right("NEW", move |changed| figure(changed.cell.new.value))
        .right("difference", |changed| difference(changed.cell))
        .right("change", |changed| change(changed.cell))
        .only_if(statistical, |columns| {
            columns.all(statistics(Columns::new()), |changed: &Changed<'_>| {
                changed.cell
            })
        })
        .only_if(is_explained, |columns| {
            columns
                .left("hook", |changed| changed.holder.map(|holder| holder.hook()))
                .left("mainly in", |changed| held(changed.holder))
        })
        .left("verdict", |changed| verdict(changed.cell))
        .table(
            format!("What changed: {}", format::measured(found.metric)),
            &found.changed,
        )
        .legend([
            "The worst first. difference: NEW minus BASE; change: the same as a \
             share of BASE, more is worse.",
        ])
        .legend(is_explained.then_some(
            "hook: the hook that accounts for most of the difference, with its calls; mainly in: \
             the function that accounts for most of the hook's difference, with its own \
             difference.",
        ))
        .if_any()
}

fn held(holder: Option<Holder<'_>>) -> Value {
    match holder {
        Some(holder) => {
            let adds = format::difference(holder.adds());
            let text = format!("{} {adds}", holder.function());
            match holder {
                Holder::Outside(..) => Value::plain(format!("outside hooks: {text}")),
                Holder::Hook(..) => Value::plain(text),
            }
        }
        None => Value::toned("-", Tone::Missing).noted([
            "The responsible hook is unknown: measure BASE and NEW with `lsmeter run --with-hooks` \
             or `lsmeter profile`."
                .to_owned(),
        ]),
    }
}

const UNKNOWN: &str = "not known";

impl Found<'_> {
    /// Changes relative to BASE, the worst first, coloured by the responsible module or by verdict.
    /// Estimates have intervals and a single colour. `name` is the figure's name.
    pub(crate) fn picture(&self, name: String) -> Figure {
        let is_exact = self.metric.is_counted();
        let is_explained = self.changed.iter().any(|changed| changed.holder.is_some());
        let drawn = self.changed.iter().filter_map(|changed| {
            let percent = changed.cell.overhead? * 100.0;
            drawable(percent).then_some((changed, percent))
        });
        let (mut categories, mut series, mut bars) = (Vec::new(), Vec::new(), Vec::new());
        if !is_exact {
            series.push("change".to_owned());
        }
        for (changed, value) in drawn {
            let held = match changed.holder {
                Some(holder) => holder.module(),
                None if is_explained => UNKNOWN.to_owned(),
                None => changed.cell.verdict.to_string(),
            };
            let at = match is_exact {
                true => position(&mut series, held),
                false => 0,
            };
            let interval = changed.cell.ci95.filter(|_| !is_exact);
            let interval = interval.map(|ends| ends.map(|end| end * 100.0));
            bars.push(Bar::new(categories.len(), at, value, interval));
            categories.push(self.label(changed.cell));
        }
        Figure {
            name,
            title: format!("What changed: {}", format::measured(self.metric)),
            description: if is_exact {
                "Bars: each operation's change as a fraction of BASE, the worst first, coloured by \
                 the module whose function accounts for most of the change, if known."
            } else {
                "Bars: each operation's change as a fraction of BASE with its 95 % interval, the \
                 worst first."
            }
            .to_owned(),
            chart: Chart::Bars(Bars {
                categories,
                series,
                bars,
                stacked: is_exact,
                ..Bars::new("change, % (more is worse)", "operation", "mainly in")
            }),
            notes: Vec::new(),
        }
    }
}

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
    let what = match cell.metric.is_of_transfers() {
        true => "Transfers",
        false => "Instructions",
    };
    let mut lines: Vec<Line> = explained.hooks.iter().flat_map(hook_lines).collect();
    lines.extend(explained.residual_functions.iter().map(|held| {
        let why = held.explanation.as_ref();
        let why = why.map(|why| format!(": {}", printable(why, 120)));
        let name = format!("  {}{}", short(&held.function), why.unwrap_or_default());
        Line::new(name, held.difference)
    }));
    let residual = "outside hooks (residual)".to_owned();
    lines.push(Line::new(residual, explained.residual));
    lines.extend(explained.words.iter().map(|word| Line {
        calls: calls(word.base, word.new),
        callers: short(&word.function),
        ..Line::new(short(&word.word), word_difference(word))
    }));
    let does = does(&explained.events);
    let with_events = !does.is_empty() || lines.iter().any(|line| !line.does.is_empty());
    let (name, none) = (Value::plain("the operation"), Value::default);
    let difference = Value::difference(explained.difference);
    let sum = vec![name, none(), difference, none(), Value::plain(does)];
    let title = format!(
        "{} on {}: the difference by hook",
        short(&cell.title()),
        printable(&cell.place.title(), 120)
    );
    let table = Columns::new()
        .left("hook", |line: &Line| Value::plain(&line.name))
        .right("calls", |line| Value::plain(&line.calls))
        .right("difference", |line| Value::difference(line.difference))
        .left("called by", |line| Value::plain(&line.callers))
        .only_if(with_events, |columns| {
            columns.left("events", |line| Value::plain(&line.does))
        })
        .summed_up(title, &lines, [sum])
        .legend([format!(
            "{what} of NEW minus BASE. Hooks: calls from outside other hooks; they and the \
             residual add up to the total. Below each: modules' functions and the rest \
             (dispatch), nested hooks included."
        )])
        .legend((!explained.words.is_empty()).then_some(
            "[word]: memory that is transferred; calls: its transfers; called by: the function \
             that causes them.",
        ));
    Some(table)
}

fn word_difference(word: &WordChange) -> i64 {
    let difference = i128::from(word.new) - i128::from(word.base);
    i64::try_from(difference).unwrap_or_default()
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
    let changes = changes.iter().map(|change| {
        let kind = Events::kind(&change.event);
        let title = printable(kind.map_or(&*change.event, |kind| kind.title), 40);
        format!("{title} {}", calls(change.base, change.new))
    });
    changes.collect::<Vec<_>>().join(", ")
}

/// `2`, or `1→2` if they differ.
pub(super) fn calls(base: u64, new: u64) -> String {
    let (base, new) = (format::count(base), format::count(new));
    if base == new {
        new
    } else {
        format!("{base}→{new}")
    }
}
