// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables as CSV (RFC 4180).

use std::io::Write;

use crate::column::Records;
use crate::text::printable;
use crate::value::Datum;

/// Longest text of one field, in characters.
const FIELD_LIMIT: usize = 4_096;

/// The CSV could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// A record could not be written.
    #[error("cannot write CSV: {0}")]
    Record(#[from] ::csv::Error),
    /// The end could not be flushed.
    #[error("cannot write CSV: {0}")]
    Flush(#[from] std::io::Error),
}

/// Writes a heading line with the names of the columns, and one line for each row. What is missing
/// is empty.
///
/// # Errors
/// [`CsvError`] when the writer fails. Flushes at the end.
pub fn csv(records: Records<'_>, writer: impl Write) -> Result<(), CsvError> {
    write(records, writer, |of| text(&of))
}

/// As [`csv`], with every text as the document has it: for programs, not for spreadsheets.
///
/// # Errors
/// As [`csv`].
pub fn raw_csv(records: Records<'_>, writer: impl Write) -> Result<(), CsvError> {
    write(records, writer, |text| text)
}

fn write(
    records: Records<'_>,
    writer: impl Write,
    text: fn(String) -> String,
) -> Result<(), CsvError> {
    let mut out = ::csv::Writer::from_writer(writer);
    out.write_record(records.names())?;
    for values in records.rows {
        out.write_record(values.into_iter().map(|value| field(value.datum, text)))?;
    }
    out.flush()?;
    Ok(())
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

/// A text that a spreadsheet does not take for a formula: it may come from a guest.
pub(crate) fn text(text: &str) -> String {
    let text = printable(text, FIELD_LIMIT);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}
