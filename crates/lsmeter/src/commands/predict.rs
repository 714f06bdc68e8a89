// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter predict`: cost of other stacks for recorded calls.

use std::path::PathBuf;

use anyhow::{Context, Result};
use estimate::predict::{Costs, Recording, Wanted, predict as multiply};
use model::{Document, Exit, PredictionDocument, Stored as _};

use crate::cli::PredictArgs;
use crate::commands::documents::{ANY, read_as};
use crate::commands::estimate::read_weights;
use crate::commands::measure::read_stack;
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;

pub fn predict(args: &PredictArgs) -> Result<Exit> {
    if args.costs.is_empty() {
        return Err(usage(
            "no costs are given",
            "count them with `lsmeter profile suite --output FILE`, and add --costs FILE",
        ));
    }
    let stdout = args.out.check(&[], 0)?;
    let document = read_as(&args.recording, ANY, Document::parse)?;
    let named = || args.recording.display().to_string();
    let mut recording =
        Recording::from_document(&document, args.workload.as_deref()).with_context(named)?;
    let mut stacks = Vec::new();
    for text in &args.stacks {
        stacks.push(read_stack(text)?.names().join(","));
    }
    let baseline = args.baseline.as_deref().map(read_stack).transpose()?;
    let wanted = Wanted {
        kernel: args.kernel.clone(),
        release: recording.release.clone(),
        stacks,
        baseline: baseline.map(|stack| stack.names().join(",")),
        weights: args.weights.as_deref().map(read_weights).transpose()?,
    };
    let read = |path: &PathBuf| read_as(path, ANY, Document::parse);
    let costs: Vec<Document> = args.costs.iter().map(read).collect::<Result<_>>()?;
    if costs.contains(&document) {
        // A prediction whose costs are from the same recording has no error.
        recording
            .loads
            .iter_mut()
            .for_each(|load| load.hooked = None);
    }
    let costs = Costs::new(&costs, &wanted)?;
    let document = multiply(&recording, &costs);
    deliver(args, &document, stdout)?;
    Ok(Exit::Fine)
}

fn deliver(args: &PredictArgs, document: &PredictionDocument, stdout: StdoutTaken) -> Result<()> {
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::prediction_report(document, args.rows),
        records: &|| report::prediction_records(document),
    };
    args.out.deliver(stdout, &found)?;
    Ok(())
}
