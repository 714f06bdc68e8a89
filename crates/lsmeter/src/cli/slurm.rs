// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of runs in parts.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use experiment::Shard;

/// A run in parts: one of them, or all by Slurm.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parts")]
pub struct ShardArgs {
    /// Measure this part only: 3/16 is the third of sixteen. `lsmeter merge` puts them
    /// together
    #[arg(long, value_name = "I/N", conflicts_with_all = ["aa", "check", "slurm"])]
    pub shard: Option<Shard>,
    /// Have Slurm run the parts as a job array, follow it, merge what comes of it
    #[arg(long, conflicts_with = "aa")]
    pub slurm: bool,
    /// Parts for Slurm [default: as many as can be]
    #[arg(long, value_name = "N", requires = "slurm",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(Shard::COUNT_LIMIT)))]
    pub shards: Option<u32>,
    /// Slurm's partition
    #[arg(long, value_name = "NAME", requires = "slurm")]
    pub partition: Option<String>,
    /// A directory that all of Slurm's nodes see under this name; it is made
    /// [default: OUTPUT.shards]
    #[arg(long, value_name = "DIR", requires = "slurm", value_hint = ValueHint::DirPath)]
    pub workdir: Option<PathBuf>,
    /// One more argument for sbatch, such as --sbatch-arg=--constraint=epyc; may be given
    /// several times
    #[arg(
        long = "sbatch-arg",
        value_name = "ARG",
        requires = "slurm",
        allow_hyphen_values = true
    )]
    pub sbatch_args: Vec<String>,
    /// lsmeter on the nodes [default: this one's path]
    #[arg(long, value_name = "PROGRAM", requires = "slurm", value_hint = ValueHint::ExecutablePath)]
    pub node_program: Option<PathBuf>,
}
