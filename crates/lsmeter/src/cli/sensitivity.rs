// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter sensitivity`.

use clap::Args;
use model::DelayModule;

use super::output::OutputArgs;
use super::shared::{LabArgs, PlaceArgs, ProgressArgs, SelectionArgs, number_within, words};

/// Count permission checks per operation, by delaying decisions
///
/// lsmeter delays the decisions of LSM hooks in steps, and fits a line to the cost of each
/// operation. If an operation takes 20 µs longer when each decision takes 10 µs longer, it makes
/// two checks. For comparison, its hook calls are also counted without delays.
///
/// Kernels from `lsmeter kernel build` contain the Tunable Security Module, which delays decisions.
/// On Debian's kernels from 5.17 on, BPF LSM programs delay them.
#[derive(Debug, Args)]
#[command(mut_arg("benchmarks", |bench| bench.help("Select benchmarks, e.g. 'open:*', '!stat' \
            [default: file system calls except treewalk:full*]")),
    mut_arg("suites", |suite| {
        suite.help("Use these suites [default: the file system suites; with --bench, all]")
    }),
    mut_arg("select", |select| select.help("Variants to run: first, all [default: all]")),
    mut_arg("filesystem", |fs| fs.help("Use ext4, tmpfs, xfs, btrfs or overlay [default: tmpfs; ext4 with \
            --cold]")),
    mut_arg("samples", |samples| samples.help("Take N samples [default: 16; on the host 15]")),
    mut_arg("place", |place| place.help("Measure on: lab (virtual machines) or host \
            [default: lab]")),
    after_long_help = "\
Examples:
  lsmeter sensitivity --bench open --bench stat
  lsmeter sensitivity --kernel build:6.12-all --kernel debian:7.2
  lsmeter sensitivity --bench 'open:*' --hooks inode_permission,file_open
  lsmeter sensitivity --bench 'rename:*' --delays 0..50us/5us --by-hook
  lsmeter sensitivity --bench 'stat:*' --cold
  lsmeter sensitivity --kernel build:6.12-all --predict selinux,apparmor
  lsmeter sensitivity --predict 400
  lsmeter sensitivity --on host --dir /var/tmp -b 'stat:*' --hooks inode_permission

Without --bench, treewalk:full* is left out because it makes too many checks. With --on
host, all variants of treewalk are left out, and BPF programs delay only lsmeter's own processes.
--on host needs root, and measures time.

Delays are in ns, or in µs with the suffix us, up to 900us. In virtual machines an instruction
takes one nanosecond, so that delays are exact. Checks per operation are accurate to within
0.0001; for fork and execve, which take many code paths, to within 0.01.")]
#[command(next_help_heading = "What is measured")]
pub struct SensitivityArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Delay decisions with this module [default: tunable if the kernel has it, else bpf]
    #[arg(long, value_name = "MODULE", value_parser = words::<DelayModule>(DelayModule::ALL))]
    pub module: Option<DelayModule>,
    /// Boot with this stack, followed by the delaying module
    #[arg(short, long, value_name = "LSM,…", default_value = "capability")]
    pub stack: String,
    /// Delay decisions by FROM..TO/STEP, or by a list of delays
    #[arg(long, value_name = "DELAYS", default_value = "0..110us/10us")]
    pub delays: String,
    /// Delay these hooks together; all selects every hook
    #[arg(
        long,
        value_name = "HOOK,…",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub hooks: Vec<String>,
    /// Also measure with dentries and inodes dropped before each operation
    #[arg(long)]
    pub cold: bool,
    /// Predict overheads for decisions of N instructions, or for these modules
    #[arg(long, value_name = "N|LSM,…")]
    pub predict: Option<String>,
    #[command(flatten)]
    pub lab: LabArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Exit 1 if checks differ from counted calls by more than CHECKS, e.g. 0.05
    #[arg(long, value_name = "CHECKS",
        value_parser = |text: &str| number_within(text, 0.0..=1_000.0), help_heading = "Output")]
    pub fail_above: Option<f64>,
    /// Print checks by hook [default: for up to 4 operations]
    #[arg(long, help_heading = "Output")]
    pub by_hook: bool,
    #[command(flatten)]
    pub out: OutputArgs,
    #[command(flatten)]
    pub progress: ProgressArgs,
}
