// SPDX-License-Identifier: GPL-2.0-or-later
//! Where a run's document and journal go.

use std::path::PathBuf;

use anyhow::Result;
use lab::journal::Journals;

use crate::cli::RunArgs;
use crate::commands::journals::{self, beside, unique};
use crate::failure::usage;
use crate::output;

/// Where the run document goes, and until then the journal; with Slurm a directory.
pub struct Files {
    /// The document; - is standard output.
    pub output: PathBuf,
    /// The journals; with Slurm the directory that nodes share.
    pub journals: Journals,
}

impl Files {
    /// The directory that nodes share in place of the journal.
    fn of_slurm(args: &RunArgs, name: &str) -> Result<Files> {
        let resume = match &args.resume {
            Some(Some(journal)) => {
                return Err(usage(
                    format!("{} is no directory of a run by Slurm", journal.display()),
                    "give --resume nothing, and the directory with --workdir",
                ));
            }
            Some(None) => true,
            None => false,
        };
        let output = args.out.output.clone();
        let output = output.filter(|path| !output::is_stdout(path));
        if resume && output.is_none() && args.parts.workdir.is_none() {
            return Err(usage(
                "which run should go on?",
                "name its document with --output, or its directory with --workdir",
            ));
        }
        let output = output.unwrap_or_else(|| unique(name));
        let first = args.parts.workdir.clone();
        let first = first.unwrap_or_else(|| beside(&output, "shards"));
        Ok(Files {
            output: args.out.output.clone().unwrap_or(output),
            journals: Journals { first, resume },
        })
    }

    /// Chooses them, as the flags say.
    ///
    /// # Errors
    /// If a run is to go on and there is none, or one is there that is not to.
    pub fn choose(args: &RunArgs, name: &str) -> Result<Files> {
        // A shard's journal is no other's.
        let name = match args.parts.shard {
            Some(shard) => &format!("{name}-{}of{}", shard.index, shard.count),
            None => name,
        };
        if args.parts.slurm {
            return Files::of_slurm(args, name);
        }
        let output = match (&args.out.output, &args.resume) {
            (None, None) => Some(unique(name)),
            (output, _) => output.clone(),
        };
        let journals = journals::choose(name, output.as_deref(), args.resume.as_ref())?;
        Ok(Files {
            output: output.unwrap_or_else(|| journals.first.with_extension("")),
            journals,
        })
    }
}
