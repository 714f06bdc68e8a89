// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter watch`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::counted::CountedArgs;

/// How lines are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WatchFormat {
    /// For readers
    Text,
    /// A JSON object each
    Json,
}

/// Measure a kernel's tree after each rebuild, and tell what changed
///
/// Measures the kernel that is in a build directory, waits until make has made another, and
/// tells in one line which counts differ from those before. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter watch --repo ~/linux --bench open:AA --stack capability,selinux
  lsmeter watch --repo ~/linux --image vmlinux --count 2 --format json")]
pub struct WatchArgs {
    /// The directory in which the kernel is built
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath,
        help_heading = "What is watched")]
    pub repo: PathBuf,
    /// The kernel, a path below it [default: as --kernel finds it in a build directory]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath,
        help_heading = "What is watched")]
    pub image: Option<PathBuf>,
    /// End after the first measurement
    #[arg(long, conflicts_with = "count", help_heading = "What is watched")]
    pub once: bool,
    /// End after N measurements
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "What is watched")]
    pub count: Option<u32>,
    /// What is counted
    #[command(flatten)]
    pub counted: CountedArgs,
    /// How lines are printed
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output"
    )]
    pub format: WatchFormat,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
