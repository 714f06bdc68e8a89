// SPDX-License-Identifier: GPL-2.0-or-later
//! Paths of a run's document and journal.

use std::path::PathBuf;

use anyhow::Result;
use lab::journal::Journals;

use crate::cli::RunArgs;
use crate::commands::journals::{self, unique};

pub struct Files {
    /// `-` is standard output.
    pub output: PathBuf,
    pub journals: Journals,
}

impl Files {
    pub fn choose(args: &RunArgs, name: &str) -> Result<Files> {
        let name = match args.parts.shard {
            Some(shard) => &format!("{name}-{}of{}", shard.index, shard.count),
            None => name,
        };
        let output = match (&args.out.output, &args.progress.resume) {
            (None, None) => Some(unique(name)),
            (output, _) => output.clone(),
        };
        let journals = journals::choose(name, output.as_deref(), args.progress.resume.as_ref())?;
        Ok(Files {
            output: output.unwrap_or_else(|| journals.first.with_extension("")),
            journals,
        })
    }
}
