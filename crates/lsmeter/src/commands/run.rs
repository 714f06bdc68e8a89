// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run`: measures benchmarks or programs.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context as _, Result};
use compare::{Budget, Named};
use indicatif::HumanDuration;
use kernels::Store;
use lab::environment::cores;
use lab::plan::{Plan, Visit};
use lab::prepare::Hooks;
use lab::root::Root;
use lab::{Ground, Setup};
use model::{
    Baseline, ComparisonDocument, Document, Exit, Experiment, Place, Shard, Spec, Status, nearest,
};
use report::ComparisonOptions;

use crate::cli::RunArgs;
use crate::commands::compare::verdict;
use crate::commands::foreign;
use crate::commands::given;
use crate::commands::kernel;
use crate::commands::measure::{
    self, Machines, Signals, is_timed, note_interrupted, read_spec, unique,
};
use crate::commands::programs;
use crate::config::{Config, cache_dir};
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::output;
use crate::progress::Line;

pub fn run(mut args: RunArgs) -> Result<Exit> {
    let limit = args.fail_above.as_deref().map(Budget::of_all).transpose();
    let limit = limit.context("--fail-above")?;
    let config = Config::read()?;
    let of_processes = args.spec == PAPER && args.place.place == Some(Place::Um);
    let (name, spec) = read_spec(if of_processes { PAPER_UM } else { &args.spec })?;
    foreign::check(
        &spec,
        args.place.place,
        &args.cells.selection,
        &args.programs,
    )?;
    let spec = spec
        .merge(flags(&args)?)
        .merge(given::flags(&args.cells)?)
        .merge(programs::flags(&args.programs)?);
    let spec = kernel::expand(spec)?;
    let mut experiment = spec.resolve()?;
    if args.shard.is_some() {
        programs::no_parts(&experiment)?;
    }
    measure::check_events(args.events, &experiment)?;
    lab::policy::take_in(&mut experiment)?;
    if args.dry_run {
        return dry_run(&experiment, args.shard);
    }
    let signals = Signals::watch()?;
    let root = programs::root(&mut experiment, &signals, args.progress.quiet)?;
    measure::check_selection(&experiment)?;
    check_details(&args, &experiment)?;
    let name = match args.shard {
        Some(shard) => format!("{name}-{}of{}", shard.index, shard.count),
        None => name,
    };
    args.out.output.get_or_insert_with(|| unique(&name));
    let stdout = args.out.check(&[], 0)?;
    let with = (&signals, root.as_ref());
    let Some(run) = measured(&args, &config, &experiment, with)? else {
        return Ok(Exit::CellsFailed);
    };
    let found = compared(&run, limit);
    deliver(&args, &run, found.as_ref(), stdout).inspect_err(|error| rescue(&run, error))?;
    if let Some(shard) = args.shard
        && run.cells.is_empty()
    {
        note!("shard {shard} is empty: there are more shards than parts");
        return Ok(Exit::Fine);
    }
    Ok(ending(found.as_ref(), &run))
}

/// Saves a run in the temporary directory if its output cannot be written.
fn rescue(run: &Document, error: &anyhow::Error) {
    if output::is_closed_pipe(error) {
        return;
    }
    let path = std::env::temp_dir().join(unique("run"));
    match output::write(&path, |to| Ok(run.write(to)?)) {
        Ok(()) => note!("the result was saved as {} instead", path.display()),
        Err(error) => note!("the result is lost, except cached counts: {error:#}"),
    }
}

/// Prints what would be measured. Kernels are neither looked up nor fetched.
fn dry_run(experiment: &Experiment, shard: Option<Shard>) -> Result<Exit> {
    let mut plan = Plan::new(experiment).map_err(lab::LabError::from)?;
    if let Some(shard) = shard {
        plan = plan.shard(experiment, shard);
    }
    let each = match experiment.place {
        Place::Host => "processes",
        Place::Lab | Place::Um => "boots",
    };
    let mut text = String::new();
    let (mut measurements, mut boots) = (0, 0);
    for (kernel, name) in experiment.kernels.iter().enumerate() {
        for (number, configuration) in experiment.configurations.iter().enumerate() {
            let visits = plan.visits.iter();
            let visits =
                visits.filter(|visit| (visit.kernel, visit.configuration) == (kernel, number));
            let visits: Vec<&Visit> = visits.collect();
            let cells: BTreeSet<usize> = visits
                .iter()
                .flat_map(|visit| visit.cells.clone())
                .collect();
            if !visits.is_empty() {
                let (n, of_them) = (cells.len(), visits.len());
                let title = configuration.title();
                text += &format!("{name} under {title}: measurements {n}, {each} {of_them}\n");
                measurements += n;
                boots += of_them;
            }
        }
    }
    let jobs = experiment.jobs.map_or(cores(), |jobs| jobs as usize);
    let jobs = jobs.min(boots).max(1);
    let [counting, timed] = plan.seconds(experiment);
    let seconds = Duration::from_secs(counting.div_ceil(jobs as u64) + timed);
    // The time that programs take is unknown.
    let time = match experiment.programs {
        Some(_) => String::new(),
        None => format!(", about {} on idle processors", HumanDuration(seconds)),
    };
    text += &format!("all: measurements {measurements}, {each} {boots}{time}\n");
    output::print(&text)?;
    Ok(Exit::Fine)
}

/// Measures in the lab or on this machine. Prints a note and returns None if interrupted.
fn measured(
    args: &RunArgs,
    config: &Config,
    experiment: &Experiment,
    (signals, root): (&Signals, Option<&Root>),
) -> Result<Option<Document>> {
    let mut line = Line::new(args.progress.quiet);
    let mut machines = match experiment.place {
        Place::Lab => {
            Some(signals.unattended(|| Machines::find(&args.lab, config, experiment, &line))?)
        }
        Place::Host | Place::Um => None,
    };
    let programs = match experiment.place {
        Place::Um => {
            signals.unattended(|| measure::find_kernels(&args.lab, config, experiment, &line))?
        }
        Place::Lab | Place::Host => Vec::new(),
    };
    let cancel = &signals.cancel;
    if let Some(machines) = &mut machines
        && is_timed(experiment)
        && !lab::plan::leaves_time_to_processes(
            experiment,
            machines.kernels.iter().map(Ground::new),
        )
    {
        try_kvm(machines, cancel, &line)?;
    }
    let store = Store::open(&cache_dir())?;
    let setup = Setup {
        kernels: machines
            .as_ref()
            .map_or(&programs[..], |machines| &machines.kernels),
        qemu: machines.as_ref().map(|machines| &machines.qemu),
        others: machines.as_ref().map_or(&[], |machines| &machines.others),
        root,
        keep_samples: args.keep_samples,
        shard: args.shard,
        hooks: Some(Hooks {
            events: args.events,
            keep_trees: args.counts_hooks(),
            optional: !args.counts_hooks(),
            ..Hooks::default()
        }),
        reuse: args.progress.reuse(),
        ..Setup::new(&store)
    };
    let outcome = lab::run(experiment, &setup, cancel, &mut |event| line.follow(event));
    line.done();
    let mut outcome = outcome?;
    if outcome.cancelled {
        note_interrupted();
        return Ok(None);
    }
    if let Some(runs) = args.aa {
        let again = again(experiment, &setup, cancel, &mut line, runs, &outcome.run)?;
        let Some(again) = again else {
            note_interrupted();
            return Ok(None);
        };
        outcome.run.aa = Some(compare::aa(&again, &compare::Options::default())?);
        compare::keep_figures(&mut outcome.run, &again);
    }
    Ok(Some(outcome.run))
}

/// Falls back to emulation if KVM does not boot the kernel.
fn try_kvm(machines: &mut Machines, cancel: &AtomicBool, line: &Line) -> Result<()> {
    let Machines {
        store,
        qemu,
        kernels,
        ..
    } = machines;
    let mut machines = kernels.iter().filter(|kernel| !kernel.is_program);
    let Some(kernel) = machines.next().filter(|_| qemu.kvm) else {
        return Ok(());
    };
    line.say("testing KVM");
    let trial = lab::kvm::trial(qemu, store, kernel, lab::catalogue::agent(), cancel)?;
    if let Some(reason) = trial {
        qemu.kvm = false;
        let name = &kernel.name;
        line.keep(&format!("warning: KVM does not boot {name}: {reason}"));
    }
    Ok(())
}

fn ending(found: Option<&ComparisonDocument>, run: &Document) -> Exit {
    let has = |status| run.cells.iter().any(|cell| cell.status() == status);
    let failed = has(Status::Failed) || !has(Status::Ok);
    match found.map(|found| (verdict(found), found.gate.is_some())) {
        Some((exit, true)) if exit == Exit::Regression || !failed => exit,
        _ if failed => Exit::CellsFailed,
        _ => Exit::Fine,
    }
}

/// Comparison with the baselines, if kernels are compared or there is a limit.
fn compared(run: &Document, budget: Option<Budget>) -> Option<ComparisonDocument> {
    let mut experiment = run.experiment.iter();
    let explain = experiment.any(|experiment| experiment.baseline_kernel.is_some());
    let options = compare::Options {
        explain,
        budget,
        ..compare::Options::default()
    };
    let (name, document) = ("the run", run);
    let found = || compare::with_baselines(Named { name, document }, &options);
    (explain || options.budget.is_some()).then(found)
}

/// Repeats the experiment until there are `runs` runs including `first`; None if interrupted. Runs
/// follow one another as if a user started them, so that they include the drift between runs.
fn again(
    experiment: &Experiment,
    setup: &Setup<'_>,
    cancel: &AtomicBool,
    line: &mut Line,
    runs: u32,
    first: &Document,
) -> Result<Option<Vec<Document>>> {
    let mut all = vec![first.clone()];
    for number in 2..=runs {
        line.keep(&format!("A/A: run {number} of {runs}"));
        // The same machine would give the same counts.
        let setup = &Setup {
            machine: number - 1,
            ..*setup
        };
        let outcome = lab::run(experiment, setup, cancel, &mut |event| line.follow(event));
        line.done();
        let outcome = outcome?;
        if outcome.cancelled {
            return Ok(None);
        }
        all.push(outcome.run);
    }
    Ok(Some(all))
}

pub fn flags(args: &RunArgs) -> Result<Spec> {
    let (place, dir) = measure::place(&args.place);
    let spec = Spec {
        place,
        dir,
        baseline: args.baseline.clone().map(Baseline::Stack),
        baseline_kernel: args.baseline_kernel.clone(),
        metrics: Some(args.metrics.clone()).filter(|metrics| !metrics.is_empty()),
        ..Spec::default()
    };
    Ok(spec.or(measure::flags(&args.cells, &args.lab)?))
}

fn check_details(args: &RunArgs, experiment: &Experiment) -> Result<()> {
    let Some(Some(wanted)) = &args.details else {
        return Ok(());
    };
    let jobs = lab::plan::jobs(experiment, kernels::arch::native()).map_err(lab::LabError::from)?;
    if jobs
        .iter()
        .any(|job| wanted.matches(&job.benchmark, &job.variant))
    {
        return Ok(());
    }
    let near = nearest(
        &wanted.to_string(),
        jobs.iter().map(|job| job.benchmark.as_str()),
    );
    let hint = match near {
        Some(near) => format!("--details={near}"),
        None => "name an operation in this run, for example --details=open:AA".to_owned(),
    };
    Err(usage(
        format!("--details={wanted} matches no operation in this run"),
        hint,
    ))
}

const PAPER: &str = "paper";
const PAPER_UM: &str = "paper-um";

fn deliver(
    args: &RunArgs,
    run: &Document,
    found: Option<&ComparisonDocument>,
    stdout: StdoutTaken,
) -> Result<()> {
    let details = args.details.is_some();
    let tables = || {
        let mut report = report::report(run, details);
        report.tables.extend(report::depth_tables(run));
        if let Some(Some(wanted)) = &args.details {
            let trees = report::call_tables(run, wanted);
            if trees.is_empty() {
                let none =
                    "--details matches no operation with a dominant path under stack and baseline";
                report.warnings.push(none.to_owned());
            }
            report.tables.extend(trees);
        }
        if let Some(found) = found {
            let changed = ComparisonOptions { changed: true };
            let found = report::comparison_report(found, &changed);
            report.tables.extend(found.tables);
        }
        report
    };
    let found = Delivery {
        document: &|to| Ok(run.write(to)?),
        tables: &tables,
        records: &|| report::run_records(run),
    };
    args.out.deliver(stdout, &found)?;
    let saved = args.out.output.iter();
    let saved = saved.filter(|path| !output::is_stdout(path) && !args.progress.quiet);
    for path in saved {
        note!("saved as {}", path.display());
    }
    Ok(())
}
