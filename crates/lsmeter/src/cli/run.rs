// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter run`.

use clap::{Args, ValueHint};
use model::{Metric, Pattern, Shard};

use super::output::OutputArgs;
use super::shared::{CellArgs, LabArgs, PlaceArgs, ProgramArgs, ProgressArgs, words};

/// Measure what LSM stacks cost
///
/// lsmeter boots each kernel under each stack and runs the benchmarks. It prints what every stack
/// adds to the baseline, and saves a result file (JSON). Without arguments it runs the preset
/// `quick`: Debian's 6.12 kernel, one variant of each benchmark, instruction counts.
///
/// Counts are cached: after an interruption, run the same command again to continue.
#[derive(Debug, Args)]
#[command(mut_arg("output", |output| output.help("Save the result file; - is standard \
            output [default: lsmeter-NAME-TIME.json]")),
    after_long_help = "\
Examples:
  lsmeter run                                  the preset quick
  lsmeter run suite --kernel debian:6.1        all variants, on another kernel
  lsmeter run --kernel a/bzImage --kernel b/bzImage --stack capability,selinux --fail-above 1%
                                               a patch: exit 1 if it costs more than 1 %
  lsmeter run --stack capability,apparmor --policy none --policy enforcing
  lsmeter run --policy-file web.toml           a custom policy
  lsmeter run --stack capability --stack capability,landlock --fs tmpfs
  lsmeter run --on host --dir /var/tmp         time, on the running kernel
  lsmeter run --on um --kernel build:um        time, in a UML kernel
  lsmeter run suite --on um --fs tmpfs --kernel 'build:um.*'
                                               time, over all layouts of that kernel
  lsmeter run --on host --dir /var/tmp --aa=5  the noise of this machine
  lsmeter run my.toml --output my.json
  lsmeter run suite --shard 3/16 -o shard-3.json   one of sixteen shards, for `lsmeter merge`

Write stacks as in the kernel's lsm= parameter; `default` is the distribution's list. A kernel is
debian:SERIES, debian:VERSION, build:NAME, or the path of a bzImage, an Image, a vmlinux, a .deb,
an .rpm or a build directory. A preset or experiment file may change any default above;
flags override both.

--on host (the running kernel) and --on um (a User-mode Linux kernel, UML) measure time by default.
--set also takes keys that have no flag, such as warmup (default 64 operations) and rounds (default
3 for times, 1 for counts and on the host).")]
pub struct RunArgs {
    /// Run this preset (`lsmeter list presets`) or experiment file
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath)]
    pub spec: String,
    /// Compare stacks with this one [default: the first]
    #[arg(
        long,
        value_name = "LSM,…",
        help_heading = "What is measured",
        display_order = 90
    )]
    pub baseline: Option<String>,
    /// Compare kernels with this one [default: first, if only one stack]
    #[arg(
        long,
        value_name = "KERNEL",
        help_heading = "What is measured",
        display_order = 90
    )]
    pub baseline_kernel: Option<String>,
    /// Measure instructions, time, throughput, memory, transfers [default: instructions]
    #[arg(short, long = "metric", value_name = "METRIC,…", value_delimiter = ',',
        value_parser = words::<Metric>(Metric::MEASURABLE), hide_possible_values = true,
        help_heading = "What is measured", display_order = 90)]
    pub metrics: Vec<Metric>,
    #[command(flatten)]
    pub programs: ProgramArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub lab: LabArgs,
    /// Print planned measurements, boots and time; measure nothing
    #[arg(long, help_heading = "Where and how", conflicts_with_all = ["output", "json"])]
    pub dry_run: bool,
    /// Run N times to find false alarms [default: 1; --aa without N: 6]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "6", value_parser = clap::value_parser!(u32).range(2..=50),
        help_heading = "Where and how")]
    pub aa: Option<u32>,
    /// Measure shard I of N, such as 3/16
    #[arg(long, value_name = "I/N", conflicts_with_all = ["aa", "fail_above"],
        help_heading = "Where and how")]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub out: OutputArgs,
    #[command(flatten)]
    pub progress: ProgressArgs,
    /// Save each operation's function calls; fail if hooks cannot be counted
    #[arg(long, help_heading = "Output")]
    pub with_hooks: bool,
    /// Count events too: atomics, cache lines, REP bytes …
    #[arg(long, help_heading = "Output")]
    pub events: bool,
    /// Save every sample in the result file
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub keep_samples: bool,
    /// Print more tables; with PATTERN, matching operations' calls as trees
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, require_equals = true,
        help_heading = "Output")]
    pub details: Option<Option<Pattern>>,
    /// Exit 1 if a cost rises by more than LIMIT, e.g. 1%, '20 instructions'
    #[arg(long, value_name = "LIMIT", help_heading = "Output")]
    pub fail_above: Option<String>,
    #[command(flatten)]
    pub cells: CellArgs,
}

impl RunArgs {
    /// Whether the result file or the tables need the counts of every hook, and its calls.
    pub fn counts_hooks(&self) -> bool {
        self.with_hooks || self.events || matches!(self.details, Some(Some(_)))
    }
}
