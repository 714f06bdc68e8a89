// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter estimate`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::output::OutputArgs;

/// Estimate the nanoseconds of counted operations on a processor
///
/// Instructions differ in time: one `rep stos` may take as long as a hundred others. From
/// operations that were both timed on a processor (`lsmeter run --on um`) and counted with
/// events (`lsmeter profile --events`), this fits the ns per instruction, REP instruction and
/// byte, and estimates all counted operations, even of kernels and modules that were never timed.
/// It prints its error for operations and stacks left out of the fit, and refuses operations unlike
/// all that it was fitted to.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter run suite --on um --kernel build:um --fs tmpfs --set rounds=16 -o times.json
  lsmeter profile suite --kernel build:6.12-all --fs tmpfs --events --baseline capability \\
      --stack capability,selinux --stack capability,apparmor -o counts.json
  lsmeter estimate counts.json --times times.json --keep-weights weights.json
  lsmeter estimate patched.json --weights weights.json
  lsmeter run suite --on host --dir /dev/shm/x -o host.json
  lsmeter estimate counts.json --times host.json
  lsmeter run suite --kernel build:6.12-all --kernel 'build:um.*' --metric instructions,time \\
      --events --fs tmpfs --set rounds=4 -o both.json
  lsmeter estimate both.json")]
#[command(next_help_heading = "What is estimated")]
pub struct EstimateArgs {
    /// Counts: result files of `lsmeter profile --events` or `run --events`
    #[arg(required = true, value_name = "COUNTS.json", value_hint = ValueHint::FilePath)]
    pub counts: Vec<PathBuf>,
    /// Times of the same operations, to fit weights to: a result file of `lsmeter run` on UML
    /// kernels or on the host [default: the one of COUNTS.json that has times]
    #[arg(short, long, value_name = "TIMES.json", value_hint = ValueHint::FilePath)]
    pub times: Option<PathBuf>,
    /// Weights from an earlier fit (--keep-weights or --output)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "times")]
    pub weights: Option<PathBuf>,
    /// Terms with a weight: instructions, or names of events as in CSV
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',', conflicts_with = "weights",
        default_values = estimate::DEFAULT_TERMS)]
    pub terms: Vec<String>,
    /// Write the weights, with their errors, for --weights
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "weights",
        help_heading = "Output")]
    pub keep_weights: Option<PathBuf>,
    /// Output
    #[command(flatten)]
    pub out: OutputArgs,
}
