// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter predict`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::output::OutputArgs;
use super::shared::{LabArgs, ProgressArgs, number_within};

/// Predict another stack's cost from recorded hook calls
///
/// Takes the calls of each hook in each system call from a recording of `lsmeter monitor`, and
/// multiplies them by the cost of a call in the lab under each stack. Prints which calls have a
/// known cost, the error, and the cost by hook, system call and module. Figures are instructions; with
/// --weights also nanoseconds.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter monitor --duration 600 --record R.json
  lsmeter predict --recording R.json --kernel debian:6.12 --stack capability \\
      --stack capability,selinux --keep-costs costs.json
  lsmeter predict --recording R.json --costs costs.json --costs programs.json
  lsmeter predict --recording R.json --costs costs.json --baseline capability,apparmor
  lsmeter predict --recording programs.json --costs costs.json --workload git-status

Of whole programs that were counted under the stacks, what was measured stands beside what is
predicted: how good predictions are can be seen where both are known.")]
#[command(next_help_heading = "What is predicted")]
pub struct PredictArgs {
    /// Calls: a recording of `lsmeter monitor --record`, or a result file of whole programs
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub recording: PathBuf,
    /// Which of several programs [default: all]
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Costs: a result file of `lsmeter profile` or of whole programs; repeatable, for one kernel
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "no_cache")]
    pub costs: Vec<PathBuf>,
    /// Kernel to boot and count costs on; with --costs, the kernel to use of those
    #[arg(short, long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Stack of LSMs as in lsm=; repeatable, the first is the baseline [default: all of the costs]
    #[arg(short, long = "stack", value_name = "LSM,…")]
    pub stacks: Vec<String>,
    /// Baseline, such as the stack of the recorded machine
    #[arg(long, value_name = "LSM,…")]
    pub baseline: Option<String>,
    /// Benchmark, or benchmark:variant, to count costs of, with * and ?; `!` excludes
    /// [default: all but treewalk:full*]
    #[arg(
        short,
        long = "bench",
        value_name = "PATTERN,…",
        value_delimiter = ',',
        conflicts_with = "costs"
    )]
    pub benchmarks: Vec<String>,
    /// Assumed nanoseconds per instruction there; adds times to the tables
    #[arg(long, value_name = "NS", value_parser = ns_per_instruction)]
    pub ns_per_instruction: Option<f64>,
    /// Weights from `lsmeter estimate --keep-weights` on a similar processor, for times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "ns_per_instruction")]
    pub weights: Option<PathBuf>,
    /// How costs are counted
    #[command(flatten)]
    pub lab: LabArgs,
    /// Save the counted costs, for --costs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "costs",
        help_heading = "Output")]
    pub keep_costs: Option<PathBuf>,
    /// Rows of each table; 0 for all [default: 15]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub rows: Option<usize>,
    /// Output
    #[command(flatten)]
    pub out: OutputArgs,
    /// Progress
    #[command(flatten)]
    pub progress: ProgressArgs,
}

/// From the fastest that a processor can be to one that is emulated.
fn ns_per_instruction(text: &str) -> Result<f64, String> {
    number_within(text, 0.001..=1_000.0)
}
