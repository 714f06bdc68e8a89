// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter estimate`: what counted operations would take in nanoseconds.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use diagnostics::Exit;
use estimate::{Counts, Terms, counts_of, fit, times_of};
use experiment::estimate::Weights;
use experiment::{Document, EstimateDocument, Stored as _};

use crate::cli::EstimateArgs;
use crate::commands::documents::{ANY, read_as};
use crate::deliver::Delivery;
use crate::failure::usage;
use crate::output;

/// Estimates.
///
/// # Errors
/// If the documents do not say what is needed.
pub fn estimate(args: &EstimateArgs) -> Result<Exit> {
    let stdout = args.out.check(&[&args.keep_weights], 0)?;
    let terms = Terms::named(&args.terms)?;
    let read = |path: &PathBuf| {
        let document = read_as(path, ANY, Document::parse)?;
        counts_of(&document).with_context(|| path.display().to_string())
    };
    let read = args.counts.iter().map(read);
    let counts = read.collect::<Result<Vec<_>>>()?;
    let counts = counts.into_iter().reduce(Counts::with).unwrap_or_default();
    let times = match &args.times {
        None => None,
        Some(path) => {
            let document = read_as(path, ANY, Document::parse)?;
            Some(times_of(&document).with_context(|| path.display().to_string())?)
        }
    };
    let weights = match (&times, &args.weights) {
        (Some(times), _) => fit(times, &counts, &terms)?,
        (None, Some(path)) => read_weights(path)?,
        (None, None) => {
            return Err(usage(
                "there are no weights",
                "give --times to fit them, or --weights that were kept",
            ));
        }
    };
    let document = estimate::estimate(&weights, &counts, times.as_ref())?;
    if let Some(path) = &args.keep_weights {
        let kept = EstimateDocument {
            cells: Vec::new(),
            ..document.clone()
        };
        output::write(path, |to| Ok(kept.write(to)?))?;
    }
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::estimate_report(&document),
        records: &|| report::estimate_records(&document),
    };
    args.out.deliver(stdout, &found)?;
    Ok(Exit::Fine)
}

/// The weights that an estimate's document holds.
///
/// # Errors
/// If it is none.
pub fn read_weights(path: &Path) -> Result<Weights> {
    Ok(read_as(path, ANY, EstimateDocument::parse)?.weights)
}

/// What the stacks of a document would add by `weights`, if there are some; nothing is said of cells
/// that were not counted with their events.
///
/// # Errors
/// If the file has no weights, or some of an event that nobody counts.
pub fn estimates(weights: Option<&Path>, document: &Document) -> Result<Option<EstimateDocument>> {
    let Some(weights) = weights else {
        return Ok(None);
    };
    let counts = counts_of(document).unwrap_or_default();
    Ok(Some(estimate::estimate(
        &read_weights(weights)?,
        &counts,
        None,
    )?))
}
