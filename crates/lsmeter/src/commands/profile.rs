// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter profile`: cost of each hook of an operation.

use std::path::Path;

use anyhow::{Context, Result};
use counts::calltree::CallTree;
use counts::profile::{CellProfile, PathProfile};
use kernels::hooks::HookList;
use lab::prepare::Hooks;
use lab::{Outcome, Setup};
use model::{Document, Exit, Experiment, Place, Spec, Stack, Status};
use report::ProfileView;

use crate::cli::{ProfileArgs, View};
use crate::commands::measure::{
    Machines, Signals, check_events, check_selection, flags, note_interrupted, read_spec,
    read_stack,
};
use crate::commands::{documents, foreign, given, kernel, programs};
use crate::config::Config;
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::output;
use crate::progress::Line;

/// The kernel's hook definitions have about 20 KiB.
const DEFINITIONS_LIMIT_BYTES: u64 = 4 << 20;

pub fn profile(args: ProfileArgs) -> Result<Exit> {
    let config = Config::read()?;
    let baseline = args.baseline.as_deref().map(read_stack).transpose()?;
    let mut experiment = resolve(&args, baseline.as_ref())?;
    let signals = Signals::watch()?;
    let root = programs::root(&mut experiment, &signals, args.progress.quiet)?;
    let definitions = args
        .hook_definitions
        .as_deref()
        .map(read_definitions)
        .transpose()?;
    let trees = [&args.callgrind, &args.folded];
    let stdout = args.out.check(&trees, usize::from(args.trace))?;

    let mut line = Line::new(args.progress.quiet);
    let found = signals.unattended(|| Machines::find(&args.lab, &config, &experiment, &line));
    let machines = found?;
    let hooks = Hooks {
        events: args.events,
        keep_trees: args.trace || args.callgrind.is_some() || args.folded.is_some(),
        definitions: definitions.as_deref(),
        ..Hooks::default()
    };
    let setup = Setup {
        kernels: &machines.kernels,
        qemu: Some(&machines.qemu),
        others: &machines.others,
        root: root.as_ref(),
        hooks: Some(hooks),
        reuse: args.progress.reuse(),
        ..Setup::new(&machines.store)
    };
    let outcome = lab::run(&experiment, &setup, &signals.cancel, &mut |event| {
        line.follow(event)
    });
    line.done();
    let outcome = outcome?;
    if outcome.cancelled {
        note_interrupted();
        return Ok(Exit::CellsFailed);
    }
    let mut document = lab::profiles::document(&outcome, baseline.as_ref());
    for (name, kernel) in experiment.kernels.iter().zip(&machines.kernels) {
        let hooks = lab::prepare::hook_names(&machines.store, kernel, definitions.as_deref())?;
        document.kernel_hooks.insert(name.clone(), hooks);
    }
    deliver(&args, stdout, &document, &outcome)?;
    Ok(verdict(&args, &document))
}

fn resolve(args: &ProfileArgs, baseline: Option<&Stack>) -> Result<Experiment> {
    let (_, spec) = read_spec(&args.spec)?;
    foreign::check(
        &spec,
        Some(Place::Lab),
        &args.cells.selection,
        &args.programs,
    )?;
    let mut spec = spec.merge(Spec {
        place: Some(Place::Lab),
        metrics: Some(vec![args.metric]),
        ..flags(&args.cells, &args.lab)?
    });
    spec = spec.merge(given::flags(&args.cells)?);
    spec = spec.merge(programs::flags(&args.programs)?);
    if let Some(baseline) = baseline {
        let stacks = spec.stacks.get_or_insert_default();
        let is_baseline = |stack: &String| stack.parse::<Stack>().as_ref() == Ok(baseline);
        if !stacks.iter().any(is_baseline) {
            stacks.insert(0, baseline.as_str().to_owned());
        }
        spec.baseline = None;
        if stacks.len() == 1 {
            return Err(usage(
                format!("there is no stack to compare with {baseline}"),
                "add a stack with --stack",
            ));
        }
    }
    let mut experiment = kernel::expand(spec)?.resolve()?;
    check_events(args.events, &experiment)?;
    lab::policy::take_in(&mut experiment)?;
    let mut stacks: Vec<&Stack> = experiment.configurations.iter().map(|c| &c.stack).collect();
    stacks.sort();
    if let Some(twice) = stacks.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(usage(
            format!(
                "stack {} is selected with more than one policy state",
                twice[0]
            ),
            "run one profile for each policy state",
        ));
    }
    check_selection(&experiment)?;
    Ok(experiment)
}

fn read_definitions(path: &Path) -> Result<String> {
    let hint = "give include/linux/lsm_hook_defs.h from a kernel tree";
    // Checked before kernels are downloaded.
    documents::text(path, DEFINITIONS_LIMIT_BYTES, hint, |text| {
        let hooks = HookList::from_definitions(text);
        hooks.map(drop).map_err(|error| error.to_string())
    })
}

fn deliver(
    args: &ProfileArgs,
    stdout: StdoutTaken,
    document: &Document,
    outcome: &Outcome,
) -> Result<()> {
    let by = match args.view {
        Some(View::Operation) => ProfileView::Operation,
        Some(View::Hooks) => ProfileView::Hooks,
        Some(View::Summary) => ProfileView::Operations,
        Some(View::Coverage) => ProfileView::Coverage,
        None => ProfileView::suited_to(document),
    };
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::profile_report(document, by),
        records: &|| report::profile_records(document),
    };
    args.out.save(&found)?;
    if args.trace {
        output::print(&traces(outcome))?;
    }
    args.out.print(stdout, &found)?;
    let trees: Vec<(String, &CallTree)> = titled(outcome)
        .into_iter()
        .filter_map(|(title, path)| Some((title, path.tree.as_ref()?)))
        .collect();
    if let Some(path) = &args.callgrind {
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let command = words.collect::<Vec<_>>().join(" ");
        output::write(path, |to| {
            Ok(report::callgrind(&trees, args.metric, &command, to)?)
        })
        .context("the calls for callgrind")?;
    }
    if let Some(path) = &args.folded {
        output::write(path, |to| Ok(report::folded(&trees, to)?))?;
    }
    Ok(())
}

/// Names of measurements in a shared file, with kernel and stack if there are several.
fn titled(outcome: &Outcome) -> Vec<(String, &PathProfile)> {
    let several = |count: fn(&Experiment) -> usize| {
        outcome
            .run
            .experiment
            .as_ref()
            .is_some_and(|e| count(e) > 1)
    };
    let mut kept = Vec::new();
    for cell in &outcome.run.cells {
        let path = outcome.profile(&cell.key).map(CellProfile::dominant);
        let Some(path) = path else { continue };
        let mut title = cell.title();
        if several(|experiment| experiment.configurations.len()) {
            title = format!("{title} {}", cell.configuration_title());
        }
        if several(|experiment| experiment.kernels.len()) {
            title = format!("{title} {}", cell.key.kernel);
        }
        kept.push((title, path));
    }
    kept
}

fn traces(outcome: &Outcome) -> String {
    let mut text = String::new();
    for (title, path) in titled(outcome) {
        let Some(tree) = &path.tree else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        let hook_of = |function: &str| {
            let mut hooks = path.hooks.iter();
            let cost = hooks.find(|cost| cost.function == function)?;
            Some(cost.hook.clone())
        };
        text.push_str(&report::hook_trace(&title, tree, &hook_of));
    }
    text
}

fn verdict(args: &ProfileArgs, document: &Document) -> Exit {
    if args.check {
        let mut all_explained = true;
        for (cell, counted, _) in document.hooked() {
            let functions: Vec<String> = compare::judge::unexplained(counted)
                .map(|function| format!("{} {:+}", function.function, function.difference))
                .collect();
            if let (Some(residual), false) = (&counted.residual, functions.is_empty()) {
                all_explained = false;
                note!(
                    "residual: {} under {} on {}: {:+} outside hooks: {}",
                    cell.title(),
                    cell.key.stack.join(","),
                    cell.key.kernel,
                    residual.instructions,
                    functions.join(", ")
                );
            }
        }
        if !all_explained {
            return Exit::Regression;
        }
    }
    let mut cells = document.cells.iter();
    if cells.any(|cell| cell.status() == Status::Failed) {
        Exit::CellsFailed
    } else {
        Exit::Fine
    }
}
