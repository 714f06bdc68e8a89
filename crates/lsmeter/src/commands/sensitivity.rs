// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter sensitivity`: permission checks per operation.

use anyhow::Result;
use kernels::Store;
use model::{
    Caches, Cell, Delay, DelayModule, Document, Exit, Experiment, FileSystem, Metric, Place, Slope,
    Spec, Stack, StackError, Status, Warning, WarningKind,
};
use sensitivity::{LiveRequest, Predict, Request};

use crate::cli::SensitivityArgs;
use crate::commands::kernel;
use crate::commands::measure::{
    self, Machines, cancel_on_signals, check_selection, lab_flags, note_interrupted, read_delays,
    read_stack,
};
use crate::config::{Config, cache_dir};
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::progress::Line;

/// Default benchmarks. The others make so many checks that delays would not be long compared with
/// the overhead of a wait.
const BENCHMARKS: [&str; 2] = ["*", "!treewalk:full*"];
/// On the host, delays of a tree walk cannot be shortened, because its checks were not counted.
const BENCHMARKS_ON_HOST: [&str; 2] = ["*", "!treewalk:*"];
const DEFAULT_STACK: &str = "capability";
/// Operations counted without delays, to find the dominant path.
const SAMPLES: u32 = 16;
const TURNS: u32 = 15;

pub fn sensitivity(args: &SensitivityArgs) -> Result<Exit> {
    let config = Config::read()?;
    let delays = read_delays(&args.delays)?;
    let hooks = hooks(&args.hooks)?;
    let predict = predict(args.predict.as_deref())?;
    let experiment = resolve(args)?;
    let stdout = args.out.check(&[], 0)?;
    let mut line = Line::new(args.progress.quiet);
    let document = if experiment.place == Place::Host {
        let request = LiveRequest {
            experiment: &experiment,
            delays: &delays,
            hooks: &hooks,
            turns: args.lab.samples.unwrap_or(TURNS),
            store: &Store::open(&cache_dir())?,
        };
        let cancel = cancel_on_signals()?;
        sensitivity::sweep_here(&request, &cancel, &mut |event| line.follow(event))
    } else {
        let machines = Machines::find(&args.lab, &config, &experiment, &line)?;
        let cancel = cancel_on_signals()?;
        let request = Request {
            experiment: &experiment,
            stack: &experiment.configurations[0].stack,
            module: args.module,
            delays: &delays,
            hooks: &hooks,
            caches: match args.cold {
                true => Caches::ALL,
                false => &[Caches::Warm],
            },
            store: &machines.store,
            kernels: &machines.kernels,
            qemu: machines.only_qemu()?,
            predict: &predict,
            reuse: args.progress.reuse(),
        };
        sensitivity::sweep(&request, &cancel, &mut |event| line.follow(event))
    };
    line.done();
    let Some(document) = document? else {
        note_interrupted();
        return Ok(Exit::CellsFailed);
    };
    deliver(args, stdout, &document)?;
    if document.warnings.iter().any(is_interrupted) {
        note_interrupted();
    }
    Ok(verdict(args, &document))
}

fn is_interrupted(warning: &Warning) -> bool {
    warning.kind == WarningKind::Interrupted
}

fn hooks(words: &[String]) -> Result<Vec<String>> {
    let words: Vec<String> = words
        .iter()
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect();
    let refuse = |what| {
        Err(usage(
            what,
            "use for example --hooks file_open, or --hooks all",
        ))
    };
    match &words[..] {
        [] => refuse("--hooks is empty"),
        [word] if word == "all" => Ok(Vec::new()),
        _ if words.iter().any(|word| word == "all") => {
            refuse("--hooks contains both `all` and hook names")
        }
        _ => Ok(words),
    }
}

fn predict(text: Option<&str>) -> Result<Predict> {
    let Some(text) = text else {
        return Ok(Predict::Nothing);
    };
    if let Ok(decision) = text.parse::<f64>() {
        if !(0.0..=1e9).contains(&decision) {
            return Err(usage(
                format!("--predict {text} is out of range"),
                "give 0 to 1e9 instructions, or modules, for example --predict selinux",
            ));
        }
        return Ok(Predict::Decision(decision));
    }
    let modules: Stack = text.parse().map_err(|error: StackError| {
        usage(
            &error,
            "give a number of instructions, or modules, for example --predict selinux",
        )
    })?;
    Ok(Predict::Modules(modules.names()))
}

fn resolve(args: &SensitivityArgs) -> Result<Experiment> {
    let (place, dir) = measure::place(&args.place);
    let spec = match place {
        Some(Place::Host) => on_host(args, dir)?,
        Some(Place::Um) => {
            return Err(usage(
                "lsmeter sensitivity does not run on UML kernels",
                "leave out --on",
            ));
        }
        _ => in_lab(args)?,
    };
    let experiment = kernel::expand(spec)?.resolve()?;
    if !experiment.custom.is_empty() {
        return Err(usage(
            "lsmeter sensitivity does not load custom policies",
            "leave out --set custom",
        ));
    }
    check_selection(&experiment)?;
    Ok(experiment)
}

fn selection(args: &SensitivityArgs, benchmarks: &[&str]) -> Result<Spec> {
    let mut chosen = measure::keys(&args.selection)?;
    if chosen.benchmarks.is_none() && chosen.suites.is_none() {
        chosen.suites = Some(measure::SUITES_OF_FILES.to_vec());
        chosen.benchmarks = Some(benchmarks.iter().map(|&name| name.to_owned()).collect());
    }
    Ok(chosen)
}

/// Time on the running kernel: only BPF programs can delay there, and hooks are not counted.
fn on_host(args: &SensitivityArgs, dir: Option<String>) -> Result<Spec> {
    let of_the_lab = [
        (
            "--module tunable",
            args.module == Some(DelayModule::Tunable),
        ),
        ("--stack", args.stack != DEFAULT_STACK),
        ("--cold", args.cold),
        ("--predict", args.predict.is_some()),
        ("--fail-above", args.fail_above.is_some()),
    ];
    if let Some((flag, _)) = of_the_lab.into_iter().find(|(_, set)| *set) {
        return Err(usage(
            format!("{flag} does not work with --on host"),
            format!("leave out {flag}, or --on host"),
        ));
    }
    Ok(Spec {
        place: Some(Place::Host),
        dir,
        metrics: Some(vec![Metric::Time]),
        ..lab_flags(&args.lab)?.merge(selection(args, &BENCHMARKS_ON_HOST)?)
    })
}

fn in_lab(args: &SensitivityArgs) -> Result<Spec> {
    let stack = read_stack(&args.stack)?;
    if stack.is_none() || stack.is_default() {
        return Err(usage(
            format!("the delaying module cannot be added to the stack {stack}"),
            "name the modules: --stack capability,selinux",
        ));
    }
    // tmpfs does nothing that varies from one call to the next.
    let filesystem = match (args.lab.filesystem, args.cold) {
        (Some(FileSystem::Tmpfs), true) => {
            return Err(usage(
                "--cold does not work with tmpfs: its files exist only in caches",
                "leave out --fs, or use --fs ext4",
            ));
        }
        (Some(filesystem), _) => filesystem,
        (None, true) => FileSystem::Ext4,
        (None, false) => FileSystem::Tmpfs,
    };
    Ok(Spec {
        stacks: Some(vec![args.stack.clone()]),
        place: Some(Place::Lab),
        metrics: Some(vec![Metric::Instructions]),
        samples: Some(args.lab.samples.unwrap_or(SAMPLES)),
        filesystem: Some(filesystem),
        ..lab_flags(&args.lab)?.merge(selection(args, &BENCHMARKS)?)
    })
}

fn deliver(args: &SensitivityArgs, stdout: StdoutTaken, document: &Document) -> Result<()> {
    let by_hook = args.by_hook.then_some(true);
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::sensitivity_report(document, by_hook),
        records: &|| report::sensitivity_records(document),
    };
    args.out.deliver(stdout, &found).map(drop)
}

fn verdict(args: &SensitivityArgs, document: &Document) -> Exit {
    let whole = || {
        let cells = document.cells.iter();
        cells.filter(|cell| cell.key.delay.as_ref().is_some_and(Delay::is_whole))
    };
    let slopes = || whole().filter_map(|cell| Some((cell, cell.slope()?)));
    if let Some(tolerance) = args.fail_above {
        let apart: Vec<(&Cell, &Slope)> = slopes()
            .filter(|(_, slope)| slope.difference().is_some_and(|d| d.abs() > tolerance))
            .collect();
        for (cell, slope) in &apart {
            note!(
                "differs: {} on {}: {:.4} checks per operation, but {} counted",
                cell.title(),
                cell.key.kernel,
                slope.slope,
                slope.counted.unwrap_or_default()
            );
        }
        if !apart.is_empty() {
            return Exit::Regression;
        }
    }
    if document.warnings.iter().any(is_interrupted)
        || whole().any(|cell| cell.status() == Status::Failed)
    {
        Exit::CellsFailed
    } else if args.fail_above.is_some() && !slopes().any(|(_, slope)| slope.counted.is_some()) {
        Exit::Inconclusive
    } else {
        Exit::Fine
    }
}
