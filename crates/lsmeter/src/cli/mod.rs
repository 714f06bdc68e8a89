// SPDX-License-Identifier: GPL-2.0-or-later
//! The command line and its help.

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

/// Measure what Linux security modules cost
///
/// lsmeter boots Linux kernels under different stacks of security modules (LSMs). Under each
/// stack it counts the kernel instructions that file, process, socket and IPC operations execute.
/// It needs QEMU, but neither root nor KVM.
#[derive(Debug, Parser)]
#[command(name = "lsmeter", version, max_term_width = 100, after_help = EXIT_STATUS_HELP)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

// A variant without a doc comment uses the help of its arguments; a comment here would hide it.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Box<RunArgs>),
    Profile(Box<ProfileArgs>),
    Sensitivity(Box<SensitivityArgs>),
    Monitor(Box<MonitorArgs>),
    Compare(Box<CompareArgs>),
    Bisect(Box<BisectArgs>),
    Placement(Box<PlacementArgs>),
    Predict(Box<PredictArgs>),
    Estimate(Box<EstimateArgs>),
    Merge(MergeArgs),
    Report(ReportArgs),
    Export(ExportArgs),
    /// Fetch, build, add, list and remove kernels
    ///
    /// Kernels are stored in $XDG_CACHE_HOME/lsmeter; identical kernels share one copy. `fetch`
    /// runs apt with a private configuration and checks signatures. It does not change the system's
    /// apt configuration.
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// List benchmarks, stacks and presets
    #[command(subcommand)]
    List(ListCommand),
    Doctor(DoctorArgs),
    /// Write shell completions and manual pages
    #[command(hide = true)]
    Generate {
        /// Write lsmeter.bash, _lsmeter, lsmeter.fish, lsmeter.1, lsmeter-run.1, … into this directory
        #[arg(value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum KernelCommand {
    /// Fetch Debian's cloud kernels, such as debian:6.12 or debian:6.1.0-56
    Fetch {
        /// Fetch these kernels, by series or version
        #[arg(required = true, value_name = "debian:VERSION")]
        kernels: Vec<String>,
        /// Fetch the package index even if the cached one is fresh
        #[arg(long)]
        refresh: bool,
        /// Do not print progress
        #[arg(short, long)]
        quiet: bool,
    },
    Build(BuildArgs),
    /// Add your own kernel to the cache
    ///
    /// If a kernel is split over several packages, give those with its image and its modules.
    /// Packages of the same version in the same directory as the image's package are used even if
    /// they are not given.
    Add {
        /// Add this image, vmlinux or build directory, or these packages (.deb, .rpm)
        #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
        files: Vec<PathBuf>,
        /// Name the kernel build:NAME [default: the kernel's release]
        #[arg(long)]
        name: Option<String>,
    },
    /// List the kernels in the cache
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove kernels from the cache
    Remove {
        /// Remove these kernels, named as in `lsmeter kernel list`
        #[arg(required = true, value_name = "KERNEL")]
        kernels: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum ListCommand {
    /// List benchmarks and variants, with the system calls that they measure
    Benchmarks {
        /// List only benchmarks that match PATTERN [default: all]
        #[arg(value_name = "PATTERN", value_delimiter = ',')]
        patterns: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the stacks that presets use
    Stacks {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the presets and their purposes
    Presets {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Check what works on this machine, and print hints for the rest
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath,
        help = shared::qemu_help("Check this QEMU"))]
    pub qemu: Option<PathBuf>,
    /// Remove all cached counts instead of checking
    #[arg(long, conflicts_with_all = ["json", "qemu"])]
    pub clear_cache: bool,
}
