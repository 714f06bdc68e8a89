// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter merge`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Merge the shards of a run
///
/// lsmeter reads the result files that `lsmeter run --shard` wrote, in any order. It writes one
/// with the same measurements as a run without --shard. Duplicate measurements must have the same
/// result. Shards from different kernels, emulators or machines are refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter merge shard-*.json --output run.json
  lsmeter merge shard-*.json --partial -o so-far.json
  lsmeter merge so-far.json shard-7.json -o run.json
  lsmeter merge shard-*.json --by-machine -o run.json    run-1.json, run-2.json, …

If shards are missing, lsmeter lists them and exits with status 5, or 0 with --partial.")]
pub struct MergeArgs {
    /// Merge these result files of `lsmeter run --shard` or `lsmeter merge`
    #[arg(required = true, value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Save the result file here; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// Exit 0 even if shards are missing
    #[arg(long)]
    pub partial: bool,
    /// Write one result file per machine: FILE-1.json, FILE-2.json, …
    #[arg(long)]
    pub by_machine: bool,
    /// Do not print a summary
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
