// SPDX-License-Identifier: GPL-2.0-or-later
//! A comparison's tables as its page has them: what changed, and what is folded away.

use model::ComparisonDocument;
use model::comparison::{ComparedCell, Verdict};

use super::found::{Changed, Found, Holder};
use super::{ComparisonOptions, aa, change, difference, environment, explained, gate};
use super::{is_statistical, statistics, table, title, unmatched, verdict};
use crate::column::Columns;
use crate::format;
use crate::group::grouped;
use crate::table::{Table, Tone, Value};

/// Tables that few readers look for, and what is in them.
pub(crate) struct Folded {
    pub(crate) summary: String,
    pub(crate) tables: Vec<Table>,
}

/// What changed in one metric, the most that matters first, each row with what holds it.
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

/// Everything else that the comparison says.
pub(crate) fn folded(document: &ComparisonDocument, found: &[Found<'_>]) -> Vec<Folded> {
    let cells = |n: usize, one: &str, many: &str| match n {
        1 => format!("1 cell {one}"),
        n => format!("{} cells {many}", format::count(n as u64)),
    };
    let of = |verdict| {
        let all = document.compared.iter();
        let all = all.filter(move |cell| cell.verdict == verdict);
        all.collect::<Vec<&ComparedCell>>()
    };
    let apart: Vec<&ComparedCell> = found.iter().flat_map(|of| &of.apart).copied().collect();
    let unclear = of(Verdict::Unclear);
    let missing = of(Verdict::Missing);
    let same = of(Verdict::Same);
    let lone = document.unmatched.len();
    let parts = [
        (
            cells(
                apart.len(),
                "changed without one path",
                "changed without one path",
            ),
            by_place("Changed without one path", document, &apart),
        ),
        (
            "Hooks behind each change".to_owned(),
            explained::tables(document),
        ),
        (
            cells(
                unclear.len(),
                "of which nothing can be said",
                "of which nothing can be said",
            ),
            by_place("Nothing can be said", document, &unclear),
        ),
        (
            cells(missing.len(), "without a figure", "without a figure"),
            by_place("Without a figure", document, &missing),
        ),
        (
            cells(lone, "on one side only", "on one side only"),
            unmatched(&document.unmatched).into_iter().collect(),
        ),
        (
            cells(same.len(), "is the same", "are the same"),
            by_place("The same", document, &same),
        ),
        (
            "Not measured alike".to_owned(),
            environment(&document.environment).into_iter().collect(),
        ),
        (
            "What differs without a change".to_owned(),
            aa::tables(document.aa.as_ref()),
        ),
        (
            "The gate".to_owned(),
            gate::table(document).into_iter().collect(),
        ),
    ];
    let part = |(summary, tables): (String, Vec<Table>)| Folded { summary, tables };
    let parts = parts.into_iter().map(part);
    parts.filter(|of| !of.tables.is_empty()).collect()
}

/// A table for each place and metric; `what` tells them from other tables of the same cells' places.
fn by_place(what: &str, document: &ComparisonDocument, cells: &[&ComparedCell]) -> Vec<Table> {
    let groups = grouped(cells, |cell| (&cell.place, &cell.base_place, cell.metric));
    let tables = groups
        .into_iter()
        .map(|((place, base_place, metric), cells)| {
            let place = title(document, place, base_place.as_ref(), metric);
            let title = format!("{what}: {place}");
            let cells: Vec<&ComparedCell> = cells.into_iter().copied().collect();
            table(title, &cells, &ComparisonOptions::default())
        });
    tables.collect()
}
