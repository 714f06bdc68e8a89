// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter export`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Write result files as CSV
///
/// The CSV suits DuckDB, R, pandas and spreadsheets. Each row is a measurement with its
/// environment. The columns are stable; docs/export.md describes them. For result files of `lsmeter
/// profile`, `sensitivity`, `monitor` and `placement`, the rows are those that `--format csv`
/// prints.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter export nightly/*.json -o nightly.csv
  lsmeter export run.json | head
  lsmeter export run.json --samples -o samples.csv
  duckdb -c \"SELECT stack, avg(overhead) FROM 'nightly.csv' GROUP BY stack\"")]
pub struct ExportArgs {
    /// Read these result files of runs, or one file of another kind
    #[arg(required = true, value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Write the CSV here; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// Write a row per sample (needs `lsmeter run --keep-samples`)
    #[arg(long, help_heading = "Output")]
    pub samples: bool,
}
