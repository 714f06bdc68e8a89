// SPDX-License-Identifier: GPL-2.0-or-later
//! Columns, each with a name and a value for each row, for all formats; and CSV (RFC 4180).

use std::io::{self, Write};

use crate::table::{Align, Datum, Heading, Kind, Row, Table, Typed, Value};
use crate::text::printable;

pub struct Columns<'a, R>(Vec<Column<'a, R>>);

type Column<'a, R> = (Heading, Box<dyn Fn(R) -> Value + 'a>);

impl<'a, R: Copy + 'a> Columns<'a, R> {
    #[expect(clippy::new_without_default, reason = "columns are added next")]
    pub fn new() -> Self {
        Columns(Vec::new())
    }

    pub fn column<T: Typed>(self, name: impl Into<String>, value: impl Fn(R) -> T + 'a) -> Self {
        let align = match T::KIND {
            Kind::Integer | Kind::Float => Align::Right,
            Kind::Text | Kind::Flag | Kind::Moment => Align::Left,
        };
        self.aligned(align, name, None, value)
    }

    pub fn left<T: Typed>(self, name: impl Into<String>, value: impl Fn(R) -> T + 'a) -> Self {
        self.aligned(Align::Left, name, None, value)
    }

    pub fn right<T: Typed>(self, name: impl Into<String>, value: impl Fn(R) -> T + 'a) -> Self {
        self.aligned(Align::Right, name, None, value)
    }

    pub fn grouped<T: Typed>(
        self,
        group: Option<&str>,
        name: impl Into<String>,
        value: impl Fn(R) -> T + 'a,
    ) -> Self {
        self.aligned(Align::Right, name, group, value)
    }

    /// Keep this small, because it is instantiated about a thousand times (per column and table).
    fn aligned<T: Typed>(
        self,
        align: Align,
        name: impl Into<String>,
        group: Option<&str>,
        value: impl Fn(R) -> T + 'a,
    ) -> Self {
        let heading = Heading {
            title: name.into(),
            kind: T::KIND,
            group: group.map(str::to_owned),
            align,
        };
        self.add(heading, Box::new(move |row| value(row).into()))
    }

    #[inline(never)]
    fn add(mut self, heading: Heading, value: Box<dyn Fn(R) -> Value + 'a>) -> Self {
        self.0.push((heading, value));
        self
    }

    pub fn all<S: Copy + 'a>(
        mut self,
        columns: Columns<'a, S>,
        part: impl Fn(R) -> S + Copy + 'a,
    ) -> Self {
        for (heading, value) in columns.0 {
            self.0
                .push((heading, Box::new(move |row| value(part(row)))));
        }
        self
    }

    pub fn only_if(self, condition: bool, more: impl FnOnce(Self) -> Self) -> Self {
        if condition { more(self) } else { self }
    }

    pub fn values(&self, row: R) -> Vec<Value> {
        self.0.iter().map(|(_, value)| value(row)).collect()
    }

    fn headings(&self) -> Vec<Heading> {
        self.0.iter().map(|(heading, _)| heading.clone()).collect()
    }

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

    pub fn table(&self, title: impl Into<String>, rows: impl IntoIterator<Item = R>) -> Table {
        self.summed_up(title, rows, [])
    }

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
        let rows = rows.into_iter().map(|item| row(self.values(item), false));
        Table::new(title, self.headings(), rows.chain(summaries))
    }
}

/// A machine-readable table. Each row is created when it is written.
pub struct Records<'a> {
    pub headings: Vec<Heading>,
    pub rows: Box<dyn Iterator<Item = Vec<Value>> + 'a>,
}

const FIELD_LIMIT: usize = 4_096;

/// Writes a heading line with the column names and one line per row. Missing values are empty.
pub fn csv(records: Records<'_>, writer: impl Write) -> io::Result<()> {
    write_values(records, writer, |value| text(&value))
}

/// Like [`csv`], but texts have any length and characters; only formulas get a `'`.
pub fn raw_csv(records: Records<'_>, writer: impl Write) -> io::Result<()> {
    write_values(records, writer, no_formula)
}

fn write_values(
    records: Records<'_>,
    writer: impl Write,
    text: fn(String) -> String,
) -> io::Result<()> {
    let headings = records.headings.iter();
    let names: Vec<&str> = headings.map(|heading| heading.title.as_str()).collect();
    let values = records.rows.map(|values| {
        let values = values.into_iter();
        values.map(|value| field(value.datum, text)).collect()
    });
    write(writer, &names, values)
}

pub(crate) fn write(
    writer: impl Write,
    columns: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(columns)?;
    for row in rows {
        out.write_record(row)?;
    }
    out.flush()
}

fn field(datum: Datum, text: fn(String) -> String) -> String {
    match datum {
        Datum::Missing => String::new(),
        Datum::Text(string) => text(string),
        Datum::Whole(number) => number.to_string(),
        Datum::Number(number) => number.to_string(),
        Datum::Flag(flag) => flag.to_string(),
        Datum::Moment(moment) => moment.to_string(),
    }
}

pub(crate) fn text(text: &str) -> String {
    no_formula(printable(text, FIELD_LIMIT))
}

/// A text that spreadsheets do not evaluate as a formula, because it may come from a guest.
fn no_formula(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text
    }
}
