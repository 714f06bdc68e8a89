// SPDX-License-Identifier: GPL-2.0-or-later
//! The command line: what can be said, and the help that teaches it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use model::EXIT_STATUS_HELP;

mod bisect;
mod build;
mod compare;
mod counted;
mod estimate;
mod export;
mod merge;
mod monitor;
mod output;
mod placement;
mod predict;
mod profile;
mod report;
mod run;
mod sensitivity;
mod shard;
mod shared;

pub use bisect::BisectArgs;
pub use build::BuildArgs;
pub use compare::{CompareArgs, CompareFormat};
pub use counted::CountedArgs;
pub use estimate::EstimateArgs;
pub use export::ExportArgs;
pub use merge::MergeArgs;
pub use monitor::MonitorArgs;
pub use output::{Common, Format, OutputArgs};
pub use placement::{ChecksArgs, DiffArgs, PlacementArgs, PlacementCommand, ScopeArgs, TreeArgs};
pub use predict::PredictArgs;
pub use profile::{ProfileArgs, View};
pub use report::{ReportArgs, ReportFormat};
pub use run::RunArgs;
pub use sensitivity::SensitivityArgs;
pub use shared::{CellArgs, LabArgs, PlaceArgs, ProgramArgs, SelectionArgs};

/// What does this security module cost?
///
/// lsmeter boots Linux kernels with different stacks of security modules (LSMs) and
/// counts, exactly, the kernel instructions that each file operation takes in each.
/// It needs QEMU, but neither root nor KVM.
#[derive(Debug, Parser)]
#[command(name = "lsmeter", version, max_term_width = 100, after_help = EXIT_STATUS_HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure what LSM stacks cost: the main job
    Run(Box<RunArgs>),
    /// Count what each LSM hook of an operation costs
    Profile(Box<ProfileArgs>),
    /// Count permission checks per operation, by delaying decisions
    Sensitivity(Box<SensitivityArgs>),
    /// Watch the LSM hooks of a live machine: calls, times, errors
    Monitor(Box<MonitorArgs>),
    /// Compare two result files: what changed, and is it real; a gate for CI
    Compare(Box<CompareArgs>),
    /// Find the commit that changed a count, in a kernel's git history
    Bisect(Box<BisectArgs>),
    /// List the LSM hooks that each system call can reach, from kernel sources
    Placement(Box<PlacementArgs>),
    /// Predict another stack's cost from recorded hook calls
    Predict(Box<PredictArgs>),
    /// Estimate the nanoseconds of counted operations on a processor
    Estimate(Box<EstimateArgs>),
    /// Merge the parts of a run
    Merge(MergeArgs),
    /// Make a page of result files: findings, figures, tables, method
    Report(ReportArgs),
    /// Write result files as CSV
    Export(ExportArgs),
    /// Fetch, build, add, list and remove kernels
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// List benchmarks, stacks and presets
    #[command(subcommand)]
    List(ListCommand),
    /// Check what works on this machine, and how to get the rest
    Doctor(DoctorArgs),
    /// Write completions of shells and the manual pages into a directory
    #[command(hide = true)]
    Generate {
        /// Where to: lsmeter.bash, _lsmeter, lsmeter.fish, lsmeter.1, lsmeter-run.1, …
        #[arg(value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
}

/// Fetch, build, add, list and remove kernels
///
/// Kernels are kept by their content under $XDG_CACHE_HOME/lsmeter. Fetching uses a
/// private apt configuration with signatures checked; the system's apt is not touched.
#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Fetch stock cloud kernels of Debian: debian:6.12, debian:6.1.0-56
    Fetch {
        /// Which
        #[arg(required = true, value_name = "debian:VERSION")]
        kernels: Vec<String>,
        /// Fetch the package index even if it is fresh
        #[arg(long)]
        refresh: bool,
        /// No progress
        #[arg(short, long)]
        quiet: bool,
    },
    // Its help is that of its arguments.
    Build(BuildArgs),
    /// Keep a kernel of your own: a bzImage, an Image, a vmlinux, a .deb or a build directory
    Add {
        /// Where it is
        #[arg(value_hint = ValueHint::AnyPath)]
        path: PathBuf,
        /// What to call it: build:NAME [default: its release]
        #[arg(long)]
        name: Option<String>,
    },
    /// List the kernels that are here
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove kernels
    Remove {
        /// As `lsmeter kernel list` names them
        #[arg(required = true, value_name = "KERNEL")]
        kernels: Vec<String>,
    },
}

/// List benchmarks, stacks and presets
#[derive(Debug, Subcommand)]
pub enum ListCommand {
    /// Benchmarks and their variants, with the system calls that are measured
    Benchmarks {
        /// Only these
        #[arg(value_name = "PATTERN", value_delimiter = ',')]
        patterns: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Stacks that presets use, and what this machine's kernels offer
    Stacks {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Presets of `lsmeter run`
    Presets {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Check what works on this machine, and how to get the rest
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath,
        help = shared::qemu_help("QEMU to look at"))]
    pub qemu: Option<PathBuf>,
    /// Remove all cached counts, and look at nothing
    #[arg(long, conflicts_with_all = ["json", "qemu"])]
    pub clear_cache: bool,
}
