// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter predict`: cost of other stacks for recorded calls.

use std::path::PathBuf;

use anyhow::{Context, Result};
use estimate::predict::{Costs, Recording, Wanted, one_stack, predict as multiply};
use lab::prepare::Hooks;
use model::{
    Document, EstimateDocument, Exit, Metric, Place, PredictionDocument, Spec, Stored as _,
};

use crate::cli::PredictArgs;
use crate::commands::documents::{ANY, read_as};
use crate::commands::kernel;
use crate::commands::measure::{
    Machines, Signals, check_selection, count_hooks, lab_flags, read_spec, read_stack, some,
};
use crate::config::Config;
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::output;
use crate::progress::Line;

const PRESET: &str = "suite";

pub fn predict(args: &PredictArgs) -> Result<Exit> {
    let stdout = args.out.check(&[&args.keep_costs], 0)?;
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
        weights: match &args.weights {
            Some(path) => Some(read_as(path, ANY, EstimateDocument::parse)?.weights),
            None => None,
        },
    };
    if args.costs.is_empty() && args.kernel.is_none() {
        return Err(usage(
            "neither costs nor a kernel is given",
            "add --costs FILE from `lsmeter profile`, or --kernel debian:6.12 to count costs",
        ));
    }
    let costs = if args.costs.is_empty() {
        let Some(counted) = count(args)? else {
            return Ok(Exit::CellsFailed);
        };
        vec![counted]
    } else {
        let read = |path: &PathBuf| read_as(path, ANY, Document::parse);
        args.costs.iter().map(read).collect::<Result<Vec<_>>>()?
    };
    if costs.contains(&document) {
        // A prediction from its own recording has no error.
        recording
            .loads
            .iter_mut()
            .for_each(|load| load.hooked = None);
    }
    let costs = Costs::new(&costs, &wanted)?;
    let document = multiply(&recording, &costs, args.ns_per_instruction);
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

fn count(args: &PredictArgs) -> Result<Option<Document>> {
    let mut stacks = args.stacks.clone();
    if let Some(baseline) = &args.baseline
        && !stacks.contains(baseline)
    {
        stacks.insert(0, baseline.clone());
    }
    if let [stack] = &stacks[..] {
        return Err(one_stack(stack).into());
    }
    let (_, preset) = read_spec(PRESET)?;
    let spec = preset.merge(Spec {
        kernels: args.kernel.clone().map(|kernel| vec![kernel]),
        stacks: some(&stacks),
        place: Some(Place::Lab),
        metrics: Some(vec![Metric::Instructions]),
        benchmarks: some(&args.benchmarks),
        ..lab_flags(&args.lab)?
    });
    let experiment = kernel::expand(spec)?.resolve()?;
    kernel::is_one(&experiment)?;
    check_selection(&experiment)?;
    let config = Config::read()?;
    let kept = args.keep_costs.as_deref();
    let mut line = Line::new(args.progress.quiet);
    let signals = Signals::watch()?;
    let found = signals.unattended(|| Machines::find(&args.lab, &config, &experiment, &line));
    let machines = found?;
    let counted = count_hooks(
        &experiment,
        &machines,
        None,
        Hooks {
            events: args.weights.is_some(),
            ..Hooks::default()
        },
        args.progress.reuse(),
        &signals,
        &mut line,
    )?;
    let Some(outcome) = counted else {
        return Ok(None);
    };
    let document = lab::profiles::document(&outcome, None);
    if let Some(path) = kept {
        output::write(path, |to| Ok(document.write(to)?))?;
    }
    Ok(Some(document))
}
