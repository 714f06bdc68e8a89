// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter history`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use experiment::Metric;

use super::output::OutputArgs;
use super::shared::words;

/// Keep run documents, and tell where their figures change over time
///
/// A history is a directory of run documents, as `lsmeter run --output` writes them, with an
/// index beside them that is made anew whenever it is missing. Exact counts change wherever
/// they differ; in times a test looks for changes of level.
#[derive(Debug, Subcommand)]
#[command(after_long_help = "\
Examples:
  lsmeter run suite --kernel ~/linux --output run.json
  lsmeter history add --label \"$(git -C ~/linux describe)\" run.json
  lsmeter history show                              where figures changed
  lsmeter history show --bench 'open*' --all --format csv > open.csv
  lsmeter history plot --metric instructions -o history.svg
  lsmeter history site --across-kernels --dir releases -o public")]
pub enum HistoryCommand {
    /// Add run documents
    Add(HistoryAddArgs),
    /// Show where figures changed
    Show(HistoryShowArgs),
    /// Draw figures over time, with their changes
    Plot(HistoryPlotArgs),
    /// Make a site of all documents in the history's directory
    Site(HistorySiteArgs),
}

/// Where a history is.
#[derive(Debug, Args)]
pub struct HistoryPlace {
    /// The history's directory [default: $XDG_DATA_HOME/lsmeter/history]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = None::<&str>)]
    pub dir: Option<PathBuf>,
}

/// Add run documents
///
/// Each is copied into the history's directory, byte for byte. What is there already is not
/// added again.
#[derive(Debug, Args)]
pub struct HistoryAddArgs {
    /// Documents that `lsmeter run --output` wrote
    #[arg(required = true, value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub runs: Vec<PathBuf>,
    /// What they are called in tables: a version, a commit [default: when they began]
    #[arg(short, long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Where
    #[command(flatten)]
    pub place: HistoryPlace,
}

/// Show where figures changed
///
/// Each cell is a series over the runs in the order in which they began: the same kernel,
/// configuration, file system, operation and metric, on the same kind of machine.
#[derive(Debug, Args)]
pub struct HistoryShowArgs {
    /// Which series
    #[command(flatten)]
    pub series: HistorySelectArgs,
    /// Also series without a change
    #[arg(short, long, help_heading = "Output")]
    pub all: bool,
    /// What is printed, and where it goes
    #[command(flatten)]
    pub out: OutputArgs,
}

/// Draw figures over time, with their changes
///
/// Every series that changed, in per cent of its first figure, with a line for each level. A
/// drawing is of one kernel, file system, metric and machine.
#[derive(Debug, Args)]
pub struct HistoryPlotArgs {
    /// Which series
    #[command(flatten)]
    pub series: HistorySelectArgs,
    /// Also series without a change
    #[arg(short, long, help_heading = "Output")]
    pub all: bool,
    /// Where the drawing (SVG) goes; - is standard output
    #[arg(short, long, value_name = "FILE.svg", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
}

/// Make a site of all documents in the history's directory
///
/// A page of each document, as `lsmeter report` makes it, whatever its kind and packed by xz or not;
/// one of each benchmark that several runs measured, with its figures over them; and index.html,
/// which leads to all. They need no server, no script from elsewhere and no network.
#[derive(Debug, Args)]
pub struct HistorySiteArgs {
    /// Which series
    #[command(flatten)]
    pub series: HistorySelectArgs,
    /// What the site is called
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "What security modules cost",
        help_heading = "Output"
    )]
    pub title: String,
    /// Directory that the pages go to; made if it is not there, and what lies there under their names
    /// is replaced
    #[arg(short, long, value_name = "DIR", default_value = "site", value_hint = ValueHint::DirPath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Which series of a history.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which series")]
pub struct HistorySelectArgs {
    /// Where
    #[command(flatten)]
    pub place: HistoryPlace,
    /// Benchmark, or benchmark:variant, with * and ?; `!` excludes
    #[arg(short, long = "bench", value_name = "PATTERN,…", value_delimiter = ',')]
    pub benchmarks: Vec<String>,
    /// Kernel, as it was named in the runs; may be given several times
    #[arg(short, long = "kernel", value_name = "KERNEL")]
    pub kernels: Vec<String>,
    /// Configuration, as tables name it: 'capability,selinux (enforcing)'; may be given
    /// several times
    #[arg(short, long = "configuration", value_name = "TITLE")]
    pub configurations: Vec<String>,
    /// Metric; may be given several times
    #[arg(short, long = "metric", value_name = "METRIC",
        value_parser = words::<Metric>(Metric::MEASURABLE))]
    pub metrics: Vec<Metric>,
    /// Take a run's only kernel as the next one's, whatever they are called: one kernel that
    /// changes
    #[arg(long)]
    pub across_kernels: bool,
    /// Only the newest runs
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
    /// How often a series of times without a change may show one: 0.0005 to 0.5
    #[arg(long, value_name = "FRACTION", default_value = "0.01")]
    pub alpha: f64,
}
