// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables that a script sorts and filters. They are readable without it.

use maud::{Markup, html};

use super::figure;
use crate::figure::Figure;
use crate::gather::{Content, Gathered};
use crate::kinds::view;
use crate::table::{Align, Heading, Report, Row, Table, Tone, Value};

pub(super) fn table(table: &Table, id: &str) -> Markup {
    let grouped = table.columns.iter().any(|column| column.group.is_some());
    let (summaries, rows): (Vec<&Row>, Vec<&Row>) = table.rows.iter().partition(|row| row.summary);
    html! {
        div.table {
            div.controls hidden {
                label for={ (id) "-filter" } { "Filter rows" }
                input id={ (id) "-filter" } type="search" autocomplete="off";
                output for={ (id) "-filter" } {}
            }
            div.scroll tabindex="0" role="region" aria-labelledby={ (id) "-caption" } {
                table id=(id) {
                    caption id={ (id) "-caption" } {
                        strong { (table.title) }
                        @for line in &table.legend { br; (line) }
                    }
                    thead {
                        @if grouped { (groups(table)) }
                        tr.headings {
                            @for column in &table.columns { (heading(column)) }
                        }
                    }
                    tbody { @for line in rows { (row(line, table)) } }
                    @if !summaries.is_empty() {
                        tfoot { @for line in summaries { (row(line, table)) } }
                    }
                }
            }
            @if !table.footnotes.is_empty() {
                ol.footnotes { @for note in &table.footnotes { li { (note) } } }
            }
        }
    }
}

fn groups(table: &Table) -> Markup {
    let mut spans: Vec<(Option<&str>, usize)> = Vec::new();
    for column in &table.columns {
        let group = column.group.as_deref();
        match spans.last_mut() {
            Some((name, n)) if *name == group => *n += 1,
            _ => spans.push((group, 1)),
        }
    }
    html! {
        tr {
            @for (name, n) in spans {
                @match name {
                    Some(name) => th scope="colgroup" colspan=(n) { (name) },
                    None => td colspan=(n) {},
                }
            }
        }
    }
}

fn row(row: &Row, table: &Table) -> Markup {
    html! {
        tr {
            @for (at, (value, column)) in row.values.iter().zip(&table.columns).enumerate() {
                (cell(at == 0, value, column))
            }
        }
    }
}

pub(super) fn heading(column: &Heading) -> Markup {
    html! { th scope="col" class=(align(column.align)) { (column.title) } }
}

pub(super) fn cell(is_first: bool, value: &Value, column: &Heading) -> Markup {
    html! {
        @if is_first {
            th scope="row" class=(align(column.align)) { (contents(value)) }
        } @else {
            td class={ (align(column.align)) (tone(value.tone)) } { (contents(value)) }
        }
    }
}

fn contents(value: &Value) -> Markup {
    let whole = value.text();
    let text = whole.trim_start_matches(' ');
    html! {
        @if text.len() < whole.len() { span.indent {} }
        (text)
        @if let Some(absolute) = &value.absolute { " " span.absolute { (absolute) } }
    }
}

fn align(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Right => "right",
    }
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Worse => " worse",
        Tone::Better => " better",
        Tone::Faint => " faint",
        Tone::Missing => " missing",
    }
}

const BARS_SHOWN: usize = 16;
const ROWS_LIMIT: usize = 16;

pub(super) fn lead<'a>(
    content: &Content,
    figures: impl Iterator<Item = &'a Gathered> + Clone,
) -> Option<&'a Figure> {
    let named = |base: &&str| figures.clone().find(|gathered| gathered.base == *base);
    Some(&view(content).leading.iter().find_map(named)?.figure)
}

/// `id` distinguishes it from those of other result files.
pub(super) fn front(content: &Content, report: &Report, lead: &Figure, id: &str) -> Markup {
    let titles = view(content).beside;
    let found = report.tables.iter().find_map(|table| {
        let columns = &table.columns;
        let place = |title: &&str| columns.iter().position(|column| column.title == *title);
        let places: Vec<usize> = titles.iter().filter_map(place).collect();
        (places.len() > 1).then_some((table, places))
    });
    html! {
        div.front {
            (figure::largest(lead, BARS_SHOWN))
            @if let Some((table, columns)) = found { (side(table, &columns, id)) }
        }
    }
}

pub(super) fn side(table: &Table, columns: &[usize], id: &str) -> Markup {
    let rows: Vec<_> = table.rows.iter().filter(|row| !row.summary).collect();
    html! {
        div.side tabindex="0" role="region" aria-label={ (table.title) ", " (id) } {
            table {
                caption { strong { (table.title) } }
                thead { tr { @for at in columns { (heading(&table.columns[*at])) } } }
                tbody {
                    @for row in rows.iter().take(ROWS_LIMIT) {
                        tr {
                            @for (place, at) in columns.iter().enumerate() {
                                (cell(place == 0, &row.values[*at], &table.columns[*at]))
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
