// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter sensitivity`.

use clap::Args;
use model::DelayModule;

use super::output::OutputArgs;
use super::shared::{LabArgs, PlaceArgs, ProgressArgs, SelectionArgs, number_within, words};

/// Count permission checks per operation, by delaying decisions
///
/// Delays the decisions at LSM hooks step by step and fits a line to the operation's cost. If each
/// decision takes 10 µs longer and the operation 20 µs, it makes two checks. The hooks that the
/// operation calls without delay are counted for comparison.
///
/// Kernels from `lsmeter kernel build` contain the Tunable Security Module for this; stock kernels
/// from 5.17 on use BPF LSM programs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter sensitivity --bench open --bench stat
  lsmeter sensitivity --kernel build:6.12-all --kernel debian:7.2
  lsmeter sensitivity --bench 'open:*' --hooks inode_permission,file_open
  lsmeter sensitivity --bench 'rename:*' --delays 0..50us/5us --by-hook
  lsmeter sensitivity --bench 'stat:*' --cold
  lsmeter sensitivity --kernel build:6.12-all --predict selinux,apparmor
  lsmeter sensitivity --predict 400
  lsmeter sensitivity --on host --dir /var/tmp -b 'stat:*' --hooks inode_permission

By default it is debian:6.12 with every benchmark of file system calls but
treewalk:full*, which asks too often. On the host, BPF programs delay lsmeter's own
processes only, as root, and slopes are in time.

Delays are in ns, or with us behind the number, up to 900us. Under the
deterministic clock an instruction takes a nanosecond, a wait is exactly so many, and
slopes are exact to 0.0001 (fork and execve, which take many paths, to 0.01).")]
#[command(next_help_heading = "What is measured")]
pub struct SensitivityArgs {
    /// Kernels and benchmarks
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// What delays decisions [default: tunable where the kernel has it, else bpf]
    #[arg(long, value_name = "MODULE", value_parser = words::<DelayModule>(DelayModule::ALL))]
    pub module: Option<DelayModule>,
    /// Stack of LSMs; the module that delays comes last
    #[arg(short, long, value_name = "LSM,…", default_value = "capability")]
    pub stack: String,
    /// Delays: FROM..TO/STEP, or a list
    #[arg(long, value_name = "DELAYS", default_value = "0..110us/10us")]
    pub delays: String,
    /// Hooks to delay together, or all
    #[arg(
        long,
        value_name = "HOOK,…",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub hooks: Vec<String>,
    /// Also with cold caches: dentries and inodes are dropped before each operation
    #[arg(long)]
    pub cold: bool,
    /// Predict each operation's overhead under decisions of so many instructions, or under these
    /// modules, next to their real cost
    #[arg(long, value_name = "N|LSM,…")]
    pub predict: Option<String>,
    /// How it is measured
    #[command(flatten)]
    pub lab: LabArgs,
    /// Where
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Exit with 1 if checks per operation differ from their count by more than this, such as 0.05
    #[arg(long, value_name = "CHECKS",
        value_parser = |text: &str| number_within(text, 0.0..=1_000.0), help_heading = "Output")]
    pub fail_above: Option<f64>,
    /// Show checks by hook [default: for up to four operations]
    #[arg(long, help_heading = "Output")]
    pub by_hook: bool,
    /// Output
    #[command(flatten)]
    pub out: OutputArgs,
    /// Progress
    #[command(flatten)]
    pub progress: ProgressArgs,
}
