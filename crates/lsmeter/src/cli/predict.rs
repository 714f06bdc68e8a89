// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter predict`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::output::OutputArgs;

/// Predict another stack's cost from recorded hook calls
///
/// Reads from a recording of `lsmeter monitor` how often each hook was called in each system call.
/// Multiplies these counts by the cost of a call, which `lsmeter profile` counted under each stack
/// in a virtual machine. Prints the share of calls with a known cost, the lowest and highest added cost, and the
/// cost by hook, system call and module, in instructions. --weights adds nanoseconds.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter monitor --duration 600 --record R.json
  lsmeter profile suite --stack capability --stack capability,selinux -o costs.json
  lsmeter predict --recording R.json --costs costs.json
  lsmeter predict --recording R.json --costs costs.json --costs programs.json
  lsmeter predict --recording R.json --costs costs.json --baseline capability,apparmor
  lsmeter predict --recording programs.json --costs costs.json --workload git-status

For whole programs that were counted under the stacks, the measured cost is printed next to the
predicted cost.")]
#[command(next_help_heading = "What is predicted")]
pub struct PredictArgs {
    /// Read calls from a result file of `lsmeter monitor`, or of a run of whole programs
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub recording: PathBuf,
    /// Predict only this program of the run [default: all]
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Read costs from a result file of `lsmeter profile`, or of a run of whole programs;
    /// repeatable
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub costs: Vec<PathBuf>,
    /// Use only the costs of this kernel [default: the recording's, or the only
    /// one]
    #[arg(short, long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Predict this stack, as in lsm=; repeatable [default: all stacks with known costs]
    #[arg(short, long = "stack", value_name = "LSM,…")]
    pub stacks: Vec<String>,
    /// Compare with this stack [default: the first --stack, else the baseline of the costs]
    #[arg(long, value_name = "LSM,…")]
    pub baseline: Option<String>,
    /// Print times too, with these weights from `lsmeter estimate` for a similar processor
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub weights: Option<PathBuf>,
    /// Print N rows of each table, 0 for all [default: 15]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub rows: Option<usize>,
    #[command(flatten)]
    pub out: OutputArgs,
}
