// SPDX-License-Identifier: GPL-2.0-or-later
//! What is compared: documents that were made before, or that are made now.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use check::Wanted;
use experiment::check::CheckedInstrument;
use experiment::{
    CountsDocument, DOCUMENT_LIMIT_BYTES, DocumentKind, Instrument, InstrumentStatus,
    PlacementDocument, ProfileDocument, SensitivityDocument, Stack, StackError,
};

use crate::cli::CheckArgs;
use crate::failure::usage;
use crate::output;

/// Documents, at most one of a kind.
#[derive(Debug, Default)]
pub struct Documents {
    /// Hooks of operations, under each stack.
    pub profile: Option<ProfileDocument>,
    /// Further stacks, compared with the first.
    pub differences: Option<ProfileDocument>,
    /// What the monitor counted.
    pub counts: Option<CountsDocument>,
    /// Slopes.
    pub sensitivity: Option<SensitivityDocument>,
    /// Bounds.
    pub placement: Option<PlacementDocument>,
    /// Why instruments tell nothing.
    pub silent: Vec<CheckedInstrument>,
}

impl Documents {
    /// Reads them all.
    ///
    /// # Errors
    /// If one is no document, of another kind, or the second of its kind.
    pub fn read(paths: &[PathBuf]) -> Result<Documents> {
        let mut documents = Documents::default();
        for path in paths {
            documents.add(path)?;
        }
        Ok(documents)
    }

    fn add(&mut self, path: &Path) -> Result<()> {
        let named = || path.display().to_string();
        let bytes = read(path)?;
        let kind = DocumentKind::of(&bytes).with_context(named)?;
        let taken = match kind {
            DocumentKind::Profile => {
                let document = ProfileDocument::parse(&bytes).with_context(named)?;
                let compared = document.profiles.iter().any(|p| p.baseline.is_some());
                let slot = match compared {
                    true => &mut self.differences,
                    false => &mut self.profile,
                };
                slot.replace(document).is_some()
            }
            DocumentKind::Counts => {
                let document = CountsDocument::parse(&bytes).with_context(named)?;
                self.counts.replace(document).is_some()
            }
            DocumentKind::Sensitivity => {
                let document = SensitivityDocument::parse(&bytes).with_context(named)?;
                self.sensitivity.replace(document).is_some()
            }
            DocumentKind::Placement => {
                let document = PlacementDocument::parse(&bytes).with_context(named)?;
                self.placement.replace(document).is_some()
            }
            kind => {
                return Err(usage(
                    format!("{} is a {kind}, which counts no hooks", path.display()),
                    "give documents of profile, sensitivity or placement, or what `lsmeter check \
                     --keep` kept",
                ));
            }
        };
        match taken {
            false => Ok(()),
            true => Err(usage(
                format!("{} is the second {kind}", path.display()),
                "give one of each kind",
            )),
        }
    }

    /// Says why an instrument tells nothing.
    pub fn silence(&mut self, instrument: Instrument, reason: Option<String>) {
        self.silent.push(CheckedInstrument {
            instrument,
            status: match reason {
                Some(_) => InstrumentStatus::Unavailable,
                None => InstrumentStatus::Skipped,
            },
            reason,
            blind: Vec::new(),
        });
    }

    /// Forgets what an instrument told.
    pub fn skip(&mut self, instrument: Instrument) {
        match instrument {
            Instrument::Profile => self.profile = None,
            Instrument::Monitor => self.counts = None,
            Instrument::Sensitivity => self.sensitivity = None,
            Instrument::Placement => self.placement = None,
        }
        self.silence(instrument, None);
    }

    /// Keeps those that were made.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn keep(&self, directory: &Path) -> Result<()> {
        let at = |name: &str| directory.join(name);
        if let Some(document) = &self.profile {
            output::write(&at("profile.json"), |to| Ok(document.write(to)?))?;
        }
        if let Some(document) = &self.differences {
            output::write(&at("differences.json"), |to| Ok(document.write(to)?))?;
        }
        if let Some(document) = &self.counts {
            output::write(&at("counts.json"), |to| Ok(document.write(to)?))?;
        }
        if let Some(document) = &self.sensitivity {
            output::write(&at("sensitivity.json"), |to| Ok(document.write(to)?))?;
        }
        if let Some(document) = &self.placement {
            output::write(&at("placement.json"), |to| Ok(document.write(to)?))?;
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let unreadable = |error: std::io::Error| {
        usage(
            format!("cannot read {}: {error}", path.display()),
            "give a document that lsmeter wrote",
        )
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    // One byte more than may be, so that the parser refuses what is too long.
    file.take(DOCUMENT_LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(bytes)
}

/// Of which kernel, stack and file system documents are compared, as far as flags say.
///
/// # Errors
/// If a stack is none.
pub fn wanted(args: &CheckArgs) -> Result<Wanted> {
    let stack = args.stacks.first().map(|text| {
        let stack: Result<Stack, StackError> = text.parse();
        stack.map_err(|error| usage(&error, error.hint()))
    });
    Ok(Wanted {
        kernel: args.kernel.clone(),
        stack: stack.transpose()?.map(|stack| stack.names()),
        fs: args.lab.fs.map(|fs| fs.to_string()),
    })
}
