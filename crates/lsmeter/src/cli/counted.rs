// SPDX-License-Identifier: GPL-2.0-or-later
//! Flags of commands that count one kernel after another.

use clap::{Args, ValueHint};

use super::shared::{CellArgs, LabArgs};

#[derive(Debug, Args)]
pub struct CountedArgs {
    /// Run this preset (`lsmeter list presets`) or experiment file
    #[arg(value_name = "PRESET|SPEC.toml", default_value = "quick", value_hint = ValueHint::FilePath,
        help_heading = None::<&str>)]
    pub spec: String,
    #[command(flatten)]
    pub lab: LabArgs,
    #[command(flatten)]
    pub cells: CellArgs,
}
