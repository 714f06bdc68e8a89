// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter estimate`: estimates nanoseconds for counted operations.

use std::path::Path;

use anyhow::{Context, Result};
use estimate::{Counts, Terms, counts_of, fit, times_of};
use model::{Document, EstimateDocument, Exit, Stored as _, estimate::Weights};

use crate::cli::EstimateArgs;
use crate::commands::documents::{ANY, read_as};
use crate::deliver::Delivery;
use crate::failure::usage;
use crate::output;

pub fn estimate(args: &EstimateArgs) -> Result<Exit> {
    let stdout = args.out.check(&[&args.keep_weights], 0)?;
    let terms = Terms::named(&args.terms)?;
    let (mut counts, mut timed) = (Counts::default(), None);
    for path in &args.counts {
        let document = read_as(path, ANY, Document::parse)?;
        let own = counts_of(&document).with_context(|| path.display().to_string())?;
        counts = counts.with(own);
        let has_times = document.cells.iter().any(|cell| cell.timed().is_some());
        if has_times && timed.is_none() {
            timed = Some((path, document));
        }
    }
    let times = match (&args.times, timed) {
        (None, None) => None,
        (None, Some(_)) if args.weights.is_some() => None,
        (Some(path), _) => Some((path, read_as(path, ANY, Document::parse)?)),
        (None, Some(own)) => Some(own),
    };
    let times = times
        .map(|(path, document)| times_of(&document).with_context(|| path.display().to_string()))
        .transpose()?;
    let weights = match (&times, &args.weights) {
        (Some(times), _) => fit(times, &counts, &terms)?,
        (None, Some(path)) => read_weights(path)?,
        (None, None) => {
            return Err(usage(
                "neither times nor weights are given",
                "add --times TIMES.json to fit weights, or --weights FILE",
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

pub fn read_weights(path: &Path) -> Result<Weights> {
    Ok(read_as(path, ANY, EstimateDocument::parse)?.weights)
}
