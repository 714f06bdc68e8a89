// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use experiment::Shard;

/// Who starts the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// A job array, as a script for sbatch
    Slurm,
    /// An Indexed Job
    Kubernetes,
    /// A .gitlab-ci.yml with parallel jobs
    Gitlab,
    /// A workflow for .github/workflows with a matrix
    Github,
}

/// Write jobs that measure a run in parts, for who starts jobs
///
/// Each job runs `lsmeter run --shard I/N`; another puts their documents together with
/// `lsmeter merge`. What is written is a beginning: runners, images and volumes are yours
/// to name.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter plan suite --shards 16 --format slurm > suite.sbatch
  lsmeter plan suite --format kubernetes --image registry/lsmeter:1 > job.yaml
  lsmeter plan my.toml --shards 8 --format gitlab > .gitlab-ci.yml
  lsmeter plan quick --shards 5 --format github -- --fs tmpfs --with-hooks

What stands behind -- goes to `lsmeter run`.")]
pub struct PlanArgs {
    /// A preset (`lsmeter list presets`) or a TOML file
    #[arg(value_name = "PRESET|SPEC.toml", value_hint = ValueHint::FilePath)]
    pub spec: String,
    /// Who starts the jobs
    #[arg(long, value_name = "FORMAT")]
    pub format: PlanFormat,
    /// Jobs [default: as many as can be, at most 16]
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(Shard::COUNT_LIMIT)))]
    pub shards: Option<u32>,
    /// lsmeter, as a job finds it
    #[arg(long, value_name = "PROGRAM", default_value = "lsmeter")]
    pub program: String,
    /// The container image with lsmeter and QEMU, where jobs run in one
    #[arg(long, value_name = "NAME", default_value = "lsmeter:latest")]
    pub image: String,
    /// Where to; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// For `lsmeter run`
    #[arg(last = true, value_name = "RUN FLAGS")]
    pub flags: Vec<String>,
}
