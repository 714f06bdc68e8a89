// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter export`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Write result files as CSV
///
/// For DuckDB, R, pandas or a spreadsheet. Each row is a measurement and where it ran; the columns
/// are documented in docs/export.md and stay. A profile has a row per hook, a sweep per hook that
/// is delayed, a placement per operation and hook, as `--format csv` prints them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter export nightly/*.json -o nightly.csv
  lsmeter export run.json | head
  lsmeter export run.json --samples -o samples.csv
  duckdb -c \"SELECT stack, avg(overhead) FROM 'nightly.csv' GROUP BY stack\"")]
pub struct ExportArgs {
    /// Result files of `lsmeter run` or `merge`; or one of `profile`, `sensitivity`, `monitor` or
    /// `placement`
    #[arg(required = true, value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Write the CSV into this file; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// A row per sample, where they were kept (`lsmeter run --keep-samples`)
    #[arg(long, help_heading = "Output")]
    pub samples: bool,
}
