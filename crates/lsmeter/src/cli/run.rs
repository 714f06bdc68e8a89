// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter run`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use model::{Metric, Pattern};

use super::output::OutputArgs;
use super::shard::ShardArgs;
use super::shared::{CellArgs, LabArgs, PlaceArgs, ProgramArgs, ProgressArgs, words};

/// Measure what LSM stacks cost
///
/// Boots each kernel under each stack, runs the benchmarks in it, prints the cost of every stack
/// against the baseline, and saves a result file (JSON). Without arguments it runs the preset
/// `quick`: Debian's 6.12 kernel under five stacks, one variant of each benchmark, exact
/// instruction counts.
///
/// Counts are cached and never made twice: after an interruption, the same command goes on.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter run                                  the preset quick
  lsmeter run suite --kernel debian:6.1        all variants, on another kernel
  lsmeter run --kernel a/bzImage --kernel b/bzImage --stack capability,selinux --fail-above 1%
                                               a patch, before and after: exit 1 if it costs
                                               more than 1 %
  lsmeter run --stack capability,apparmor --policy none --policy enforcing
  lsmeter run --policy-file web.toml           under your own policy
  lsmeter run --stack capability --stack capability,landlock --fs tmpfs
  lsmeter run --on host --dir /var/tmp         time on this machine's own kernel
  lsmeter run --on um --kernel build:um        time of a kernel's own paths, in a process
  lsmeter run suite --on um --fs tmpfs --kernel 'build:um.*'
                                               over all layouts of that kernel
  lsmeter run --on host --dir /var/tmp --aa=5  and what this machine's noise is
  lsmeter run my.toml --output my.json
  lsmeter run suite --shard 3/16 -o shard-3.json   one of sixteen parts, for `lsmeter merge`

Stacks are written as the kernel's lsm= parameter; `default` is the
distribution's own list. Kernels are debian:SERIES, debian:VERSION, build:NAME
or the path of a bzImage, an Image, a vmlinux, a .deb or a build directory.")]
pub struct RunArgs {
    /// Preset (`lsmeter list presets`) or experiment file
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath)]
    pub spec: String,
    /// Compare with this stack [default: the first]
    #[arg(
        long,
        value_name = "LSM,…",
        help_heading = "What is measured",
        display_order = 90
    )]
    pub baseline: Option<String>,
    /// Compare with this kernel [default: the first, of one stack]
    #[arg(
        long,
        value_name = "KERNEL",
        help_heading = "What is measured",
        display_order = 90
    )]
    pub baseline_kernel: Option<String>,
    /// instructions, time, throughput, memory [default: instructions]
    #[arg(short, long = "metric", value_name = "METRIC,…", value_delimiter = ',',
        value_parser = words::<Metric>(Metric::MEASURABLE), hide_possible_values = true,
        help_heading = "What is measured", display_order = 90)]
    pub metrics: Vec<Metric>,
    /// Which programs
    #[command(flatten)]
    pub programs: ProgramArgs,
    /// Where
    #[command(flatten)]
    pub place: PlaceArgs,
    /// How they are measured
    #[command(flatten)]
    pub lab: LabArgs,
    /// Print the measurements, boots and rough time, and measure nothing
    #[arg(long, help_heading = "Where and how", conflicts_with_all = ["watch", "output", "json"])]
    pub dry_run: bool,
    /// Measure after each build of the kernel in this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Where and how",
        conflicts_with_all = ["metrics", "baseline", "baseline_kernel", "aa",
            "with_hooks", "events", "keep_samples", "details", "fail_above"])]
    pub watch: Option<PathBuf>,
    /// Run N times (counts: in N machines) to find false alarms [default: 1, without N 2]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "2", value_parser = clap::value_parser!(u32).range(2..=50),
        help_heading = "Where and how")]
    pub aa: Option<u32>,
    /// In parts
    #[command(flatten)]
    pub parts: ShardArgs,
    /// What is printed, and where it goes; a run document is always saved
    #[command(flatten)]
    pub out: OutputArgs,
    /// How it goes on
    #[command(flatten)]
    pub progress: ProgressArgs,
    /// Keep all calls; fail where hooks cannot be counted
    #[arg(long, help_heading = "Output")]
    pub with_hooks: bool,
    /// Also count events: atomics, cache lines, REP bytes …
    #[arg(long, help_heading = "Output")]
    pub events: bool,
    /// Keep every sample in the result file
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub keep_samples: bool,
    /// Show more tables; with a pattern, all calls as a tree
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, require_equals = true,
        help_heading = "Output")]
    pub details: Option<Option<Pattern>>,
    /// Exit with 1 if one is worse by more: 1%, '20 instructions'
    #[arg(long, value_name = "LIMIT", help_heading = "Output")]
    pub fail_above: Option<String>,
    /// Which cells
    #[command(flatten)]
    pub cells: CellArgs,
}

impl RunArgs {
    /// Must each hook be counted, and its calls be kept, for the document or for what is printed?
    pub fn counts_hooks(&self) -> bool {
        self.with_hooks || self.events || matches!(self.details, Some(Some(_)))
    }
}
