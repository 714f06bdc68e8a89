// SPDX-License-Identifier: GPL-2.0-or-later
//! The cells of run documents as one table, for DuckDB, Spark, ClickHouse and the like; and any
//! table as Parquet.
//!
//! [`records`] says what each column holds. They are the same in Parquet and CSV, and
//! stay: a later version may append some. Nothing here opens a file.

mod parquet;
mod rows;

use experiment::Document;

pub use parquet::parquet;
pub use rows::records;

/// A document to export.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// What to call it in the column `document`: its file.
    pub name: String,
    /// The document.
    pub run: Document,
}

/// What one row of the table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// A cell.
    Cells,
    /// A sample of a cell. Cells whose samples were not kept have none.
    Samples,
}

/// The Parquet library refused.
#[derive(Debug, thiserror::Error)]
#[error("cannot write Parquet: {0}")]
pub struct ExportError(#[from] ::parquet::errors::ParquetError);
