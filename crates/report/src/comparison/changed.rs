// SPDX-License-Identifier: GPL-2.0-or-later
//! What changed, as a table and as bars on the page of a comparison.

use model::comparison::ComparedCell;

use super::found::{Changed, Found, Holder};
use super::{change, difference, is_statistical, statistics, verdict};
use crate::column::Columns;
use crate::figure::model::drawable;
use crate::figure::{Bar, Bars, Chart, Figure};
use crate::format;
use crate::gather::position;
use crate::table::{Table, Tone, Value};

pub(crate) fn changed(found: &Found<'_>) -> Option<Table> {
    let has_places = (found.changed.iter()).any(|of| !found.place(&of.cell.place).is_empty());
    let statistical = found.changed.iter().any(|of| is_statistical(of.cell));
    let is_explained = found.metric.is_of_instructions();
    let figure = |value: Option<f64>| value.map_or_else(Value::dash, Value::from);
    let rows: Vec<&Changed<'_>> = found.changed.iter().collect();
    Columns::new()
        .left("operation", |of: &Changed<'_>| of.cell.title())
        .only_if(has_places, |columns| {
            columns.left("under", |of| found.place(&of.cell.place))
        })
        .right("BASE", move |of| figure(of.cell.base.value))
        .right("NEW", move |of| figure(of.cell.new.value))
        .right("difference", |of| difference(of.cell))
        .right("change", |of| change(of.cell))
        .only_if(statistical, |columns| {
            columns.all(
                statistics(Columns::<&ComparedCell>::new()),
                |of: &Changed<'_>| of.cell,
            )
        })
        .only_if(is_explained, |columns| {
            columns
                .left("hook", |of| of.holder.map(|holder| holder.hook()))
                .left("held by", |of| held(of.holder))
        })
        .left("verdict", |of| verdict(of.cell))
        .table(
            format!("What changed: {}", format::measured(found.metric)),
            rows,
        )
        .legend([
            "The worst first. difference: NEW less BASE; change: the same as a \
             share of BASE, more is worse.",
        ])
        .legend(is_explained.then_some(
            "hook: the one that holds most of it, with its calls; held by: the function in it, \
             and what it adds.",
        ))
        .if_any()
}

fn held(holder: Option<Holder<'_>>) -> Value {
    match holder {
        Some(holder) => {
            let adds = format::difference(holder.adds().into());
            let text = format!("{} {adds}", holder.function());
            match holder {
                Holder::Outside(..) => Value::plain(format!("outside hooks: {text}")),
                Holder::Hook(..) => Value::plain(text),
            }
        }
        None => Value::toned("-", Tone::Missing).noted([
            "Which hook holds it is not known: measure both with `lsmeter run --with-hooks` or \
             `lsmeter profile`."
                .to_owned(),
        ]),
    }
}

const UNKNOWN: &str = "not known";

impl Found<'_> {
    /// Changes relative to BASE, the worst first, coloured by the responsible module or by verdict;
    /// estimates have intervals and one colour. `name` is the figure's.
    pub(crate) fn picture(&self, name: String) -> Figure {
        let is_exact = self.metric.is_counted();
        let is_explained = self.changed.iter().any(|of| of.holder.is_some());
        let drawn = self.changed.iter().filter_map(|of| {
            let percent = of.cell.overhead? * 100.0;
            drawable(percent).then_some((of, percent))
        });
        let (mut categories, mut series, mut bars) = (Vec::new(), Vec::new(), Vec::new());
        if !is_exact {
            series.push("change".to_owned());
        }
        for (of, value) in drawn {
            let held = match of.holder {
                Some(holder) => holder.module(),
                None if is_explained => UNKNOWN.to_owned(),
                None => of.cell.verdict.to_string(),
            };
            let at = match is_exact {
                true => position(&mut series, held),
                false => 0,
            };
            let interval = of.cell.ci95.filter(|_| !is_exact);
            let interval = interval.map(|ends| ends.map(|end| end * 100.0));
            bars.push(Bar {
                category: categories.len(),
                series: at,
                value,
                interval: interval.filter(|ends| ends.iter().all(|end| drawable(*end))),
            });
            categories.push(self.label(of.cell));
        }
        Figure {
            name,
            title: format!("What changed: {}", format::measured(self.metric)),
            description: if is_exact {
                "Bars: each operation's change as a part of BASE, the worst first, coloured by \
                 the module whose function holds most of it, as far as that is known."
            } else {
                "Bars: each operation's change as a part of BASE with its 95 % interval, the \
                 worst first."
            }
            .to_owned(),
            chart: Chart::Bars(Bars {
                categories,
                series,
                bars,
                stacked: is_exact,
                ..Bars::new("change, % (more is worse)", "operation", "held by")
            }),
            notes: Vec::new(),
        }
    }
}
