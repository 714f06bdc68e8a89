// SPDX-License-Identifier: GPL-2.0-or-later
//! The first screen of a document without a map: its leading figure and the first rows of a table.

use maud::{Markup, html};

use super::{figure, table};
use crate::figure::Figure;
use crate::gather::{Content, Gathered};
use crate::kinds::view;
use crate::table::{Report, Table};

const BARS_SHOWN: usize = 16;
const ROWS_LIMIT: usize = 16;

pub(super) fn lead<'a>(
    content: &Content,
    figures: impl Iterator<Item = &'a Gathered> + Clone,
) -> Option<&'a Figure> {
    let named = |base: &&str| figures.clone().find(|gathered| gathered.base == *base);
    Some(&view(content).leading.iter().find_map(named)?.figure)
}

/// `id` distinguishes it from those of other documents.
pub(super) fn front(content: &Content, report: &Report, lead: &Figure, id: &str) -> Markup {
    let wanted = view(content).beside;
    let found = report.tables.iter().find_map(|table| {
        let columns = &table.columns;
        let place = |title: &&str| columns.iter().position(|column| column.title == *title);
        let places: Vec<usize> = wanted.iter().filter_map(place).collect();
        (places.len() > 1).then_some((table, places))
    });
    html! {
        div.front {
            (figure::largest(lead, BARS_SHOWN))
            @if let Some((of, columns)) = found { (side(of, &columns, id)) }
        }
    }
}

pub(super) fn side(of: &Table, columns: &[usize], id: &str) -> Markup {
    let rows: Vec<_> = of.rows.iter().filter(|row| !row.summary).collect();
    html! {
        div.side tabindex="0" role="region" aria-label={ (of.title) ", " (id) } {
            table {
                caption { strong { (of.title) } }
                thead { tr { @for at in columns { (table::heading(&of.columns[*at])) } } }
                tbody {
                    @for row in rows.iter().take(ROWS_LIMIT) {
                        tr {
                            @for (place, at) in columns.iter().enumerate() {
                                (table::cell(place == 0, &row.values[*at], &of.columns[*at]))
                            }
                        }
                    }
                }
            }
            @if rows.len() > ROWS_LIMIT {
                p.faint { (rows.len() - ROWS_LIMIT) " more: see the tables." }
            }
        }
    }
}
