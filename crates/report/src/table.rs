// SPDX-License-Identifier: GPL-2.0-or-later
//! A report as tables of text, before any layout.

use std::collections::HashMap;

use model::{Warning, WarningKind};

use crate::text::printable;
use crate::value::Kind;

pub(crate) use crate::value::{TEXT_LIMIT, Tone, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    pub tables: Vec<Table>,
    pub warnings: Vec<String>,
}

/// All text is printable; Markdown's special characters are not escaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub title: String,
    pub legend: Vec<String>,
    pub columns: Vec<Heading>,
    /// Leftmost columns that a layout repeats when it splits a wide table.
    pub fixed_columns: usize,
    pub rows: Vec<Row>,
    pub footnotes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub title: String,
    pub kind: Kind,
    /// Heading shared with neighbours that have the same text: a stack. A layout that splits a
    /// table keeps them together if it can.
    pub group: Option<String>,
    pub align: Align,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub values: Vec<Value>,
    pub summary: bool,
}

impl Heading {
    pub(crate) fn in_full(&self) -> String {
        let group = self.group.iter().map(String::as_str);
        let names: Vec<&str> = group.chain([self.title.as_str()]).collect();
        names.join(" ")
    }
}

impl Table {
    pub(crate) fn new(
        title: impl Into<String>,
        columns: Vec<Heading>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Table {
        let mut rows: Vec<Row> = rows.into_iter().collect();
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
            title: title.into(),
            legend: Vec::new(),
            columns,
            fixed_columns: 1,
            rows,
            footnotes: notes.texts,
        }
    }

    pub(crate) fn legend<T: Into<String>>(mut self, lines: impl IntoIterator<Item = T>) -> Table {
        let lines = lines.into_iter().map(T::into);
        self.legend.extend(lines.filter(|line| !line.is_empty()));
        self
    }

    pub(crate) fn fixed(mut self, columns: usize) -> Table {
        self.fixed_columns = columns;
        self
    }

    pub(crate) fn if_any(self) -> Option<Table> {
        (!self.rows.is_empty()).then_some(self)
    }
}

/// Rows of a table that a user asked for; 0: all.
pub(crate) fn limit(rows: Option<usize>, default: usize) -> usize {
    match rows.unwrap_or(default) {
        0 => usize::MAX,
        rows => rows,
    }
}

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

/// Captions name modules that kernels add; older versions warned of them instead.
pub(crate) fn is_doubt(warning: &Warning) -> bool {
    warning.kind != WarningKind::ExtraModules
}

fn sentence(text: &str) -> String {
    printable(text.trim().trim_end_matches('.'), 400)
}

#[derive(Default)]
pub(crate) struct Footnotes {
    pub(crate) texts: Vec<String>,
    /// Index by text: avoids quadratic time on long documents.
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
