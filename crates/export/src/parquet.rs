// SPDX-License-Identifier: GPL-2.0-or-later
//! Any table as Parquet, column by column.

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
use report::{Datum, Heading, Kind, Records};

use crate::ExportError;

/// Rows that are held in memory, and become one row group.
const GROUP_ROWS: usize = 1 << 16;

/// One column's values of a row group: those that there are, and for each row whether it
/// has one (1) or not (0), as Parquet's definition levels.
enum Values {
    Text(Column<ByteArray>),
    /// Moments too.
    Integer(Column<i64>),
    Float(Column<f64>),
    Flag(Column<bool>),
}

#[derive(Default)]
struct Column<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Column<T> {
    fn add(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn write<D: DataType<T = T>>(
        &mut self,
        to: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let (values, levels) = (take(&mut self.values), take(&mut self.levels));
        to.typed::<D>().write_batch(&values, Some(&levels), None)?;
        Ok(())
    }
}

impl Values {
    fn new(kind: Kind) -> Values {
        match kind {
            Kind::Text => Values::Text(Column::default()),
            Kind::Integer | Kind::Moment => Values::Integer(Column::default()),
            Kind::Float => Values::Float(Column::default()),
            Kind::Flag => Values::Flag(Column::default()),
        }
    }

    /// Adds a row's value; one of another kind counts as missing.
    fn push(&mut self, datum: Datum) {
        match self {
            Values::Text(column) => column.add(match datum {
                Datum::Text(text) => Some(ByteArray::from(text.into_bytes())),
                _ => None,
            }),
            Values::Integer(column) => column.add(match datum {
                Datum::Whole(number) => number.try_into().ok(),
                Datum::Moment(moment) => Some(moment.as_millisecond()),
                _ => None,
            }),
            Values::Float(column) => column.add(match datum {
                Datum::Number(number) => Some(number),
                _ => None,
            }),
            Values::Flag(column) => column.add(match datum {
                Datum::Flag(flag) => Some(flag),
                _ => None,
            }),
        }
    }

    /// Writes the column of a row group, and is empty again.
    fn flush(&mut self, mut to: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Values::Text(column) => column.write::<ByteArrayType>(&mut to),
            Values::Integer(column) => column.write::<Int64Type>(&mut to),
            Values::Float(column) => column.write::<DoubleType>(&mut to),
            Values::Flag(column) => column.write::<BoolType>(&mut to),
        }?;
        to.close()
    }
}

/// The table as a Parquet file, compressed with Snappy. Without rows it still has its columns.
///
/// # Errors
/// [`ExportError`].
pub fn parquet(records: Records<'_>) -> Result<Vec<u8>, ExportError> {
    let schema = Arc::new(parse_message_type(&message_type(&records.headings))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("lsmeter ", env!("CARGO_PKG_VERSION")).to_owned());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let kinds = records.headings.iter().map(|heading| heading.kind);
    let mut columns: Vec<Values> = kinds.map(Values::new).collect();
    let mut held = 0;
    for row in records.rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value.datum);
        }
        held += 1;
        if held == GROUP_ROWS {
            held = 0;
            write_group(file.next_row_group()?, &mut columns)?;
        }
    }
    if held > 0 {
        write_group(file.next_row_group()?, &mut columns)?;
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
fn message_type(headings: &[Heading]) -> String {
    let mut text = "message lsmeter {\n".to_owned();
    for heading in headings {
        let (kind, meaning) = match heading.kind {
            Kind::Text => ("binary", " (STRING)"),
            Kind::Integer => ("int64", ""),
            Kind::Moment => ("int64", " (TIMESTAMP(MILLIS,true))"),
            Kind::Float => ("double", ""),
            Kind::Flag => ("boolean", ""),
        };
        text += &format!("  optional {kind} {}{meaning};\n", heading.title);
    }
    text + "}\n"
}
