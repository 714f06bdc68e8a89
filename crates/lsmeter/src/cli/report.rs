// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::shared::number_within;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page that needs no network and no other files
    Html,
    /// Verdict and tables, for an e-mail or a merge request
    Markdown,
}

/// Write a report on result files: findings, figures, tables, method
///
/// lsmeter reads any mix of result files of `lsmeter run`, `profile`, `sensitivity`, `monitor` and
/// `placement`. It also compares kernels with each other if the runs measured more than one.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter report run.json --output report.html
  lsmeter report 6.1.json 6.12.json profile.json slopes.json -o report.html
  lsmeter report run.json --format markdown > mail.md
  lsmeter report run.json --list-figures
  lsmeter report run.json --figure overhead -o overhead.svg
  lsmeter report run.json --figure overhead --width 85 -o column.svg
  lsmeter report run.json --figure overhead -o overhead.csv

The extension of the output file selects a figure's format: .svg, or .csv and .json for its data.
On standard output, the format is SVG.")]
pub struct ReportArgs {
    /// Read these result files, saved with --output or --record
    #[arg(required = true, value_name = "DOCUMENT.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Write the report here; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// Write in this format [default: html; markdown for --coverage]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<ReportFormat>,
    /// Write only this figure
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "format",
        help_heading = "Output"
    )]
    pub figure: Option<String>,
    /// Draw the figure MM millimetres wide for a paper, e.g. 85, without title and notes
    #[arg(long, value_name = "MM", requires = "figure", help_heading = "Output",
        value_parser = |text: &str| number_within(text, 40.0..=1000.0))]
    pub width: Option<f64>,
    /// Only list the hooks that profiled operations call, and those that they never call
    #[arg(long, conflicts_with_all = ["figure", "list_figures"],
        help_heading = "Output")]
    pub coverage: bool,
    /// List names and titles of all figures
    #[arg(long, conflicts_with_all = ["format", "figure", "output"], help_heading = "Output")]
    pub list_figures: bool,
}
