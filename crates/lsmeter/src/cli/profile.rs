// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter profile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::output::OutputArgs;
use super::shared::{CellArgs, LabArgs, ProgramArgs, ProgressArgs};

/// Which tables show a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// For each operation, every hook that it calls, and the modules in it
    Operation,
    /// For each kernel and stack, every hook over all operations
    Hooks,
    /// One line for each operation
    Summary,
    /// The kernel's hooks that no operation calls, and those that are called, with the operations
    Coverage,
}

/// Count what each LSM hook of an operation costs
///
/// Boots unmodified kernels like `lsmeter run`, and follows every call of an operation: how often
/// it calls each LSM hook, the instructions of the framework there (placement), and those of each
/// module. With --baseline it compares two stacks, and shows what differs outside all hooks: 0 proves
/// that the hooks account for everything.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter profile --bench open:AA --stack capability,selinux
  lsmeter profile --bench open:AA --stack capability,selinux --baseline capability
  lsmeter profile suite --kernel debian:6.1 --baseline capability --check
  lsmeter profile --bench '*' --kernel debian:6.1 --kernel debian:6.12 --view hooks
  lsmeter profile --bench rename:depth1 --stack capability,apparmor --trace
  lsmeter profile --bench creat --stack capability,selinux --callgrind callgrind.out

Counts are guest kernel instructions per operation, on the path that most of its
executions took. Inclusive counts hold what a function called, exclusive ones do not;
dispatch is what a hook costs without the modules' functions.")]
pub struct ProfileArgs {
    /// A preset (`lsmeter list presets`) or a TOML file
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath)]
    pub spec: String,
    /// Compare each stack with this one
    #[arg(
        long,
        value_name = "LSM,…",
        help_heading = "What is measured",
        display_order = 90
    )]
    pub baseline: Option<String>,
    /// Also count events that take time: atomics, indirect branches, cache lines, bytes of REP
    /// instructions …
    #[arg(long, help_heading = "What is measured", display_order = 90)]
    pub events: bool,
    /// Fail (exit status 1) if a comparison leaves an unexplained residual
    #[arg(
        long,
        requires = "baseline",
        help_heading = "What is measured",
        display_order = 90
    )]
    pub check: bool,
    /// Which programs
    #[command(flatten)]
    pub programs: ProgramArgs,
    /// How they are measured
    #[command(flatten)]
    pub lab: LabArgs,
    /// List the hooks by a kernel tree's include/linux/lsm_hook_defs.h, not by the
    /// kernel's BTF
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Where and how")]
    pub hook_definitions: Option<PathBuf>,
    /// Which tables to print [default: operation for up to three operations, else summary]
    #[arg(long, value_name = "VIEW", help_heading = "Output")]
    pub view: Option<View>,
    /// Print the hooks of each operation in the order of their calls, with their callers
    #[arg(long, help_heading = "Output")]
    pub trace: bool,
    /// Output
    #[command(flatten)]
    pub out: OutputArgs,
    /// Write all calls for KCachegrind and callgrind_annotate; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub callgrind: Option<PathBuf>,
    /// Write all calls as folded stacks, for flame graphs; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub folded: Option<PathBuf>,
    /// Progress
    #[command(flatten)]
    pub progress: ProgressArgs,
    /// Which cells
    #[command(flatten)]
    pub cells: CellArgs,
}
