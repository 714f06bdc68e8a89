// SPDX-License-Identifier: GPL-2.0-or-later
//! Any table as Parquet, column by column.

mod file;
mod thrift;

use report::Records;

use self::file::{File, Values};
use crate::ExportError;

/// Rows that are held in memory, and become one row group.
const GROUP_ROWS: usize = 1 << 16;

/// The table as a Parquet file, compressed with Snappy. Without rows it still has its columns.
///
/// # Errors
/// [`ExportError::TooLarge`].
pub fn parquet(records: Records<'_>) -> Result<Vec<u8>, ExportError> {
    let headings = &records.headings;
    let of_kinds = || headings.iter().map(|of| Values::new(of.kind)).collect();
    let columns = headings.iter().map(|of| (of.title.to_string(), of.kind));
    let mut file = File::new(columns.collect());
    let mut held: Vec<Values> = of_kinds();
    let mut rows = 0;
    for row in records.rows {
        for (column, value) in held.iter_mut().zip(row) {
            column.push(value.datum);
        }
        rows += 1;
        if rows == GROUP_ROWS {
            file.group(&held)?;
            (held, rows) = (of_kinds(), 0);
        }
    }
    if rows > 0 {
        file.group(&held)?;
    }
    Ok(file.end(concat!("lsmeter ", env!("CARGO_PKG_VERSION"))))
}
