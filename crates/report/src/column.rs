// SPDX-License-Identifier: GPL-2.0-or-later
//! Columns: what a table holds of each of its rows, said once for all formats.

use crate::table::{Align, Heading, Row, Table};
use crate::value::{Kind, Typed, Value};

/// A column of a table whose rows are `R`, usually a reference into a document.
pub struct Column<'a, R> {
    heading: Heading,
    value: Box<dyn Fn(R) -> Value + 'a>,
}

/// The columns of a table, in order, each added by one call.
pub struct Columns<'a, R>(Vec<Column<'a, R>>);

impl<R> Default for Columns<'_, R> {
    fn default() -> Self {
        Columns(Vec::new())
    }
}

impl<'a, R: Copy + 'a> Columns<'a, R> {
    /// None yet.
    pub fn new() -> Columns<'a, R> {
        Columns::default()
    }

    /// Adds a column: its name, and its value in each row. Numbers stand at its right edge.
    #[must_use]
    pub fn column<T: Typed>(
        self,
        name: impl Into<String>,
        value: impl Fn(R) -> T + 'a,
    ) -> Columns<'a, R> {
        let align = match T::KIND {
            Kind::Integer | Kind::Float => Align::Right,
            Kind::Text | Kind::Flag | Kind::Moment => Align::Left,
        };
        self.aligned(align, name, None, value)
    }

    /// Adds a column whose values stand at its left edge.
    #[must_use]
    pub fn left<T: Typed>(
        self,
        name: impl Into<String>,
        value: impl Fn(R) -> T + 'a,
    ) -> Columns<'a, R> {
        self.aligned(Align::Left, name, None, value)
    }

    /// Adds a column whose values stand at its right edge.
    #[must_use]
    pub fn right<T: Typed>(
        self,
        name: impl Into<String>,
        value: impl Fn(R) -> T + 'a,
    ) -> Columns<'a, R> {
        self.aligned(Align::Right, name, None, value)
    }

    /// Adds a column at whose right edge values stand, and which belongs to a group.
    #[must_use]
    pub fn grouped<T: Typed>(
        self,
        group: Option<&str>,
        name: impl Into<String>,
        value: impl Fn(R) -> T + 'a,
    ) -> Columns<'a, R> {
        self.aligned(Align::Right, name, group, value)
    }

    /// Compiled for each column of each table, a thousand times: so it does next to nothing itself.
    fn aligned<T: Typed>(
        self,
        align: Align,
        name: impl Into<String>,
        group: Option<&str>,
        value: impl Fn(R) -> T + 'a,
    ) -> Columns<'a, R> {
        let heading = Heading::new(name.into(), T::KIND, group, align);
        self.add(heading, Box::new(move |row| value(row).into()))
    }

    #[inline(never)]
    fn add(mut self, heading: Heading, value: Box<dyn Fn(R) -> Value + 'a>) -> Columns<'a, R> {
        self.0.push(Column { heading, value });
        self
    }

    /// Adds the columns of something that each row has.
    #[must_use]
    pub fn all<S: Copy + 'a>(
        mut self,
        columns: Columns<'a, S>,
        of: impl Fn(R) -> S + Copy + 'a,
    ) -> Columns<'a, R> {
        let columns = columns.0.into_iter().map(|Column { heading, value }| {
            let value = Box::new(move |row| value(of(row)));
            Column { heading, value }
        });
        self.0.extend(columns);
        self
    }

    /// Adds what `more` adds, if `wanted`.
    #[must_use]
    pub fn only_if(
        self,
        wanted: bool,
        more: impl FnOnce(Columns<'a, R>) -> Columns<'a, R>,
    ) -> Columns<'a, R> {
        if wanted { more(self) } else { self }
    }

    pub fn values(&self, row: R) -> Vec<Value> {
        self.0.iter().map(|column| (column.value)(row)).collect()
    }

    fn headings(&self) -> Vec<Heading> {
        self.0.iter().map(|column| column.heading.clone()).collect()
    }

    /// These columns of these rows, for formats that programs read.
    pub fn records<I>(self, rows: I) -> Records<'a>
    where
        I: IntoIterator<Item = R>,
        I::IntoIter: 'a,
    {
        Records {
            headings: self.headings(),
            rows: Box::new(rows.into_iter().map(move |row| self.values(row))),
        }
    }

    /// These columns of these rows, for readers.
    pub fn table(&self, title: impl Into<String>, rows: impl IntoIterator<Item = R>) -> Table {
        self.summed_up(title, rows, [])
    }

    /// The same with rows below that sum the others up; they may be shorter.
    pub fn summed_up(
        &self,
        title: impl Into<String>,
        rows: impl IntoIterator<Item = R>,
        summaries: impl IntoIterator<Item = Vec<Value>>,
    ) -> Table {
        let row = |values, summary| Row { values, summary };
        let summaries = summaries.into_iter().map(|mut values| {
            values.resize(self.0.len(), Value::default());
            row(values, true)
        });
        let rows = rows.into_iter().map(|of| row(self.values(of), false));
        Table::new(title, self.headings(), rows.chain(summaries))
    }
}

/// A table for programs, which is made row by row while it is written.
pub struct Records<'a> {
    pub headings: Vec<Heading>,
    /// Its rows, of a value for each column.
    pub rows: Box<dyn Iterator<Item = Vec<Value>> + 'a>,
}

impl Records<'_> {
    /// The same for readers.
    pub fn table(self, title: impl Into<String>) -> Table {
        let rows = self.rows.map(|values| Row {
            values,
            summary: false,
        });
        Table::new(title, self.headings, rows)
    }
}
