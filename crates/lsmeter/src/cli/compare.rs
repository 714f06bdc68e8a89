// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of `lsmeter compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use model::comparison::Axis;

use super::output::OutputArgs;
use super::shared::words;

/// Formats of comparisons, in addition to [`super::Common`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// A page with the changes, their size, and the hooks that account for them
    Html,
    /// The kernel's test format, with the gate's verdict on each measurement
    Ktap,
    /// XML for GitLab and Jenkins, with the gate's verdict on each measurement
    Junit,
}

/// Compare two result files, or gate a CI job on their difference
///
/// BASE and NEW are result files of `lsmeter run`, `profile`, `sensitivity` or `monitor`. Any
/// difference between exact counts is real. Times are compared with a non-parametric test whose
/// p-values are corrected for multiple comparisons, and are printed with an effect size and a
/// confidence interval. With --fail-above or --budget, the comparison is a gate: its verdict sets
/// the exit status.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter compare before.json after.json
  lsmeter compare before.json after.json --format html > changes.html
  lsmeter compare before.json after.json --fail-above 1%
  lsmeter compare before.json after.json --budget budget.toml --format junit > junit.xml
  lsmeter compare before.json after.json --explain   by hook (needs run --with-hooks)
  lsmeter compare run.json --across kernel           kernels within one run
  lsmeter compare run.json --across policy --baseline none

A budget is a TOML file: default = \"1%\" and, under [limits], lines such as
\"open:*\" = \"20 instructions\". Without a gate, differences do not change the exit status. With
a gate, the exit status is 1 if a measurement gets worse by more than its limit, and 5 if the
comparison is inconclusive.")]
pub struct CompareArgs {
    /// Take this result file as the base; with --across, compare its measurements with each other
    #[arg(value_hint = ValueHint::FilePath)]
    pub base: PathBuf,
    /// Compare this result file with BASE
    #[arg(required_unless_present = "across", conflicts_with = "across", value_hint = ValueHint::FilePath)]
    pub new: Option<PathBuf>,
    /// Compare measurements of one run along this axis
    #[arg(long, value_name = "AXIS", value_parser = words::<Axis>(Axis::ALL),
        help_heading = "What is compared")]
    pub across: Option<Axis>,
    /// Compare with this value on the axis [default: the run's baseline, or the first]
    #[arg(
        long,
        value_name = "VALUE",
        requires = "across",
        help_heading = "What is compared"
    )]
    pub baseline: Option<String>,
    /// Call a difference real if its corrected p value is at most P
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = probability,
        help_heading = "What is compared")]
    pub alpha: f64,
    /// Compare times even if machines or methods differ
    #[arg(long, help_heading = "What is compared")]
    pub trust_environment: bool,
    /// Exit 1 if a cost rises by more than LIMIT, e.g. 1%, '20 instructions', '50 ns'
    #[arg(long, value_name = "LIMIT", help_heading = "As a gate")]
    pub fail_above: Option<String>,
    /// Read limits per benchmark from this TOML file; they override --fail-above
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "As a gate")]
    pub budget: Option<PathBuf>,
    /// Rank the hooks and the memory that account for each difference in counts
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// Leave out measurements that did not change
    #[arg(long, help_heading = "Output")]
    pub changed: bool,
    #[command(flatten)]
    pub out: OutputArgs<CompareFormat>,
}

fn probability(text: &str) -> Result<f64, String> {
    let p: f64 = text.parse().map_err(|_| "not a number")?;
    if p > 0.0 && p < 1.0 {
        Ok(p)
    } else {
        Err("must be above 0 and below 1".to_owned())
    }
}
