// SPDX-License-Identifier: GPL-2.0-or-later
//! The table as Parquet, column by column, and as CSV, row by row.

use std::io::Write;
use std::mem::take;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::parser::parse_message_type;

use crate::columns::{Column, Kind, Value, columns};
use crate::row::each;
use crate::{ExportError, Rows, Source};

/// Rows that are held in memory, and become one row group.
const GROUP_ROWS: usize = 1 << 16;

/// One column's values of a row group: those that there are, and for each row whether it
/// has one (1) or not (0), as Parquet's definition levels.
enum Values {
    Text(Vec<ByteArray>, Vec<i16>),
    /// Moments too.
    Integer(Vec<i64>, Vec<i16>),
    Float(Vec<f64>, Vec<i16>),
    Flag(Vec<bool>, Vec<i16>),
}

impl Values {
    fn new(kind: Kind) -> Values {
        match kind {
            Kind::Text => Values::Text(Vec::new(), Vec::new()),
            Kind::Integer | Kind::Moment => Values::Integer(Vec::new(), Vec::new()),
            Kind::Float => Values::Float(Vec::new(), Vec::new()),
            Kind::Flag => Values::Flag(Vec::new(), Vec::new()),
        }
    }

    /// Adds a row's value; one of another kind counts as missing.
    fn push(&mut self, value: Value<'_>) {
        fn add<T>(values: &mut Vec<T>, levels: &mut Vec<i16>, value: Option<T>) {
            levels.push(i16::from(value.is_some()));
            values.extend(value);
        }
        match self {
            Values::Text(values, levels) => {
                let text = match value {
                    Value::Text(text) => Some(ByteArray::from(text.as_ref())),
                    _ => None,
                };
                add(values, levels, text);
            }
            Values::Integer(values, levels) => {
                let number = match value {
                    Value::Integer(number) => Some(number),
                    Value::Moment(moment) => Some(moment.as_millisecond()),
                    _ => None,
                };
                add(values, levels, number);
            }
            Values::Float(values, levels) => {
                let number = match value {
                    Value::Float(number) => Some(number),
                    _ => None,
                };
                add(values, levels, number);
            }
            Values::Flag(values, levels) => {
                let flag = match value {
                    Value::Flag(flag) => Some(flag),
                    _ => None,
                };
                add(values, levels, flag);
            }
        }
    }

    /// Writes the column of a row group, and is empty again.
    fn flush(&mut self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        fn write<T: DataType>(
            column: &mut SerializedColumnWriter<'_>,
            values: &mut Vec<T::T>,
            levels: &mut Vec<i16>,
        ) -> Result<(), ParquetError> {
            let (values, levels) = (take(values), take(levels));
            column
                .typed::<T>()
                .write_batch(&values, Some(&levels), None)?;
            Ok(())
        }
        match self {
            Values::Text(values, levels) => write::<ByteArrayType>(&mut column, values, levels),
            Values::Integer(values, levels) => write::<Int64Type>(&mut column, values, levels),
            Values::Float(values, levels) => write::<DoubleType>(&mut column, values, levels),
            Values::Flag(values, levels) => write::<BoolType>(&mut column, values, levels),
        }?;
        column.close()
    }
}

/// The table as a Parquet file, compressed with Snappy. Without rows it still has its columns.
///
/// # Errors
/// [`ExportError::Parquet`].
pub fn parquet(sources: &[Source], rows: Rows) -> Result<Vec<u8>, ExportError> {
    let columns = columns(rows);
    let schema = Arc::new(parse_message_type(&message_type(&columns))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("lsmeter ", env!("CARGO_PKG_VERSION")).to_owned());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut values: Vec<Values> = columns.iter().map(|of| Values::new(of.kind)).collect();
    let mut held = 0;
    each(sources, rows, |row| {
        for (column, values) in columns.iter().zip(&mut values) {
            values.push((column.get)(row));
        }
        held += 1;
        if held < GROUP_ROWS {
            return Ok(());
        }
        held = 0;
        write_group(file.next_row_group()?, &mut values)
    })?;
    if held > 0 {
        write_group(file.next_row_group()?, &mut values)?;
    }
    Ok(file.into_inner()?)
}

fn write_group<W: Write + Send>(
    mut group: SerializedRowGroupWriter<'_, W>,
    values: &mut [Values],
) -> Result<(), ParquetError> {
    for values in values {
        let Some(column) = group.next_column()? else {
            return Err(ParquetError::General(
                "the schema lacks a column".to_owned(),
            ));
        };
        values.flush(column)?;
    }
    group.close()?;
    Ok(())
}

/// The schema, in Parquet's own words.
fn message_type(columns: &[&Column]) -> String {
    let mut text = "message lsmeter {\n".to_owned();
    for column in columns {
        let (kind, meaning) = match column.kind {
            Kind::Text => ("binary", " (STRING)"),
            Kind::Integer => ("int64", ""),
            Kind::Moment => ("int64", " (TIMESTAMP(MILLIS,true))"),
            Kind::Float => ("double", ""),
            Kind::Flag => ("boolean", ""),
        };
        text += &format!("  optional {kind} {}{meaning};\n", column.name);
    }
    text + "}\n"
}

/// The table as CSV (RFC 4180). What is missing is empty.
///
/// # Errors
/// [`ExportError::Csv`] or [`ExportError::Io`], if the writer fails.
pub fn csv(sources: &[Source], rows: Rows, to: impl Write) -> Result<(), ExportError> {
    let columns = columns(rows);
    let mut writer = ::csv::Writer::from_writer(to);
    writer.write_record(columns.iter().map(|column| column.name))?;
    each(sources, rows, |row| {
        writer.write_record(columns.iter().map(|column| match (column.get)(row) {
            Value::Text(text) => text.into_owned(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Moment(moment) => moment.to_string(),
            Value::Missing => String::new(),
        }))
    })?;
    writer.flush()?;
    Ok(())
}
