// SPDX-License-Identifier: GPL-2.0-or-later
//! Where a run's document and journal go.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cli::RunArgs;
use crate::failure::usage;
use crate::output;

const JOURNAL: &str = "journal";

/// Where the run document goes, and until then the journal; with Slurm a directory.
pub struct Files {
    /// The document; - is standard output.
    pub output: PathBuf,
    /// The journal; with Slurm the directory that nodes share.
    pub journal: PathBuf,
    /// Is a run in it that is to go on?
    pub resume: bool,
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
        let output = args
            .out
            .output
            .clone()
            .filter(|path| !output::is_stdout(path));
        if resume && output.is_none() && args.parts.workdir.is_none() {
            return Err(usage(
                "which run should go on?",
                "name its document with --output, or its directory with --workdir",
            ));
        }
        let output = output.unwrap_or_else(|| unique(name));
        let mut beside = output.clone().into_os_string();
        beside.push(".shards");
        Ok(Files {
            output: args.out.output.clone().unwrap_or(output),
            journal: args.parts.workdir.clone().unwrap_or(beside.into()),
            resume,
        })
    }

    /// Chooses them, as the flags say.
    ///
    /// # Errors
    /// If a run is to go on and there is none, or one is there that is not to.
    pub fn choose(args: &RunArgs, name: &str) -> Result<Files> {
        let with_journal = |output: PathBuf, resume| {
            let mut journal = output.clone().into_os_string();
            journal.push(format!(".{JOURNAL}"));
            Files {
                output,
                journal: journal.into(),
                resume,
            }
        };
        // A shard's journal is no other's.
        let name = match args.parts.shard {
            Some(shard) => &format!("{name}-{}of{}", shard.index, shard.count),
            None => name,
        };
        if args.parts.slurm {
            return Files::of_slurm(args, name);
        }
        if let Some(resume) = &args.resume {
            let journal = match (resume, &args.out.output) {
                (Some(journal), _) => journal.clone(),
                (None, Some(output)) if !output::is_stdout(output) => {
                    with_journal(output.clone(), true).journal
                }
                _ => newest_journal(name)?,
            };
            let output = args
                .out
                .output
                .clone()
                .unwrap_or_else(|| journal.with_extension(""));
            return Ok(Files {
                output,
                journal,
                resume: true,
            });
        }
        let unique = unique(name);
        let files = match &args.out.output {
            Some(output) if output::is_stdout(output) => {
                let journal = with_journal(std::env::temp_dir().join(unique), false).journal;
                Files {
                    output: output.clone(),
                    journal,
                    resume: false,
                }
            }
            Some(output) => with_journal(output.clone(), false),
            None => with_journal(unique, false),
        };
        for number in 1..=args.aa.unwrap_or(1) {
            let journal = files.journal_of(number);
            if journal.exists() {
                return Err(usage(
                    format!(
                        "{} holds the cells of a run that did not end",
                        journal.display()
                    ),
                    "go on with it with --resume, or remove it",
                ));
            }
        }
        Ok(files)
    }

    /// The journal of the run of this number, from 1: there are several with `--aa`.
    pub fn journal_of(&self, number: u32) -> PathBuf {
        match number {
            1 => self.journal.clone(),
            _ => numbered(&self.journal, number),
        }
    }
}

/// The journal of a further run, beside that of the first.
pub fn numbered(journal: &Path, number: u32) -> PathBuf {
    let mut numbered = journal.as_os_str().to_owned();
    numbered.push(format!(".{number}"));
    numbered.into()
}

/// A name that no earlier run of this had.
fn unique(name: &str) -> PathBuf {
    let stamp: String = lab::environment::now()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect();
    PathBuf::from(format!("lsmeter-{name}-{stamp}.json"))
}

/// The journal of the last run of this that did not end.
fn newest_journal(name: &str) -> Result<PathBuf> {
    let prefix = format!("lsmeter-{name}-");
    let mut found: Vec<PathBuf> = std::fs::read_dir(".")?
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == JOURNAL)
        })
        .filter(|path| path.to_string_lossy().starts_with(&prefix))
        .collect();
    // The names end in the time at which the run began.
    found.sort();
    found.pop().ok_or_else(|| {
        usage(
            format!("no journal of `{name}` is in this directory"),
            "name it: --resume FILE.json.journal",
        )
    })
}
