// SPDX-License-Identifier: GPL-2.0-or-later
//! A report as tables of text, before any layout.

use std::collections::HashMap;

use model::{Warning, WarningKind};

use crate::text::printable;
use crate::value::Kind;

pub(crate) use crate::value::{TEXT_LIMIT, Tone, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// In the order in which they are shown.
    pub tables: Vec<Table>,
    /// Reasons to doubt it, one text each.
    pub warnings: Vec<String>,
}

/// A table of text. All text is printable; Markdown's own characters are not escaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub title: String,
    pub legend: Vec<String>,
    pub columns: Vec<Heading>,
    /// How many columns, from the left, a layout repeats when it splits the table
    /// because it is too wide.
    pub fixed_columns: usize,
    /// Rows of as many values as there are columns.
    pub rows: Vec<Row>,
    /// What the numbers in brackets mean, from `[1]` on.
    pub footnotes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub title: String,
    pub kind: Kind,
    /// What it and its neighbours with the same text belong to, as a heading above
    /// theirs: a stack. A layout that splits a table keeps them together if it can.
    pub group: Option<String>,
    /// Where its values stand.
    pub align: Align,
}

/// Where values stand in their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// One for each column.
    pub values: Vec<Value>,
    pub summary: bool,
}

impl Heading {
    #[inline(never)]
    pub(crate) fn new(title: String, kind: Kind, group: Option<&str>, align: Align) -> Heading {
        Heading {
            title,
            kind,
            group: group.map(str::to_owned),
            align,
        }
    }

    /// With its group before it.
    pub(crate) fn in_full(&self) -> String {
        let group = self.group.iter().map(String::as_str);
        let names: Vec<&str> = group.chain([self.title.as_str()]).collect();
        names.join(" ")
    }
}

impl Table {
    /// A table that has its footnotes, and no legend yet.
    pub(crate) fn new(
        title: impl Into<String>,
        columns: Vec<Heading>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Table {
        Table::of_rows(title.into(), columns, rows.into_iter().collect())
    }

    #[inline(never)]
    fn of_rows(title: String, columns: Vec<Heading>, mut rows: Vec<Row>) -> Table {
        let mut notes = Footnotes::default();
        for value in rows.iter_mut().flat_map(|row| &mut row.values) {
            if value.notes.is_empty() {
                continue;
            }
            let mut text = value.text();
            for note in value.notes.drain(..) {
                let mark = notes.mark(note);
                text += if text.is_empty() { "" } else { " " };
                text += &mark;
            }
            value.text = Some(text);
        }
        Table {
            title,
            legend: Vec::new(),
            columns,
            fixed_columns: 1,
            rows,
            footnotes: notes.texts,
        }
    }

    /// With these lines on how to read it; empty ones are left out.
    pub(crate) fn legend<T: Into<String>>(mut self, lines: impl IntoIterator<Item = T>) -> Table {
        let lines = lines.into_iter().map(T::into);
        self.legend.extend(lines.filter(|line| !line.is_empty()));
        self
    }

    /// With this many columns that are repeated where it is split.
    pub(crate) fn fixed(mut self, columns: usize) -> Table {
        self.fixed_columns = columns;
        self
    }

    /// None without rows.
    pub(crate) fn if_any(self) -> Option<Table> {
        (!self.rows.is_empty()).then_some(self)
    }
}

/// Each warning as a text of its own.
pub(crate) fn warnings(warnings: &[Warning]) -> Vec<String> {
    let warnings = warnings.iter().filter(|warning| is_doubt(warning));
    let text = |warning: &Warning| {
        let cells = match warning.cells.len() {
            0 => String::new(),
            1 => " (1 cell)".to_owned(),
            n => format!(" ({n} cells)"),
        };
        format!(
            "{}{cells}: {}. Advice: {}.",
            warning.kind,
            sentence(&warning.message),
            sentence(&warning.advice)
        )
    };
    warnings.map(text).collect()
}

/// Captions of tables name modules that kernels add: older versions warned of them.
pub(crate) fn is_doubt(warning: &Warning) -> bool {
    warning.kind != WarningKind::ExtraModules
}

fn sentence(text: &str) -> String {
    printable(text.trim().trim_end_matches('.'), 400)
}

/// Reasons, each once, numbered from 1.
#[derive(Default)]
pub(crate) struct Footnotes {
    pub(crate) texts: Vec<String>,
    /// Where each is, so that a long document does not take its square in time.
    numbers: HashMap<String, usize>,
}

impl Footnotes {
    pub(crate) fn mark(&mut self, text: String) -> String {
        let texts = &mut self.texts;
        let number = *self.numbers.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            texts.len()
        });
        format!("[{number}]")
    }
}
