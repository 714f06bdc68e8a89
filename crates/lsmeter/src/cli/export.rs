// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter export`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};

/// Write the cells of runs as one table, for other programs
///
/// As Parquet or CSV, for DuckDB, Spark, ClickHouse, R or pandas. A row is a cell, with what
/// it ran on; the columns are documented in docs/export.md and stay.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("format").required(true).multiple(true).args(["parquet", "csv"]),
    after_long_help = "\
Examples:
  lsmeter export nightly/*.json --parquet nightly.parquet
  lsmeter export run.json --csv - | head
  lsmeter export run.json --samples --parquet samples.parquet
  duckdb -c \"SELECT stack, avg(overhead) FROM 'nightly.parquet' GROUP BY stack\"")]
pub struct ExportArgs {
    /// Documents of `lsmeter run` or `lsmeter merge`
    #[arg(required = true, value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Write Apache Parquet; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub parquet: Option<PathBuf>,
    /// Write CSV; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// A row for each sample, of cells that have them (`lsmeter run --keep-samples`)
    #[arg(long, help_heading = "Output")]
    pub samples: bool,
}
