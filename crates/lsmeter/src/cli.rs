// SPDX-License-Identifier: GPL-2.0-or-later
//! The command line: what can be said, and the help that teaches it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use experiment::{Clock, FileSystem, Metric, Place, Select, Suite};

use crate::exit;

/// What does this security module cost?
///
/// lsmeter boots Linux kernels with different stacks of security modules (LSMs) and
/// counts, exactly, the kernel instructions that each file operation takes in each.
/// It needs QEMU, but neither root nor KVM.
#[derive(Debug, Parser)]
#[command(name = "lsmeter", version, max_term_width = 100, after_help = exit::HELP)]
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
    /// Fetch, add, list and remove kernels
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// List what can be measured, and in what
    #[command(subcommand)]
    List(ListCommand),
    /// Tell what works on this machine, and how to get the rest
    Doctor(DoctorArgs),
    /// Print a shell's completions
    #[command(after_help = "Example: lsmeter completions bash > \
        ~/.local/share/bash-completion/completions/lsmeter")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a directory
    Man {
        /// Where to: lsmeter.1, lsmeter-run.1, …
        #[arg(value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
}

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
  lsmeter run --kernel a/bzImage --kernel b/bzImage --bench open --bench 'read:*KB'
  lsmeter run --stack capability --stack capability,landlock --fs tmpfs
  lsmeter run --on host --dir /var/tmp         time on this machine's own kernel
  lsmeter run my.toml --output my.json

Stacks are written as the kernel's lsm= parameter; `default` is the
distribution's own list. Kernels are debian:SERIES, debian:VERSION, build:NAME
or the path of a bzImage, a vmlinux, a .deb or a build directory.")]
pub struct RunArgs {
    /// A preset (`lsmeter list presets`) or a TOML file
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath)]
    pub spec: String,
    /// Kernel to boot; may be given several times
    #[arg(
        short,
        long = "kernel",
        value_name = "KERNEL",
        help_heading = "What is measured"
    )]
    pub kernels: Vec<String>,
    /// Stack of LSMs, as lsm= takes it; may be given several times
    #[arg(
        short,
        long = "stack",
        value_name = "LSM,…",
        help_heading = "What is measured"
    )]
    pub stacks: Vec<String>,
    /// The stack that the others are compared with [default: the first]
    #[arg(long, value_name = "LSM,…", help_heading = "What is measured")]
    pub baseline: Option<String>,
    /// Benchmark, or benchmark:variant, with * and ?; `!` excludes
    #[arg(
        short,
        long = "bench",
        value_name = "PATTERN",
        help_heading = "What is measured"
    )]
    pub benchmarks: Vec<String>,
    /// Suite to choose benchmarks from
    #[arg(long = "suite", value_name = "SUITE", value_parser = words::<Suite>(Suite::ALL),
        help_heading = "What is measured")]
    pub suites: Vec<Suite>,
    /// The first variant of each benchmark, or all
    #[arg(long, value_name = "WHICH", value_parser = words::<Select>(Select::ALL),
        help_heading = "What is measured")]
    pub variants: Option<Select>,
    /// What to measure; may be given several times
    #[arg(short, long = "metric", value_name = "METRIC", value_parser = words::<Metric>(Metric::ALL),
        help_heading = "What is measured")]
    pub metrics: Vec<Metric>,
    /// File system to work on
    #[arg(long, value_name = "FS", value_parser = words::<FileSystem>(FileSystem::ALL),
        help_heading = "Where and how")]
    pub fs: Option<FileSystem>,
    /// Virtual machines, or this machine's running kernel
    #[arg(long = "on", value_name = "WHERE", value_parser = words::<Place>(Place::ALL),
        help_heading = "Where and how")]
    pub place: Option<Place>,
    /// Directory to work in with --on host
    #[arg(long, value_hint = ValueHint::DirPath, help_heading = "Where and how")]
    pub dir: Option<PathBuf>,
    /// The guest's clock: its own instructions, or the host's time
    #[arg(long, value_name = "CLOCK", value_parser = words::<Clock>(Clock::ALL),
        help_heading = "Where and how")]
    pub clock: Option<Clock>,
    /// Kernel command line to append, such as mitigations=off
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "Where and how"
    )]
    pub cmdline: Option<String>,
    /// Samples of each cell: counted operations, timed batches, or slices
    #[arg(short = 'n', long, value_name = "N", help_heading = "Where and how")]
    pub samples: Option<u32>,
    /// Operations before the first sample
    #[arg(long, value_name = "N", help_heading = "Where and how")]
    pub warmup: Option<u32>,
    /// Visits to each timed cell, configurations taking turns
    #[arg(long, value_name = "N", help_heading = "Where and how")]
    pub rounds: Option<u32>,
    /// Seconds before a throughput is measured
    #[arg(long, value_name = "SECONDS", help_heading = "Where and how")]
    pub throughput_warmup: Option<f64>,
    /// Seconds in which a throughput is measured
    #[arg(long, value_name = "SECONDS", help_heading = "Where and how")]
    pub throughput_period: Option<f64>,
    /// Virtual machines at a time [default: one per processor]
    #[arg(short, long, value_name = "N", help_heading = "Where and how")]
    pub jobs: Option<u32>,
    /// Seconds until a boot is given up
    #[arg(long, value_name = "SECONDS", help_heading = "Where and how")]
    pub boot_timeout: Option<u32>,
    /// Seconds until a cell is given up
    #[arg(long, value_name = "SECONDS", help_heading = "Where and how")]
    pub cell_timeout: Option<u32>,
    /// QEMU to use [default: qemu-system-x86_64 in PATH]
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath,
        help_heading = "Where and how")]
    pub qemu: Option<PathBuf>,
    /// Do not fetch kernels that are not in the cache
    #[arg(long, help_heading = "Where and how")]
    pub offline: bool,
    /// Where to save the run document; - is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Go on with a run that was interrupted [default: the newest here]
    #[arg(long, value_name = "JOURNAL", num_args = 0..=1, value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub resume: Option<Option<PathBuf>>,
    /// Print the run document instead of the table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write all cells as CSV; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub export_csv: Option<PathBuf>,
    /// Write the table as Markdown; - is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub export_markdown: Option<PathBuf>,
    /// Keep every sample in the run document
    #[arg(long, help_heading = "Output")]
    pub keep_samples: bool,
    /// Show paths, windows and REP iterations beside the costs
    #[arg(long, help_heading = "Output")]
    pub details: bool,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Fetch, add, list and remove kernels
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
    /// Keep a kernel of your own: a bzImage, a vmlinux, a .deb or a build directory
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

/// List what can be measured, and in what
#[derive(Debug, Subcommand)]
pub enum ListCommand {
    /// Benchmarks and their variants, with the system calls that are measured
    Benchmarks {
        /// Only these
        #[arg(value_name = "PATTERN")]
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

/// Tell what works on this machine, and how to get the rest
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// QEMU to look at [default: qemu-system-x86_64 in PATH]
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath)]
    pub qemu: Option<PathBuf>,
}

/// A parser for one of experiment's word lists: clap then lists them in the help.
fn words<W>(all: &'static [W]) -> impl clap::builder::TypedValueParser<Value = W>
where
    W: Copy + std::fmt::Display + std::str::FromStr + Send + Sync + 'static,
    W::Err: std::error::Error + Send + Sync + 'static,
{
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(all.iter().map(ToString::to_string))
        .try_map(|word| word.parse::<W>())
}
