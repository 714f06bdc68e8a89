// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page that needs no network and no other file
    Html,
    /// Verdict and tables, for a mail or a forge
    Markdown,
}

/// Make a page of documents: verdict, figures, tables, warnings, method
///
/// Takes whatever lsmeter wrote: runs, profiles, sweeps, recordings, placements, checks,
/// in any number and mix. Runs of several kernels are also compared with each other.
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
    /// Documents that lsmeter wrote, with --output or --record
    #[arg(required = true, value_name = "DOCUMENT.json", value_hint = ValueHint::FilePath)]
    pub documents: Vec<PathBuf>,
    /// Where to; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Output")]
    pub output: PathBuf,
    /// What it is written as [default: html; of what is published markdown]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<ReportFormat>,
    /// Tell beside what stacks add to a count what that takes in nanoseconds, by weights that
    /// `lsmeter estimate --keep-weights` wrote; of documents that were counted with --events
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
    /// List only the hooks that no operation of these profiles calls, and those that are called
    #[arg(long, conflicts_with_all = ["figure", "list_figures", "published", "publication"],
        help_heading = "Output")]
    pub coverage: bool,
    /// Write nothing but what is published of the same operations, beside them
    #[arg(long, conflicts_with_all = ["figure", "list_figures"], help_heading = "Output")]
    pub published: bool,
    /// Write nothing but every figure of this publication, with what the documents say of it
    ///
    /// Publications are those of `lsmeter list published`: paper, lsmpmon, howells … Runs, sweeps
    /// and placements are of use. First how many figures agree with ours, and how many differ, with
    /// a cause that is shown, possible or unknown; then table by table each of them.
    #[arg(long, value_name = "NAME", help_heading = "Output",
        conflicts_with_all = ["figure", "list_figures", "published"])]
    pub publication: Option<String>,
    /// List the names of all figures, with their titles
    #[arg(long, conflicts_with_all = ["format", "figure", "output"], help_heading = "Output")]
    pub list_figures: bool,
}
