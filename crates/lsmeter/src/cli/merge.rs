// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter merge`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Merge the parts of a run
///
/// Takes the result files of `lsmeter run --shard I/N` in any order, and writes that of the whole
/// run: the same measurements as without shards. Duplicates must be equal. Parts with different
/// kernels, emulators or machines are refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter merge shard-*.json --output run.json
  lsmeter merge part-of-them.json shard-7.json -o run.json
  lsmeter merge shard-*.json --partial -o so-far.json
  lsmeter merge shard-*.json --by-machine -o run.json    run-1.json, run-2.json, …

If shards are missing it says which, and ends with 5.")]
pub struct MergeArgs {
    /// Result files of `lsmeter run --shard`, or of `lsmeter merge`
    #[arg(required = true, value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Where to save the result file; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// Succeed even if shards are missing
    #[arg(long)]
    pub partial: bool,
    /// Write a result file per machine that measured times: FILE-1.json, FILE-2.json, …
    #[arg(long)]
    pub by_machine: bool,
    /// Do not report what was merged
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
