// SPDX-License-Identifier: GPL-2.0-or-later
//! Where a run's document and journal go.

use std::path::PathBuf;

use anyhow::Result;
use lab::journal::Journals;

use crate::cli::RunArgs;
use crate::commands::journals::{self, unique};

/// Where the run document goes, and until then the journal.
pub struct Files {
    /// The document; - is standard output.
    pub output: PathBuf,
    pub journals: Journals,
}

impl Files {
    pub fn choose(args: &RunArgs, name: &str) -> Result<Files> {
        // A shard's journal is no other's.
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
