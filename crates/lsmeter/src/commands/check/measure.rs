// SPDX-License-Identifier: GPL-2.0-or-later
//! Asks each instrument that can be asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use diagnostics::Failure;
use experiment::{
    Caches, Cell, DEFAULT_KERNEL, Document, Experiment, FileSystem, Instrument, Key, Metric,
    Pattern, Place, Selection, Spec, Status,
};
use lab::journal::Journals;
use lab::prepare::Hooks;
use lab::{LabError, Setup};
use sensitivity::{Predict, Request, SweepError};

use super::guest::{self, Counted};
use super::input::Documents;
use crate::cli::CheckArgs;
use crate::commands::journals::beside;
use crate::commands::kernel;
use crate::commands::measure::{
    Machines, check_selection, lab_flags, read_delays, read_stack, some,
};
use crate::config::Config;
use crate::failure::usage;
use crate::progress::Line;

const BENCHMARKS: [&str; 2] = ["*", "!treewalk:full*"];
const STACKS: [&str; 2] = ["capability", "capability,selinux"];
/// As `lsmeter sensitivity` has them by default.
const DELAYS: &str = "0..110us/10us";
const SLOPE_SAMPLES: u32 = 16;

/// What is measured, with `stacks`; a number of samples unless the user wants another.
fn experiment(args: &CheckArgs, stacks: &[String], samples: Option<u32>) -> Result<Experiment> {
    let own = || match args.suites.is_empty() {
        true => BENCHMARKS.map(str::to_owned).to_vec(),
        false => vec!["*".to_owned()],
    };
    let spec = Spec {
        kernels: Some(vec![
            args.kernel
                .clone()
                .unwrap_or_else(|| DEFAULT_KERNEL.to_owned()),
        ]),
        stacks: Some(stacks.to_vec()),
        place: Some(Place::Lab),
        metrics: Some(vec![Metric::Instructions]),
        suites: some(&args.suites),
        benchmarks: Some(some(&args.benchmarks).unwrap_or_else(own)),
        // tmpfs does nothing that varies from one call to the next.
        filesystem: Some(args.lab.fs.unwrap_or(FileSystem::Tmpfs)),
        samples: args.lab.samples.or(samples),
        ..lab_flags(&args.lab)
    };
    let experiment = kernel::expand(spec)?.resolve()?;
    kernel::is_one(&experiment)?;
    check_selection(&experiment)?;
    Ok(experiment)
}

/// The stacks, the first of which the others are compared with.
fn stacks(args: &CheckArgs) -> Result<Vec<String>> {
    if args.stacks.is_empty() {
        return Ok(STACKS.map(str::to_owned).to_vec());
    }
    for (at, text) in args.stacks.iter().enumerate() {
        let stack = read_stack(text)?;
        if stack.is_none() || stack.is_default() {
            return Err(usage(
                format!("of the stack {stack} it is not known what is in it"),
                "name the modules of the stack: capability,selinux",
            ));
        }
        if args.stacks[..at].contains(text) {
            return Err(usage(
                format!("{text} is named twice"),
                "name each stack once",
            ));
        }
    }
    Ok(args.stacks.clone())
}

/// Measures, and keeps what each instrument told as soon as it did if the user wants it kept.
/// None if the user ended it.
///
/// # Errors
/// If what is asked for makes no sense, or this machine cannot do it at all.
pub fn measure(
    args: &CheckArgs,
    config: &Config,
    journals: &Journals,
    cancel: &AtomicBool,
    line: &mut Line,
) -> Result<Option<Documents>> {
    let stacks = stacks(args)?;
    let experiment = experiment(args, &stacks, None)?;
    let machines = Machines::find(&args.lab, config, &experiment, line)?;
    let lab = Lab {
        machines: &machines,
        journals,
        cancel,
    };
    let asked = |instrument| !args.skip.contains(&instrument);
    let keep = |documents: &Documents| match &args.keep {
        Some(directory) => documents.keep(directory),
        None => Ok(()),
    };
    let mut documents = Documents::default();
    if asked(Instrument::Profile) {
        let done = profile(&experiment, &lab, line, &mut documents)?;
        if !done {
            return Ok(None);
        }
        keep(&documents)?;
    }
    if asked(Instrument::Monitor) {
        let blind_to = args.blind_to.as_deref();
        if !count(&experiment, blind_to, &lab, line, &mut documents)? {
            return Ok(None);
        }
        keep(&documents)?;
    }
    if asked(Instrument::Sensitivity) {
        let experiment = self::experiment(args, &stacks[..1], Some(SLOPE_SAMPLES))?;
        let done = sweep(&experiment, &lab, line, &mut documents)?;
        if !done {
            return Ok(None);
        }
    }
    Ok(Some(documents))
}

/// What measuring takes besides what is measured.
struct Lab<'a> {
    machines: &'a Machines,
    journals: &'a Journals,
    cancel: &'a AtomicBool,
}

/// The journals of what failed in the profile and is tried again, and of the sweep; the
/// profile's is the first.
const AGAIN: u32 = 2;
const SWEEP: u32 = 3;

/// What the monitor counts in a boot of its own, or has counted before. False if cancelled.
fn count(
    experiment: &Experiment,
    blind_to: Option<&str>,
    lab: &Lab<'_>,
    line: &Line,
    documents: &mut Documents,
) -> Result<bool> {
    let kept = beside(&lab.journals.first, "counts");
    if lab.journals.resume
        && let Some(document) =
            guest::counted_before(&kept, experiment, lab.machines.kernels[0].arch())
    {
        documents.counts = Some(document);
        return Ok(true);
    }
    let kernel = &experiment.kernels[0];
    line.say(format!("{kernel}: the monitor boots"));
    match guest::count(experiment, lab.machines, blind_to, lab.cancel, line)? {
        Counted::Document(document) => {
            crate::output::write(&kept, |to| Ok(document.write(to)?))?;
            documents.counts = Some(*document);
        }
        Counted::Unavailable(why) => documents.silence(Instrument::Monitor, Some(why)),
        Counted::Cancelled => return Ok(false),
    }
    Ok(true)
}

/// Hooks under each stack, and further stacks against the first. What failed is tried again
/// in a boot of its own: where no window was clean, others before it may have been to blame.
/// False if cancelled.
fn profile(
    experiment: &Experiment,
    lab: &Lab<'_>,
    line: &mut Line,
    documents: &mut Documents,
) -> Result<bool> {
    let Some((mut profile, mut differences)) = profiles(experiment, lab, 1, line)? else {
        return Ok(false);
    };
    let failed = failed(&profile)?;
    if !failed.is_empty() {
        let again = Experiment {
            selection: Selection {
                benchmarks: failed,
                ..experiment.selection.clone()
            },
            ..experiment.clone()
        };
        let Some(again) = profiles(&again, lab, AGAIN, line)? else {
            return Ok(false);
        };
        replace(&mut profile, again.0);
        replace(&mut differences, again.1);
    }
    documents.profile = Some(profile);
    if experiment.configurations.len() > 1 {
        documents.differences = Some(differences);
    }
    Ok(true)
}

/// Operations that failed under any stack.
fn failed(profile: &Document) -> Result<Vec<Pattern>> {
    let mut patterns: Vec<Pattern> = Vec::new();
    let failed = |cell: &&Cell| cell.status() == Status::Failed;
    for cell in profile.cells.iter().filter(failed) {
        let (benchmark, variant) = (cell.key.benchmark(), cell.key.variant());
        let pattern: Pattern = format!("{benchmark}:{variant}").parse()?;
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    Ok(patterns)
}

/// Puts what succeeded now in the place of what failed.
fn replace(document: &mut Document, again: Document) {
    let again = again.cells.into_iter();
    let mut again: BTreeMap<Key, Cell> = again.map(|cell| (cell.key.clone(), cell)).collect();
    let failed = |cell: &&mut Cell| cell.status() == Status::Failed;
    for cell in document.cells.iter_mut().filter(failed) {
        if let Some(new) = again.remove(&cell.key) {
            *cell = new;
        }
    }
}

/// Hooks under each stack, and further stacks against the first. None if cancelled.
fn profiles(
    experiment: &Experiment,
    lab: &Lab<'_>,
    journal: u32,
    line: &mut Line,
) -> Result<Option<(Document, Document)>> {
    let journal = lab.journals.number(journal);
    let setup = Setup {
        kernels: &lab.machines.kernels,
        qemu: Some(&lab.machines.qemu),
        hooks: Some(Hooks::default()),
        ..Setup::new(&lab.machines.store, &journal)
    };
    let outcome = lab::run(experiment, &setup, lab.cancel, &mut |event| {
        line.follow(event)
    })?;
    if outcome.cancelled {
        return Ok(None);
    }
    let first = &experiment.configurations[0].stack;
    Ok(Some((
        lab::profiles::document(&outcome, None),
        lab::profiles::document(&outcome, Some(first)),
    )))
}

/// Slopes under the first stack. False if cancelled.
fn sweep(
    experiment: &Experiment,
    lab: &Lab<'_>,
    line: &mut Line,
    documents: &mut Documents,
) -> Result<bool> {
    let delays = read_delays(DELAYS)?;
    let journals = Journals {
        first: lab.journals.number(SWEEP).first,
        resume: lab.journals.resume,
    };
    let request = Request {
        experiment,
        stack: &experiment.configurations[0].stack,
        module: None,
        delays: &delays,
        hooks: &[],
        caches: &[Caches::Warm],
        store: &lab.machines.store,
        kernels: &lab.machines.kernels,
        qemu: &lab.machines.qemu,
        predict: &Predict::Nothing,
        journals: &journals,
    };
    match sensitivity::sweep(&request, lab.cancel, &mut |event| line.follow(event)) {
        Ok(Some(document)) => documents.sensitivity = Some(document),
        Ok(None) => return Ok(false),
        Err(error) if cannot_delay(&error) => {
            documents.silence(Instrument::Sensitivity, Some(error.to_string()));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}

/// Is it the kernel that the sweep asks too much of?
fn cannot_delay(error: &SweepError) -> bool {
    matches!(
        error,
        SweepError::NoModule { .. }
            | SweepError::Refused { .. }
            | SweepError::Lab(LabError::Untold(_))
    )
}

/// Makes the directory in which documents are kept, before minutes are spent on them.
///
/// # Errors
/// If it cannot be written to.
pub fn directory(path: &Path) -> Result<()> {
    let made = std::fs::create_dir_all(path);
    made.map_err(|error| {
        let what = format!("cannot make {}: {error}", path.display());
        Failure::environment(what, "name a directory that you may write to")
    })?;
    crate::output::check(&path.join("profile.json"))
}
