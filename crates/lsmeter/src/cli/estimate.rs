// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter estimate`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::output::OutputArgs;

/// Estimate how many nanoseconds counted operations take on a processor
///
/// Instructions do not all take the same time: one `rep stos` may take as long as a hundred others.
/// lsmeter reads operations that were timed on a processor (`lsmeter run --on um`) and counted with
/// events (`lsmeter profile --events`). It fits weights to them: ns per instruction, long REP
/// instruction, REP byte and L1i conflict. With these weights, it estimates all counted operations,
/// even on kernels and with modules that were never timed. It prints the error for operations and
/// stacks that were left out of the fit. It does not estimate operations that are unlike those in
/// the fit.
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
    /// Estimate these result files of `lsmeter profile --events` or `run --events`
    #[arg(required = true, value_name = "COUNTS.json", value_hint = ValueHint::FilePath)]
    pub counts: Vec<PathBuf>,
    /// Fit weights to these times of the same operations [default: the times in COUNTS.json]
    #[arg(short, long, value_name = "TIMES.json", value_hint = ValueHint::FilePath)]
    pub times: Option<PathBuf>,
    /// Use the weights of an earlier fit, saved with --keep-weights or --output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "times")]
    pub weights: Option<PathBuf>,
    /// Fit weights for these instruction and event counts, named as in CSV output
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',', conflicts_with = "weights",
        default_values = estimate::DEFAULT_TERMS)]
    pub terms: Vec<String>,
    /// Save weights and their errors here, for --weights
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "weights",
        help_heading = "Output")]
    pub keep_weights: Option<PathBuf>,
    #[command(flatten)]
    pub out: OutputArgs,
}
