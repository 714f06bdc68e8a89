// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter estimate`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::output::OutputArgs;

/// Tell how many nanoseconds counted operations would take on this processor
///
/// Instructions do not take the same time each: one `rep stos` may take as long as a hundred
/// others. Of operations that were both timed on a processor (`lsmeter run --on um`) and
/// counted with what their instructions do (`lsmeter profile --events`), this finds how many ns
/// each instruction, REP instruction and byte takes, and says what all counted operations would
/// take: also those of kernels and modules that were never timed. Says how far it was off for
/// operations, and for stacks, that it was not shown; of what is unlike all that it was shown
/// it says nothing.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter run suite --on um --kernel build:um --fs tmpfs --rounds 16 -o times.json
  lsmeter profile suite --kernel build:6.12-all --fs tmpfs --events --baseline capability \\
      --stack capability,selinux --stack capability,apparmor -o counts.json
  lsmeter estimate counts.json --times times.json --keep-weights weights.json
  lsmeter estimate patched.json --weights weights.json
  lsmeter run suite --on host --dir /dev/shm/x -o host.json
  lsmeter estimate counts.json --times host.json
  lsmeter run suite --kernel build:6.12-all --kernel 'build:um.*' --metric instructions,time \\
      --events --fs tmpfs --rounds 4 -o both.json
  lsmeter estimate both.json")]
#[command(next_help_heading = "What is estimated")]
pub struct EstimateArgs {
    /// What was counted: documents of `lsmeter profile --events` or `run --events`
    #[arg(required = true, value_name = "COUNTS.json", value_hint = ValueHint::FilePath)]
    pub counts: Vec<PathBuf>,
    /// What the same operations took, to fit weights to: a document of `lsmeter run` with times
    /// of kernels that are processes, or of the running one [default: one of COUNTS.json that has
    /// them, too]
    #[arg(short, long, value_name = "TIMES.json", value_hint = ValueHint::FilePath)]
    pub times: Option<PathBuf>,
    /// Weights that were fitted before: what --keep-weights or --output wrote
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "times")]
    pub weights: Option<PathBuf>,
    /// What has a weight: instructions, or an event's name as CSV has it
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',', conflicts_with = "weights",
        default_values = estimate::DEFAULT_TERMS)]
    pub terms: Vec<String>,
    /// Keep the weights, with how good they are, for --weights
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "weights",
        help_heading = "Output")]
    pub keep_weights: Option<PathBuf>,
    /// What is printed, and where it goes
    #[command(flatten)]
    pub out: OutputArgs,
}
