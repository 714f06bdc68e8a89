// SPDX-License-Identifier: GPL-2.0-or-later
//! What is compared: documents that were made before, or that are made now.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use check::Wanted;
use experiment::check::CheckedInstrument;
use experiment::{
    Cell, Counted, Document, Instrument, InstrumentStatus, Kind, PlacementDocument, Stored as _,
};

use crate::cli::CheckArgs;
use crate::commands::documents::bytes;
use crate::commands::measure::read_stack;
use crate::failure::usage;
use crate::output;

/// Documents, at most one of a kind.
#[derive(Debug, Default)]
pub struct Documents {
    /// Hooks of operations, under each stack.
    pub profile: Option<Document>,
    /// Further stacks, compared with the first.
    pub differences: Option<Document>,
    /// What the monitor counted.
    pub counts: Option<Document>,
    /// Slopes.
    pub sensitivity: Option<Document>,
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
        let bytes = bytes(path, "give a document that lsmeter wrote")?;
        let kind = Kind::of(&bytes).with_context(named)?;
        let title = Kind::title(Some(kind));
        let taken = match kind {
            Kind::Profile | Kind::Counts | Kind::Sensitivity => {
                let document = Document::parse(&bytes).with_context(named)?;
                self.slot(&document).replace(document).is_some()
            }
            Kind::Placement => {
                let document = PlacementDocument::parse(&bytes).with_context(named)?;
                self.placement.replace(document).is_some()
            }
            _ => {
                return Err(usage(
                    format!("{} is a {title}, which counts no hooks", path.display()),
                    "give documents of profile, sensitivity or placement, or what `lsmeter check \
                     --keep` kept",
                ));
            }
        };
        match taken {
            false => Ok(()),
            true => Err(usage(
                format!("{} is the second {title}", path.display()),
                "give one of each kind",
            )),
        }
    }

    /// Where a document of its kind is kept.
    fn slot(&mut self, document: &Document) -> &mut Option<Document> {
        let compared = |of: &Counted| of.residual.is_some() || of.not_compared.is_some();
        let mut counted = document.cells.iter().filter_map(Cell::counted);
        match document.kind {
            Kind::Counts => &mut self.counts,
            Kind::Sensitivity => &mut self.sensitivity,
            _ if counted.any(compared) => &mut self.differences,
            _ => &mut self.profile,
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
        for (name, document) in [
            ("profile.json", &self.profile),
            ("differences.json", &self.differences),
            ("counts.json", &self.counts),
            ("sensitivity.json", &self.sensitivity),
        ] {
            if let Some(document) = document {
                output::write(&at(name), |to| Ok(document.write(to)?))?;
            }
        }
        if let Some(document) = &self.placement {
            output::write(&at("placement.json"), |to| Ok(document.write(to)?))?;
        }
        Ok(())
    }
}

/// Of which kernel, stack and file system documents are compared, as far as flags say.
///
/// # Errors
/// If a stack is none.
pub fn wanted(args: &CheckArgs) -> Result<Wanted> {
    let stack = args.stacks.first().map(|text| read_stack(text));
    Ok(Wanted {
        kernel: args.kernel.clone(),
        stack: stack.transpose()?.map(|stack| stack.names()),
        fs: args.lab.fs.map(|fs| fs.to_string()),
    })
}
