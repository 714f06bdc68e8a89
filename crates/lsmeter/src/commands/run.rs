// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run`: the main job.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use experiment::{Baseline, Experiment, Metric, Place, Run, Spec, Status};
use kernels::{Kernel, Store};
use lab::Setup;
use lab::plan::Manner;
use lab::prepare::Hooks;
use report::Options;
use report::published::{beside, beside_csv, beside_report};

use crate::cli::RunArgs;
use crate::commands::kernel::obtain;
use crate::commands::measure::{self, cancel_on_signals, find_qemu, read_spec, some};
use crate::commands::slurm::{self, Followed, Order};
use crate::config::{Config, cache_dir};
use crate::exit::Exit;
use crate::failure::usage;
use crate::output;
use crate::progress::Line;

/// Runs an experiment.
///
/// # Errors
/// If it makes no sense, or this machine cannot run it at all.
pub fn run(args: RunArgs) -> Result<Exit> {
    let config = Config::read()?;
    let (name, spec) = read_spec(&args.spec)?;
    let spec = spec.merge(flags(&args));
    let experiment = spec.clone().resolve()?;
    measure::check_selection(&experiment)?;
    let files = Files::choose(&args, &name)?;
    let exports = [
        args.export_csv.as_deref(),
        args.export_markdown.as_deref(),
        args.export_published.as_deref(),
    ];
    let journal = (!args.parts.slurm).then_some(files.journal.as_path());
    let paths = [Some(files.output.as_path()), journal];
    let paths: Vec<&Path> = paths.into_iter().chain(exports).flatten().collect();
    let stdout_taken = output::check_all(&paths, usize::from(args.json))?;
    let published = args.published || name == PAPER;
    if args.parts.slurm {
        let order = Order {
            args: &args,
            name: &name,
            spec: &spec,
            experiment: &experiment,
            directory: &files.journal,
        };
        return on_slurm(&order, &files, published, stdout_taken);
    }

    let store = Store::open(&cache_dir())?;
    let mut line = Line::new(args.quiet);
    let mut qemu = match experiment.place {
        Place::Lab => Some(find_qemu(&args.lab, &config, &experiment)?),
        Place::Host => None,
    };
    let kernels: Vec<Kernel> = match experiment.place {
        Place::Lab => obtain(
            &experiment.kernels,
            &store,
            &config,
            args.lab.offline,
            &line,
        )?,
        Place::Host => Vec::new(),
    };
    measure::check_stacks(&experiment, &store, &kernels)?;
    let cancel = cancel_on_signals()?;
    let timed = experiment
        .metrics
        .iter()
        .any(|metric| *metric != Metric::Instructions);
    if let Some(qemu) = qemu.as_mut().filter(|qemu| timed && qemu.kvm)
        && let Some(kernel) = kernels.first()
    {
        line.say("trying KVM");
        if let Some(reason) =
            lab::kvm::trial(qemu, &store, kernel, lab::catalogue::agent(), &cancel)?
        {
            qemu.kvm = false;
            line.keep(&format!(
                "warning: KVM does not boot {}: {reason}",
                kernel.name
            ));
        }
    }
    let setup = Setup {
        store: &store,
        kernels: &kernels,
        qemu: qemu.as_ref(),
        agent: lab::catalogue::agent(),
        journal: &files.journal,
        resume: files.resume,
        keep_samples: args.keep_samples,
        manner: Manner::default(),
        shard: args.parts.shard,
        parts: 1,
        hooks: args.with_hooks.then_some(Hooks {
            keep_trees: false,
            definitions: None,
        }),
    };
    let outcome = lab::run(&experiment, &setup, &cancel, &mut |progress| {
        line.follow(&progress)
    });
    line.done();
    let mut outcome = outcome?;
    if outcome.cancelled {
        anstream::eprintln!(
            "interrupted: {} cells are saved in {}",
            outcome.run.cells.len(),
            files.journal.display()
        );
        anstream::eprintln!("hint: the same command with --resume goes on");
        return Ok(Exit::CellsFailed);
    }
    if let Some(runs) = args.aa {
        let again = again(&experiment, &setup, &cancel, &mut line, runs, &outcome.run)?;
        let Some(again) = again else {
            anstream::eprintln!(
                "interrupted: the runs so far are saved in {} and beside it",
                files.journal.display()
            );
            anstream::eprintln!("hint: the same command with --resume goes on");
            return Ok(Exit::CellsFailed);
        };
        outcome.run.aa = Some(compare::aa(&again, &compare::Options::default())?);
        outcome.run.warnings.extend(compare::aa_doubt(&again));
        compare::keep_figures(&mut outcome.run, &again);
    }
    deliver(&args, &files, &outcome.run, published, stdout_taken)?;
    // Only now: whatever went wrong above, the cells are still there.
    for number in 1..=args.aa.unwrap_or(1) {
        let journal = files.journal_of(number);
        std::fs::remove_file(&journal)
            .with_context(|| format!("cannot remove {}", journal.display()))?;
    }
    if let Some(shard) = args.parts.shard
        && outcome.run.cells.is_empty()
    {
        anstream::eprintln!("shard {shard} has no cells: there are fewer parts than shards");
        return Ok(Exit::Fine);
    }
    Ok(ending(&args, &outcome.run))
}

/// How a run ends whose document is saved.
fn ending(args: &RunArgs, run: &Run) -> Exit {
    let has = |status| run.cells.iter().any(|cell| cell.status == status);
    let failed = has(Status::Failed) || !has(Status::Ok);
    match args.check {
        Some(percent) => verdict(run, percent, failed),
        None if failed => Exit::CellsFailed,
        None => Exit::Fine,
    }
}

/// Has Slurm run the experiment in parts.
fn on_slurm(order: &Order<'_>, files: &Files, published: bool, stdout: bool) -> Result<Exit> {
    let (args, shown) = (order.args, order.directory.display());
    let cancel = cancel_on_signals()?;
    let line = Line::new(args.quiet);
    let followed = slurm::follow(order, &cancel, &line);
    line.done();
    let merged = match followed? {
        Followed::Ended(merged) => merged,
        Followed::Cancelled => {
            anstream::eprintln!("interrupted: what was measured is saved in {shown}");
            anstream::eprintln!("hint: the same command with --resume --workdir {shown} goes on");
            return Ok(Exit::CellsFailed);
        }
    };
    deliver(args, files, &merged.run, published, stdout)?;
    if merged.run.share.is_some() {
        let numbers: Vec<String> = merged.missing_shards.iter().map(u32::to_string).collect();
        anstream::eprintln!("missing: shards {}", numbers.join(", "));
        anstream::eprintln!(
            "hint: the same command with --resume --workdir {shown} tries them again; the nodes' \
             messages are there"
        );
        return Ok(Exit::CellsFailed);
    }
    std::fs::remove_dir_all(order.directory).with_context(|| format!("cannot remove {shown}"))?;
    Ok(ending(args, &merged.run))
}

/// Runs the experiment again until there are `runs` of it, `first` included; None if that
/// was ended before. Each has a journal of its own, from which it is resumed. They follow each other as two runs do that a user compares, so that
/// what drifts from one to the next is in what is found.
fn again(
    experiment: &Experiment,
    setup: &Setup<'_>,
    cancel: &AtomicBool,
    line: &mut Line,
    runs: u32,
    first: &Run,
) -> Result<Option<Vec<Run>>> {
    let mut all = vec![first.clone()];
    for number in 2..=runs {
        line.keep(&format!("A/A: run {number} of {runs}"));
        let journal = numbered(setup.journal, number);
        let setup = Setup {
            journal: &journal,
            resume: journal.exists(),
            ..*setup
        };
        let outcome = lab::run(experiment, &setup, cancel, &mut |progress| {
            line.follow(&progress)
        });
        line.done();
        let outcome = outcome?;
        if outcome.cancelled {
            return Ok(None);
        }
        all.push(outcome.run);
    }
    Ok(Some(all))
}

/// Says what the check found, most telling first.
fn verdict(run: &Run, percent: f64, failed: bool) -> Exit {
    let found = report::check(run, percent / 100.0);
    for (what, lines) in [("worse", &found.worse), ("unclear", &found.unclear)] {
        for line in lines.iter().take(CHECK_LINES) {
            anstream::eprintln!("{what}: {line}");
        }
        if lines.len() > CHECK_LINES {
            anstream::eprintln!("{what}: and {} more", lines.len() - CHECK_LINES);
        }
    }
    anstream::eprintln!(
        "check: of {} cells compared, {} cost more than {percent} % above the baseline, {} may",
        found.compared,
        found.worse.len(),
        found.unclear.len()
    );
    match (found.worse.is_empty(), failed) {
        (false, _) => Exit::Regression,
        (true, true) => Exit::CellsFailed,
        (true, false) if found.compared == 0 || !found.unclear.is_empty() => Exit::Inconclusive,
        (true, false) => Exit::Fine,
    }
}

/// What the flags say, to be put over the preset or file.
pub fn flags(args: &RunArgs) -> Spec {
    let (place, dir) = measure::place(&args.place);
    Spec {
        place,
        dir,
        baseline: args.baseline.clone().map(Baseline::Stack),
        baseline_kernel: args.baseline_kernel.clone(),
        metrics: some(&args.metrics),
        rounds: args.rounds,
        throughput_warmup_s: args.throughput_warmup,
        throughput_period_s: args.throughput_period,
        ..measure::flags(&args.cells, &args.lab)
    }
}

/// Where the run document goes, and until then the journal; with Slurm a directory.
struct Files {
    output: PathBuf,
    journal: PathBuf,
    resume: bool,
}

/// The preset whose figures the paper has too.
const PAPER: &str = "paper";

/// Most lines that a check prints of each kind.
const CHECK_LINES: usize = 20;

const JOURNAL: &str = "journal";

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
        let output = args.output.clone().filter(|path| !output::is_stdout(path));
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
            output: args.output.clone().unwrap_or(output),
            journal: args.parts.workdir.clone().unwrap_or(beside.into()),
            resume,
        })
    }

    fn choose(args: &RunArgs, name: &str) -> Result<Files> {
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
            let journal = match (resume, &args.output) {
                (Some(journal), _) => journal.clone(),
                (None, Some(output)) if !output::is_stdout(output) => {
                    with_journal(output.clone(), true).journal
                }
                _ => newest_journal(name)?,
            };
            let output = args
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
        let files = match &args.output {
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
    fn journal_of(&self, number: u32) -> PathBuf {
        match number {
            1 => self.journal.clone(),
            _ => numbered(&self.journal, number),
        }
    }
}

fn numbered(journal: &Path, number: u32) -> PathBuf {
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

fn deliver(
    args: &RunArgs,
    files: &Files,
    run: &Run,
    published: bool,
    stdout_taken: bool,
) -> Result<()> {
    output::write(&files.output, |to| Ok(run.write(to)?))?;
    let mut report = report::report(
        run,
        &Options {
            details: args.details,
        },
    );
    if published {
        let theirs = beside_report(&beside(run));
        report.tables.extend(theirs.tables);
        report.warnings.extend(theirs.warnings);
    }
    if let Some(path) = &args.export_published {
        output::write(path, |to| Ok(beside_csv(&beside(run), to)?))?;
    }
    if args.json {
        output::write(Path::new("-"), |to| Ok(run.write(to)?))?;
    } else if !stdout_taken {
        output::print_report(&report)?;
    }
    if let Some(path) = &args.export_csv {
        output::write(path, |to| Ok(report::csv(run, to)?))?;
    }
    if let Some(path) = &args.export_markdown {
        output::write(path, |to| {
            Ok(to.write_all(report::markdown(&report).as_bytes())?)
        })?;
    }
    if !output::is_stdout(&files.output) && !args.quiet {
        anstream::eprintln!("saved as {}", files.output.display());
    }
    Ok(())
}
