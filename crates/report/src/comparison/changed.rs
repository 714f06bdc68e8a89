// SPDX-License-Identifier: GPL-2.0-or-later
//! The table of changes on the page of a comparison.

use model::comparison::ComparedCell;

use super::found::{Changed, Found, Holder};
use super::{change, difference, is_statistical, statistics, verdict};
use crate::column::Columns;
use crate::format;
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
