// SPDX-License-Identifier: GPL-2.0-or-later
//! The few rows that stand beside the figure of a first screen.

use maud::{Markup, html};

pub(super) struct Rows {
    pub(super) title: &'static str,
    /// What the rows are, behind the title.
    pub(super) says: String,
    pub(super) columns: &'static [&'static str],
    /// How many columns, from the left, hold words; figures stand behind them.
    pub(super) left: usize,
    /// As many texts as there are columns, the first a name.
    pub(super) rows: Vec<Vec<String>>,
    /// How many there are, the rows that are not shown too.
    pub(super) all: usize,
}

impl Rows {
    /// With `id`, which tells it from others of this title, in its name.
    pub(super) fn markup(&self, id: &str) -> Markup {
        let align = |at: usize| if at < self.left { "left" } else { "right" };
        html! {
            div.side tabindex="0" role="region" aria-label={ (self.title) ", " (id) } {
                table.words[self.left == self.columns.len()] {
                    caption { strong { (self.title) } ": " (self.says) }
                    thead {
                        tr {
                            @for (at, column) in self.columns.iter().enumerate() {
                                th scope="col" class=(align(at)) { (column) }
                            }
                        }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (at, text) in row.iter().enumerate() {
                                    @if at == 0 { th.left scope="row" { (text) } }
                                    @else { td class=(align(at)) { (text) } }
                                }
                            }
                        }
                    }
                }
                @if self.all > self.rows.len() {
                    p.faint { (self.all - self.rows.len()) " more: see the tables." }
                }
            }
        }
    }
}
