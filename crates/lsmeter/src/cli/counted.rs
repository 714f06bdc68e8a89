// SPDX-License-Identifier: GPL-2.0-or-later
//! The flags of commands that count one kernel after another.

use clap::{Args, ValueHint};

use super::shared::{CellArgs, LabArgs};

/// What is counted of each kernel, and how.
#[derive(Debug, Args)]
pub struct CountedArgs {
    /// A preset (`lsmeter list presets`) or a TOML file
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath,
        help_heading = None::<&str>)]
    pub spec: String,
    /// How they are measured
    #[command(flatten)]
    pub lab: LabArgs,
    /// Which cells
    #[command(flatten)]
    pub cells: CellArgs,
}
