// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter run`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use model::{Metric, Pattern};

use super::given::GivenArgs;
use super::output::OutputArgs;
use super::shard::ShardArgs;
use super::shared::{CellArgs, LabArgs, PlaceArgs, ProgramArgs, number_within, words};

/// Measure what LSM stacks cost
///
/// Boots each kernel under each stack, runs the benchmarks in it, prints what every
/// stack costs against the baseline, and saves a run document (JSON). Without
/// arguments it runs the preset `quick`: Debian's 6.12 kernel under five stacks, one
/// variant of each benchmark, exact instruction counts.
///
/// A run that is interrupted, or killed, loses no finished cell: `--resume` goes on.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter run                                  the preset quick
  lsmeter run suite --kernel debian:6.1        all variants, on another kernel
  lsmeter run --kernel a/bzImage --kernel b/bzImage --stack capability,selinux --check 1
                                               a patch, before and after: exit 1 if it costs
                                               more than 1 %
  lsmeter run --stack capability,apparmor --policy none --policy enforcing
  lsmeter run --apparmor-profiles /etc/apparmor.d --apparmor-profile nscd
              --denied 'read /etc/shadow' --allowed 'read /etc/hosts'
                                               under your own policy
  lsmeter run --stack capability --stack capability,landlock --fs tmpfs
  lsmeter run --on host --dir /var/tmp         time on this machine's own kernel
  lsmeter run --on um --kernel build:um        time of a kernel's own paths, in a process
  lsmeter run suite --on um --fs tmpfs --kernel 'build:um.*'
                                               over all layouts of that kernel
  lsmeter run --on host --dir /var/tmp --aa 5  and what this machine's noise is
  lsmeter run my.toml --output my.json
  lsmeter run suite --shard 3/16 -o shard-3.json   one of sixteen parts, for `lsmeter merge`

Stacks are written as the kernel's lsm= parameter; `default` is the
distribution's own list. Kernels are debian:SERIES, debian:VERSION, build:NAME
or the path of a bzImage, an Image, a vmlinux, a .deb or a build directory.")]
pub struct RunArgs {
    /// A preset (`lsmeter list presets`) or a TOML file
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath)]
    pub spec: String,
    /// Which cells
    #[command(flatten)]
    pub cells: CellArgs,
    /// Under which policies
    #[command(flatten)]
    pub given: GivenArgs,
    /// Which programs
    #[command(flatten)]
    pub programs: ProgramArgs,
    /// The stack that the others are compared with [default: the first]
    #[arg(long, value_name = "LSM,…", help_heading = "What is measured")]
    pub baseline: Option<String>,
    /// The kernel that the others are compared with, each configuration with the same
    /// one there [default: the first, if there is only one configuration]
    #[arg(long, value_name = "KERNEL", help_heading = "What is measured")]
    pub baseline_kernel: Option<String>,
    /// What to measure; may be given several times
    #[arg(short, long = "metric", value_name = "METRIC", value_delimiter = ',',
        value_parser = words::<Metric>(Metric::MEASURABLE), help_heading = "What is measured")]
    pub metrics: Vec<Metric>,
    /// How they are measured
    #[command(flatten)]
    pub lab: LabArgs,
    /// Where
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Visits to each timed cell, configurations taking turns
    #[arg(long, value_name = "N", help_heading = "Where and how")]
    pub rounds: Option<u32>,
    /// Seconds before a throughput is measured
    #[arg(long, value_name = "SECONDS", help_heading = "Where and how")]
    pub throughput_warmup: Option<f64>,
    /// Seconds in which a throughput is measured
    #[arg(long, value_name = "SECONDS", help_heading = "Where and how")]
    pub throughput_period: Option<f64>,
    /// Measure the kernel in this build directory, and again after each build: one line each, beside
    /// the one before, until ^C
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Where and how",
        conflicts_with_all = ["metrics", "baseline", "baseline_kernel", "rounds", "resume", "aa",
            "published", "export_published", "with_hooks", "events", "weights", "keep_samples",
            "details", "check"])]
    pub watch: Option<PathBuf>,
    /// In parts
    #[command(flatten)]
    pub parts: ShardArgs,
    /// What is printed, and where it goes; a run document is always saved
    #[command(flatten)]
    pub out: OutputArgs,
    /// Go on with a run that was interrupted [default: the newest here]
    #[arg(long, value_name = "JOURNAL", num_args = 0..=1, value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub resume: Option<Option<PathBuf>>,
    /// Run the same experiment this many times and compare the runs: what is found all the
    /// same is this machine's false alarms, which `lsmeter compare` then knows
    #[arg(long, value_name = "RUNS", num_args = 0..=1, default_missing_value = "2",
        value_parser = clap::value_parser!(u32).range(2..=50),
        help_heading = "Where and how")]
    pub aa: Option<u32>,
    /// Print published figures beside ours, where there are both (the preset paper always
    /// does)
    #[arg(long, help_heading = "Output")]
    pub published: bool,
    /// Write that comparison as CSV; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub export_published: Option<PathBuf>,
    /// Keep all calls of each operation too, and fail where hooks cannot be counted (what each hook
    /// costs is counted anyway)
    #[arg(long, help_heading = "Output")]
    pub with_hooks: bool,
    /// Count what instructions do, too, in instruction cells (--with-hooks, and atomics, cache
    /// lines, REP instructions …), and keep it in the run document
    #[arg(long, help_heading = "Output")]
    pub events: bool,
    /// Tell beside what stacks add to a count what that takes in nanoseconds, by weights that
    /// `lsmeter estimate --keep-weights` wrote (and count what instructions do, as --events does)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub weights: Option<PathBuf>,
    /// Keep every sample in the run document
    #[arg(long, help_heading = "Output")]
    pub keep_samples: bool,
    /// Show more: paths, windows and REP iterations beside the costs, hooks by what they add; of
    /// operations that are named, as --bench takes them, all calls as a tree (and count hooks, as
    /// --with-hooks does)
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, require_equals = true,
        help_heading = "Output")]
    pub details: Option<Option<Pattern>>,
    /// Exit with 1 if any cell costs more than its baseline by more than this many percent
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, default_missing_value = "0",
        value_parser = percent, help_heading = "Output")]
    pub check: Option<f64>,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

impl RunArgs {
    /// Must each hook be counted, and its calls be kept, for the document or for what is printed?
    pub fn counts_hooks(&self) -> bool {
        self.with_hooks || self.events || matches!(self.details, Some(Some(_)))
    }
}

fn percent(text: &str) -> Result<f64, String> {
    number_within(text.trim_end_matches('%').trim(), 0.0..=10_000.0)
}
