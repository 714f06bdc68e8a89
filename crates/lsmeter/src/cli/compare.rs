// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of `lsmeter compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use model::comparison::{Axis, Correction};

use super::output::OutputArgs;
use super::shared::words;

/// Formats of comparisons in addition to those of all commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// A page: what changed, by how much, and the hooks that account for it
    Html,
    /// The kernel's test format: the gate's verdict on each measurement
    Ktap,
    /// XML for GitLab and Jenkins: the gate's verdict on each measurement
    Junit,
}

/// Compare two result files: what changed, and is it real
///
/// BASE and NEW are of the same kind: runs, profiles, recordings or sweeps. Counts are
/// compared exactly, times by a non-parametric test with an effect size and an interval,
/// corrected for the number of measurements. With --fail-above or --budget it is a gate.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  lsmeter compare before.json after.json
  lsmeter compare before.json after.json --format html > changes.html
  lsmeter compare before.json after.json --fail-above 1%
  lsmeter compare before.json after.json --budget budget.toml --format junit > junit.xml
  lsmeter compare before.json after.json --explain   which hooks hold it (run --with-hooks)
  lsmeter compare run.json --across kernel           cells of one run, kernel by kernel
  lsmeter compare run.json --across policy --baseline none

A budget is TOML: default = \"1%\" and, below [limits], lines such as
\"open:*\" = \"20 instructions\". Without a gate the exit status is 0, whatever differs; with one
it is 1 if a cell is worse by more than its limit, 5 if that cannot be told of a cell.")]
pub struct CompareArgs {
    /// The baseline; with --across, the run whose measurements are compared
    #[arg(value_hint = ValueHint::FilePath)]
    pub base: PathBuf,
    /// The result file under test
    #[arg(required_unless_present = "across", conflicts_with = "across", value_hint = ValueHint::FilePath)]
    pub new: Option<PathBuf>,
    /// Compare the measurements of one run that differ in this
    #[arg(long, value_name = "AXIS", value_parser = words::<Axis>(Axis::ALL),
        help_heading = "What is compared")]
    pub across: Option<Axis>,
    /// The value that others are compared with [default: the run's baseline, or the first]
    #[arg(
        long,
        value_name = "VALUE",
        requires = "across",
        help_heading = "What is compared"
    )]
    pub baseline: Option<String>,
    /// A difference is real if its corrected p is at most this
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = probability,
        help_heading = "What is compared")]
    pub alpha: f64,
    /// How p values are corrected for the number of measurements
    #[arg(long, value_name = "HOW", default_value = "holm", value_parser = words::<Correction>(Correction::ALL),
        help_heading = "What is compared")]
    pub correction: Correction,
    /// Compare times even if machines or methods differ
    #[arg(long, help_heading = "What is compared")]
    pub trust_environment: bool,
    /// Exit with 1 if a measurement is worse by more than this: 1%, 20 instructions, 50 ns
    #[arg(long, value_name = "LIMIT", help_heading = "As a gate")]
    pub fail_above: Option<String>,
    /// Limits by benchmark, in TOML; they override --fail-above
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "As a gate")]
    pub budget: Option<PathBuf>,
    /// Rank the hooks that account for each difference in instructions
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// Leave out measurements that are the same
    #[arg(long, help_heading = "Output")]
    pub changed: bool,
    /// Output
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
