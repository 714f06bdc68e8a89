// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter check`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use experiment::{Instrument, Suite};

use super::output::OutputArgs;
use super::shared::{LabArgs, words};

/// Tell whether the instruments agree: how far lsmeter can be trusted on a kernel
///
/// For each hook of each benchmark puts beside each other the calls that `lsmeter profile`
/// counts, those that `lsmeter monitor` counts in the same kernel, the slopes of `lsmeter
/// sensitivity` and, with --source, the bounds of `lsmeter placement`. Where they differ it
/// says why, if that is known; for each further stack it says what differs outside all hooks.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter check --kernel debian:6.12
  lsmeter check --kernel debian:6.12 --source linux-source-6.12.tar.xz
  lsmeter check --kernel build:mine --source ~/linux --bench 'open:*' --all
  lsmeter check --stack capability --stack capability,apparmor --skip sensitivity
  lsmeter check --keep made; lsmeter check --from made/profile.json --from made/counts.json

Exit status: 0 all agrees, or why not is known; 1 something does not, and nothing explains it; 4
some operations failed; 5 nothing could be compared. Instruments that a kernel is not
made for (BPF LSM before 5.17) are named, and left out.")]
#[command(next_help_heading = "What is checked")]
pub struct CheckArgs {
    /// Kernel to boot [default: debian:6.12]
    #[arg(short, long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Stack of LSMs, as lsm= takes it; may be given several times: hooks are compared of the
    /// first, others with the first [default: capability and capability,selinux]
    #[arg(short, long = "stack", value_name = "LSM,…")]
    pub stacks: Vec<String>,
    /// Benchmark, or benchmark:variant, with * and ?; `!` excludes [default: all but
    /// treewalk:full*]
    #[arg(short, long = "bench", value_name = "PATTERN,…", value_delimiter = ',')]
    pub benchmarks: Vec<String>,
    /// Suite to choose benchmarks from
    #[arg(long = "suite", value_name = "SUITE", value_parser = words::<Suite>(Suite::ALL))]
    pub suites: Vec<Suite>,
    /// The kernel's sources: a tree, a tarball, or a document of `lsmeter placement`
    #[arg(long, value_name = "TREE", value_hint = ValueHint::AnyPath)]
    pub source: Option<PathBuf>,
    /// Leave out an instrument; may be given several times
    #[arg(long, value_name = "INSTRUMENT", value_parser = words::<Instrument>(Instrument::ALL))]
    pub skip: Vec<Instrument>,
    /// Compare documents made before, and measure nothing: of profile, sensitivity, placement,
    /// or what --keep kept; may be given several times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
        conflicts_with = "keep")]
    pub from: Vec<PathBuf>,
    /// How it is measured
    #[command(flatten)]
    pub lab: LabArgs,
    /// Leave a hook out of those that the monitor watches, as a fault would
    #[arg(long, value_name = "HOOK", hide = true)]
    pub blind_to: Option<String>,
    /// Every hook of every operation, not only those in which instruments differ
    #[arg(long, help_heading = "Output")]
    pub all: bool,
    /// Also facts that explained nothing
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
    /// Keep the documents that are made in this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub keep: Option<PathBuf>,
    /// Go on with what was interrupted [default: the one beside the document, or the newest]
    #[arg(long, value_name = "JOURNAL", num_args = 0..=1, value_hint = ValueHint::FilePath,
        conflicts_with = "from", help_heading = "Output")]
    pub resume: Option<Option<PathBuf>>,
    /// What is printed, and where it goes
    #[command(flatten)]
    pub out: OutputArgs,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}
