// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables as CSV (RFC 4180).

use std::io::Write;

use crate::column::Records;
use crate::text::printable;
use crate::value::Datum;

const FIELD_LIMIT: usize = 4_096;

#[derive(Debug, thiserror::Error)]
#[error("cannot write CSV: {0}")]
pub struct CsvError(#[from] ::csv::Error);

/// Writes a heading line with the column names and one line per row. Missing values are empty.
pub fn csv(records: Records<'_>, writer: impl Write) -> Result<(), CsvError> {
    write_values(records, writer, |of| text(&of))
}

/// As [`csv`], but with texts of any length and any characters; only `'` is put before formulas.
pub fn raw_csv(records: Records<'_>, writer: impl Write) -> Result<(), CsvError> {
    write_values(records, writer, no_formula)
}

fn write_values(
    records: Records<'_>,
    writer: impl Write,
    text: fn(String) -> String,
) -> Result<(), CsvError> {
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
) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(columns)?;
    for row in rows {
        out.write_record(row)?;
    }
    Ok(out.flush().map_err(::csv::Error::from)?)
}

fn field(datum: Datum, text: fn(String) -> String) -> String {
    match datum {
        Datum::Missing => String::new(),
        Datum::Text(of) => text(of),
        Datum::Whole(number) => number.to_string(),
        Datum::Number(number) => number.to_string(),
        Datum::Flag(flag) => flag.to_string(),
        Datum::Moment(moment) => moment.to_string(),
    }
}

pub(crate) fn text(text: &str) -> String {
    no_formula(printable(text, FIELD_LIMIT))
}

/// A text that a spreadsheet does not take for a formula: it may come from a guest.
fn no_formula(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text
    }
}
