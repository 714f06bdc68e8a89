// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter generate`: completions and manual pages, from the definitions of the help.

use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;
use model::Exit;

use crate::cli::Cli;

pub fn generate(directory: &Path) -> Result<Exit> {
    write(directory).with_context(|| format!("cannot write into {}", directory.display()))?;
    Ok(Exit::Fine)
}

fn write(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Cli::command(), "lsmeter", directory)?;
    }
    clap_mangen::generate_to(Cli::command(), directory)
}
