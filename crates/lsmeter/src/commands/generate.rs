// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter completions`, `lsmeter man`: from the definitions that the help is made of.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use model::Exit;

use crate::cli::Cli;
use crate::output;

pub fn completions(shell: clap_complete::Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lsmeter", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}

/// Writes a manual page for lsmeter and for each of its commands.
pub fn man(directory: &Path) -> Result<Exit> {
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
        .with_context(|| format!("cannot write manual pages into {}", directory.display()))?;
    Ok(Exit::Fine)
}
