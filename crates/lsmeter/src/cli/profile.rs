// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter profile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use model::Metric;

use super::output::OutputArgs;
use super::shared::{CellArgs, LabArgs, ProgramArgs, ProgressArgs, words};

/// Tables of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// For each operation, the hooks that it calls and their modules
    Operation,
    /// For each kernel and stack, the hooks of all operations together
    Hooks,
    /// One line for each operation
    Summary,
    /// Hooks that no operation calls, and called hooks with their operations
    Coverage,
}

/// Count the cost of each LSM hook that an operation calls
///
/// lsmeter boots unmodified kernels, as `lsmeter run` does, and follows every function call of an
/// operation. It prints how often the operation calls each LSM hook, and how many instructions the
/// framework and each module execute in the hook. With --baseline, it compares two stacks and
/// prints how much of the difference is outside all hooks. If that part is 0, hooks account for the
/// whole difference.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter profile --bench open:AA --stack capability,selinux
  lsmeter profile --bench open:AA --stack capability,selinux --baseline capability
  lsmeter profile suite --kernel debian:6.1 --baseline capability --check
  lsmeter profile --bench '*' --kernel debian:6.1 --kernel debian:6.12 --view hooks
  lsmeter profile --bench rename:depth1 --stack capability,apparmor --trace
  lsmeter profile --bench creat --stack capability,selinux --callgrind callgrind.out

Counts are guest kernel instructions, or transfers, per operation, on its dominant path: the code
path that most executions take. Inclusive counts include called functions; exclusive counts do not.
Dispatch is the cost of a hook without the modules' functions.")]
pub struct ProfileArgs {
    /// Run this preset (`lsmeter list presets`) or experiment file
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath)]
    pub spec: String,
    /// Compare each stack with this one [default: no comparison]
    #[arg(
        long,
        value_name = "LSM,…",
        help_heading = "What is measured",
        display_order = 90
    )]
    pub baseline: Option<String>,
    /// Attribute instructions, transfers, transfers_siblings or transfers_apart to hooks
    #[arg(short, long, value_name = "METRIC", default_value = "instructions",
        value_parser = words::<Metric>(&[
            Metric::Instructions, Metric::Transfers, Metric::TransfersSiblings,
            Metric::TransfersApart,
        ]),
        hide_possible_values = true, help_heading = "What is measured", display_order = 90)]
    pub metric: Metric,
    /// Count events too: atomics, indirect branches, cache lines, REP bytes …
    #[arg(long, help_heading = "What is measured", display_order = 90)]
    pub events: bool,
    /// Exit 1 if hooks do not explain a difference
    #[arg(
        long,
        requires = "baseline",
        help_heading = "What is measured",
        display_order = 90
    )]
    pub check: bool,
    #[command(flatten)]
    pub programs: ProgramArgs,
    #[command(flatten)]
    pub lab: LabArgs,
    /// Read hook names from this lsm_hook_defs.h [default: the kernel's BTF]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Where and how")]
    pub hook_definitions: Option<PathBuf>,
    /// Print these tables [default: operation for up to 4 operations, else summary]
    #[arg(long, value_name = "VIEW", help_heading = "Output")]
    pub view: Option<View>,
    /// Print the hooks of each operation in call order, with callers
    #[arg(long, help_heading = "Output")]
    pub trace: bool,
    #[command(flatten)]
    pub out: OutputArgs,
    /// Write calls for KCachegrind and callgrind_annotate; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub callgrind: Option<PathBuf>,
    /// Write folded stacks for flame graphs; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub folded: Option<PathBuf>,
    #[command(flatten)]
    pub progress: ProgressArgs,
    #[command(flatten)]
    pub cells: CellArgs,
}
