// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter learn`: a policy of TOMOYO, learned in one boot for the next.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use diagnostics::{Exit, Failure};
use experiment::{Access, Metric, Place, Policy, Spec, Status};
use lab::learn::{KindCount, Learned, Lesson};
use lab::policy::LEARNING_DOMAIN;
use report::printable;
use serde::Serialize;

use crate::cli::LearnArgs;
use crate::commands::given;
use crate::commands::kernel;
use crate::commands::list::columns;
use crate::commands::measure::{
    Machines, Signals, check_selection, lab_flags, read_spec, read_stack, selection,
};
use crate::config::Config;
use crate::failure::usage;
use crate::output;
use crate::progress::Line;

const MODULE: &str = "tomoyo";
/// Learned if the user names nothing: something has to be allowed, to prove a policy by.
const ALLOWED: &str = "read /etc/hosts";

/// Learns.
///
/// # Errors
/// If what is asked for makes no sense, or this machine or the kernel cannot do it.
pub fn learn(args: &LearnArgs) -> Result<Exit> {
    if args.lab.jobs.is_some() {
        return Err(usage(
            "--jobs is of several virtual machines, and TOMOYO learns in one",
            "leave it out",
        ));
    }
    check_directory(&args.output, args.force)?;
    let (name, spec) = read_spec(&args.spec)?;
    let allowed = allowed(args, &spec)?;
    let spec = kernel::expand(benchmarks(&name, spec, args)?)?;
    let experiment = spec.resolve()?;
    if experiment.kernels.len() > 1 {
        return Err(usage(
            format!(
                "a policy is learned on one kernel, and here are {}",
                experiment.kernels.join(", ")
            ),
            format!("choose one: --kernel {}", experiment.kernels[0]),
        ));
    }
    check_selection(&experiment)?;
    let config = Config::read()?;
    let mut line = Line::new(args.quiet);
    let signals = Signals::watch()?;
    let found = signals.unattended(|| Machines::find(&args.lab, &config, &experiment, &line));
    let machines = found?;
    let lesson = Lesson {
        experiment: &experiment,
        store: &machines.store,
        kernel: &machines.kernels[0],
        qemu: machines.only_qemu()?,
        allowed: &allowed,
    };
    let learned = lab::learn::learn(&lesson, &signals.cancel, &mut |event| line.follow(event));
    line.done();
    let learned = learned?;
    let files = write(&args.output, &learned)?;
    tell(args, &lesson, &learned, &files)?;
    let failed = |status| learned.tried.iter().any(|of| of.status == status);
    Ok(if failed(Status::Failed) || !failed(Status::Ok) {
        Exit::CellsFailed
    } else {
        Exit::Fine
    })
}

/// A policy is not written over unasked; looked at before a boot, not after it.
fn check_directory(path: &Path, force: bool) -> Result<()> {
    match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
        Ok(true) if !force => Err(usage(
            format!("{} is not empty", path.display()),
            "name another directory, or write over the policy that is there with --force",
        )),
        Ok(_) => output::check(&path.join("domain_policy.conf")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => output::check(path),
        Err(error) => Err(Failure::environment(
            format!("cannot write a policy to {}: {error}", path.display()),
            "name a directory that you may write to, or one that is not there yet",
        )
        .into()),
    }
}

/// What of a spec and of the flags says what is learned; of its stacks and policies nothing does.
fn benchmarks(name: &str, spec: Spec, args: &LearnArgs) -> Result<Spec> {
    if !matches!(spec.place, None | Some(Place::Lab)) || spec.dir.is_some() {
        return Err(usage(
            format!("{name} is not measured in virtual machines, and TOMOYO learns in one"),
            "give a preset or a file without `where` and `dir`",
        ));
    }
    if spec.root.is_some() || spec.workloads.is_some() {
        return Err(usage(
            format!("{name} is of whole programs, and TOMOYO learns what benchmarks do"),
            "give a preset or a file of benchmarks",
        ));
    }
    let stack = read_stack(&args.stack)?;
    if !stack.names().iter().any(|module| module == MODULE) {
        return Err(usage(
            format!(
                "`{}` is a stack without TOMOYO, which is to learn",
                args.stack
            ),
            "add it: --stack capability,tomoyo",
        ));
    }
    let of_benchmarks = Spec {
        kernels: spec.kernels,
        benchmarks: spec.benchmarks,
        suites: spec.suites,
        select: spec.select,
        filesystem: spec.filesystem,
        clock: spec.clock,
        cmdline: spec.cmdline,
        cpu: spec.cpu,
        samples: spec.samples,
        warmup: spec.warmup,
        boot_timeout_s: spec.boot_timeout_s,
        cell_timeout_s: spec.cell_timeout_s,
        work_dir: spec.work_dir,
        stacks: Some(vec![args.stack.clone()]),
        policies: Some(vec![Policy::Enforcing]),
        metrics: Some(vec![Metric::Instructions]),
        ..Spec::default()
    };
    let flags = Spec {
        work_dir: args.work_dir.clone(),
        ..lab_flags(&args.lab).merge(selection(&args.selection))
    };
    Ok(of_benchmarks.merge(flags))
}

/// Accesses that are to be learned: those that flags name, and those that policies of TOMOYO in
/// the file must allow.
fn allowed(args: &LearnArgs, spec: &Spec) -> Result<Vec<Access>> {
    let given = spec.given.iter().flat_map(|given| given.values());
    let of_file = given.filter(|of| of.module == MODULE);
    let mut allowed: Vec<Access> = of_file.flat_map(|of| of.allowed.clone()).collect();
    let default = (allowed.is_empty() && args.allowed.is_empty()).then(|| ALLOWED.to_owned());
    for text in args.allowed.iter().chain(&default) {
        let (module, access) = given::access("--allowed", text)?;
        if let Some(module) = module.filter(|module| *module != MODULE) {
            return Err(usage(
                format!("--allowed is of {module}, and TOMOYO learns"),
                "leave out the module",
            ));
        }
        allowed.push(access);
    }
    allowed.dedup();
    Ok(allowed)
}

/// Writes the policy, each file whole or not at all.
fn write(directory: &Path, learned: &Learned) -> Result<Vec<PathBuf>> {
    if !directory.exists() {
        fs::create_dir(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
    }
    let policy = &learned.policy;
    let files = [
        ("profile.conf", &policy.profile),
        ("exception_policy.conf", &policy.exception_policy),
        ("domain_policy.conf", &policy.domain_policy),
    ];
    let written = files.into_iter().map(|(name, text)| {
        let path = directory.join(name);
        output::write(&path, |to| Ok(to.write_all(text.as_bytes())?))
            .with_context(|| format!("cannot save the policy in {}", directory.display()))?;
        Ok(path)
    });
    written.collect()
}

/// What was learned, for who reads JSON.
#[derive(Serialize)]
struct Summary<'a> {
    schema_version: u32,
    kernel: &'a str,
    release: &'a str,
    stack: &'a str,
    domain: &'a str,
    directory: &'a Path,
    files: &'a [PathBuf],
    entries: &'a [KindCount],
    /// The kernel stopped learning before the end.
    is_full: bool,
    benchmarks: Vec<Benchmark<'a>>,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    benchmark: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
}

/// Says what was learned; what went wrong goes to standard error.
fn tell(args: &LearnArgs, lesson: &Lesson<'_>, learned: &Learned, files: &[PathBuf]) -> Result<()> {
    let (kernel, allowed) = (&lesson.experiment.kernels[0], lesson.allowed);
    let of = |status| learned.tried.iter().filter(move |of| of.status == status);
    for tried in of(Status::Failed) {
        let reason = printable(tried.reason.lines().next().unwrap_or_default(), 400);
        note!("failed: {}: {reason}", tried.benchmark);
    }
    let policy = &learned.policy;
    if policy.is_full {
        note!("warning: TOMOYO took no more entries before the end: some are missing");
        note!("hint: learn fewer benchmarks: --bench '*,!treewalk'");
    }
    let release = printable(&learned.release, 80);
    if args.json {
        return output::print_json(&Summary {
            schema_version: 1,
            kernel,
            release: &release,
            stack: &args.stack,
            domain: LEARNING_DOMAIN,
            directory: &args.output,
            files,
            entries: &policy.kinds,
            is_full: policy.is_full,
            benchmarks: learned
                .tried
                .iter()
                .map(|of| Benchmark {
                    benchmark: &of.benchmark,
                    status: of.status,
                    reason: &of.reason,
                })
                .collect(),
        });
    }
    let mut rows = vec![["ENTRIES", "LEARNED", "WRITTEN"].map(str::to_owned)];
    rows.extend(policy.kinds.iter().map(|count| {
        let numbers = [count.learned, count.written].map(|of| of.to_string());
        let [learned, written] = numbers;
        [printable(&count.kind, 40), learned, written]
    }));
    let (all, ok) = (learned.tried.len(), of(Status::Ok).count());
    let mut text = format!(
        "{LEARNING_DOMAIN} learned of {ok} of {all} benchmarks{} under {} on {} ({release})\n\n{}\n",
        match of(Status::Unsupported).count() {
            0 => String::new(),
            n => format!(", of which {n} cannot run there,"),
        },
        args.stack,
        kernel,
        columns(&rows)
    );
    for file in files {
        text += &format!("wrote {}\n", file.display());
    }
    output::print(&text)?;
    if !args.quiet {
        let allowed = allowed
            .iter()
            .map(|access| format!(" --allowed '{access}'"));
        note!(
            "measure the same under it: lsmeter run {}{} --tomoyo-policy {} --tomoyo-domain \
             '{LEARNING_DOMAIN}' --denied 'read /etc/shadow'{}",
            args.spec,
            same_flags(args),
            args.output.display(),
            allowed.collect::<String>()
        );
    }
    Ok(())
}

/// What a run needs besides, so that it asks for no more than was learned.
fn same_flags(args: &LearnArgs) -> String {
    let bench = args.selection.benchmarks.join(",");
    let flags = [
        ("--kernel", args.selection.kernels.first().cloned()),
        ("--bench", Some(bench).filter(|bench| !bench.is_empty())),
        ("--work-dir", args.work_dir.clone()),
    ];
    let flags = flags
        .into_iter()
        .filter_map(|(flag, value)| Some(format!(" {flag} '{}'", value?)));
    flags.collect()
}
