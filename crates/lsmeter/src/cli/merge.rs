// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter merge`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Put the parts of a run together
///
/// Takes the documents that `lsmeter run --shard I/N` wrote, in any order, and writes the
/// document of the whole run: the same cells as if it had not been divided. A cell that is
/// there twice must be the same; figures that cannot stand beside each other, because
/// kernels, emulators or machines differ, are refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter merge shard-*.json --output run.json
  lsmeter merge part-of-them.json shard-7.json -o run.json
  lsmeter merge shard-*.json --partial -o so-far.json
  lsmeter merge shard-*.json --by-machine -o run.json    run-1.json, run-2.json, …

If shards are missing it says which, and ends with 5.")]
pub struct MergeArgs {
    /// Documents of `lsmeter run --shard`, or of `lsmeter merge`
    #[arg(required = true, value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Where to save the run document; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// End well although shards are missing
    #[arg(long)]
    pub partial: bool,
    /// Write a document for each machine that times were taken on: FILE-1.json, FILE-2.json, …
    #[arg(long)]
    pub by_machine: bool,
    /// Say nothing of what was merged
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
