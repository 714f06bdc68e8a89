// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter predict`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::output::OutputArgs;
use super::shared::{LabArgs, ProgressArgs, number_within};

/// Tell what another stack would cost where calls of hooks were recorded
///
/// Takes how often each hook was called in each system call, from a recording of `lsmeter
/// monitor`, and multiplies it with what a call costs in the lab under each stack. Says which
/// calls the lab has a cost of, how far it may be off, and which hooks, system calls and
/// modules it would be. Figures are instructions; with --weights also nanoseconds, as far as they
/// are known of the processor that the weights are of.
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
    /// What was called: a recording of `lsmeter monitor --record`, or a document of whole
    /// programs
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub recording: PathBuf,
    /// Which program of a document of several [default: all]
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// What calls cost: a document of `lsmeter profile`, or of whole programs; may be given
    /// several times, of the same kernel
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "resume")]
    pub costs: Vec<PathBuf>,
    /// Kernel to boot and count costs on; with --costs, the one of theirs
    #[arg(short, long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Stack of LSMs, as lsm= takes it; may be given several times: the first is the baseline
    /// [default: all that the costs have]
    #[arg(short, long = "stack", value_name = "LSM,…")]
    pub stacks: Vec<String>,
    /// The stack that the others are compared with, such as the one that runs there
    #[arg(long, value_name = "LSM,…")]
    pub baseline: Option<String>,
    /// Benchmark, or benchmark:variant, that costs are counted of, with * and ?; `!` excludes
    /// [default: all but treewalk:full*]
    #[arg(
        short,
        long = "bench",
        value_name = "PATTERN,…",
        value_delimiter = ',',
        conflicts_with = "costs"
    )]
    pub benchmarks: Vec<String>,
    /// Nanoseconds that an instruction takes there, as you take it to be: adds the time to
    /// the tables
    #[arg(long, value_name = "NS", value_parser = ns_per_instruction)]
    pub ns_per_instruction: Option<f64>,
    /// Weights of what instructions do, for the time that calls take: what `lsmeter estimate
    /// --keep-weights` wrote, on a processor like that one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "ns_per_instruction")]
    pub weights: Option<PathBuf>,
    /// How costs are counted
    #[command(flatten)]
    pub lab: LabArgs,
    /// Keep the costs that are counted, for --costs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "costs",
        help_heading = "Output")]
    pub keep_costs: Option<PathBuf>,
    /// Rows of each table; 0 for all [default: 15]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub rows: Option<usize>,
    /// What is printed, and where it goes
    #[command(flatten)]
    pub out: OutputArgs,
    /// How it goes on
    #[command(flatten)]
    pub progress: ProgressArgs,
}

/// From the fastest that a processor can be to one that is emulated.
fn ns_per_instruction(text: &str) -> Result<f64, String> {
    number_within(text, 0.001..=1_000.0)
}
