// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page that needs no network and no other file
    Html,
    /// Verdict and tables, for a mail or a forge
    Markdown,
}

/// Make a page of result files: findings, figures, tables, method
///
/// Takes runs, profiles, sweeps, recordings and placements, in any number and mix. Runs of several
/// kernels are also compared with each other.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter report run.json --output report.html
  lsmeter report 6.1.json 6.12.json profile.json slopes.json -o report.html
  lsmeter report run.json --format markdown > mail.md
  lsmeter report run.json --list-figures
  lsmeter report run.json --figure overhead -o overhead.svg
  lsmeter report run.json --figure overhead -o overhead.csv

A figure is written as its file's name ends: .svg, .csv or .json (its data); on
standard output as SVG.")]
pub struct ReportArgs {
    /// Result files (--output or --record)
    #[arg(required = true, value_name = "DOCUMENT.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Output file; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// Format [default: html; for --coverage markdown]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<ReportFormat>,
    /// Also show added counts in nanoseconds, by weights from `lsmeter estimate --keep-weights`;
    /// for result files counted with --events
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub weights: Option<PathBuf>,
    /// Write this figure only
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "format",
        help_heading = "Output"
    )]
    pub figure: Option<String>,
    /// Only list the hooks that no operation of these profiles calls, and those that are called
    #[arg(long, conflicts_with_all = ["figure", "list_figures"],
        help_heading = "Output")]
    pub coverage: bool,
    /// List the names of all figures, with their titles
    #[arg(long, conflicts_with_all = ["format", "figure", "output"], help_heading = "Output")]
    pub list_figures: bool,
}
