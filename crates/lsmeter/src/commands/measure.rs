// SPDX-License-Identifier: GPL-2.0-or-later
//! What commands that measure share: from flags to an experiment, and what it runs on.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use kernels::arch::Arch;
use kernels::scratch::Scratch;
use kernels::{Kernel, KernelName, Store};
use lab::journal::Journals;
use lab::policy::has_policy;
use lab::prepare::Hooks;
use lab::qemu::Qemu;
use lab::root::Root;
use lab::{BuiltIn, Outcome, Setup, write_plugin};
use model::{Experiment, Metric, Place, Policy, Spec, Stack, StackError, Suite, nearest, preset};
use sensitivity::{Delays, DelaysError};
use serde::Serialize;
use signal_hook::consts::SIGHUP;

use crate::cli::{CellArgs, LabArgs, PlaceArgs};
use crate::commands::documents::unreadable;
use crate::commands::journals;
use crate::commands::kernel::obtain;
use crate::config::{Config, cache_dir};
use crate::failure::usage;
use crate::progress::Line;

/// A preset, or a file's name and spec.
pub fn read_spec(text: &str) -> Result<(String, Spec)> {
    let path = Path::new(text);
    let is_file = text.contains('/') || path.extension().is_some() || path.is_file();
    if !is_file {
        return Ok((text.to_owned(), preset(text)?.spec()?));
    }
    let name = path
        .file_stem()
        .map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    let spec = read_file(path, "give a preset or a TOML file")?;
    Ok((name.into_owned(), spec))
}

/// A file of keys of an experiment. Files of policies are named relative to it.
pub fn read_file(path: &Path, hint: &str) -> Result<Spec> {
    let toml = std::fs::read_to_string(path).map_err(|error| unreadable(path, error, hint))?;
    let mut spec = Spec::parse(&path.display().to_string(), &toml)?;
    let directory = path.parent().unwrap_or(path);
    for policy in spec
        .custom
        .iter_mut()
        .flat_map(|custom| custom.values_mut())
    {
        for file in policy.files.iter_mut().chain(&mut policy.file_contexts) {
            *file = directory.join(&*file).to_string_lossy().into_owned();
        }
    }
    Ok(spec)
}

pub fn read_stack(text: &str) -> Result<Stack> {
    text.parse()
        .map_err(|error: StackError| usage(&error, error.hint()))
}

pub fn read_delays(text: &str) -> Result<Delays> {
    text.parse()
        .map_err(|error: DelaysError| usage(&error, error.hint()))
}

/// What flags say whose fields are called as the keys of an experiment file.
pub fn keys(args: &impl Serialize) -> Result<Spec> {
    let mut keys = toml::Table::try_from(args)?;
    keys.retain(|_, value| value.as_array().is_none_or(|values| !values.is_empty()));
    Ok(keys.try_into()?)
}

/// What the shared flags say, to be put over the preset or file.
pub fn flags(cells: &CellArgs, lab: &LabArgs) -> Result<Spec> {
    let cells = keys(cells)?.or(keys(&cells.selection)?);
    Ok(cells.or(lab_flags(lab)?))
}

/// What the flags of a place say: a directory to work in means the host.
pub fn place(args: &PlaceArgs) -> (Option<Place>, Option<String>) {
    let dir = args.dir.as_ref().map(|dir| {
        std::path::absolute(dir)
            .unwrap_or_else(|_| dir.clone())
            .to_string_lossy()
            .into_owned()
    });
    (args.place.or(dir.as_ref().map(|_| Place::Host)), dir)
}

pub struct Machines {
    /// Where kernels are kept.
    pub store: Store,
    /// The emulator of the first kernel's architecture.
    pub qemu: Qemu,
    pub others: Vec<Qemu>,
    /// The experiment's kernels, in its order.
    pub kernels: Vec<Kernel>,
}

impl Machines {
    /// Finds QEMU, and fetches what kernels are missing.
    pub fn find(
        args: &LabArgs,
        config: &Config,
        experiment: &Experiment,
        line: &Line,
    ) -> Result<Machines> {
        let store = Store::open(&cache_dir())?;
        // What this machine lacks is told before anything is fetched.
        let early = named_arch(experiment);
        let early = early.map(|arch| find_qemu(args, config, experiment, arch));
        let early = early.transpose()?;
        let kernels = find_kernels(args, config, experiment, line)?;
        let mut architectures: Vec<&'static Arch> = Vec::new();
        for kernel in &kernels {
            if !architectures.contains(&kernel.arch()) {
                architectures.push(kernel.arch());
            }
        }
        if let ([_, second, ..], Some(path)) = (&architectures[..], &args.qemu) {
            return Err(usage(
                format!(
                    "{} is one emulator, and kernels of {second} take another",
                    path.display()
                ),
                "leave out --qemu, or measure kernels of one architecture",
            ));
        }
        if let ([_, second, ..], Some(cpu)) = (&architectures[..], &experiment.cpu) {
            return Err(usage(
                format!("{cpu} is one processor, and kernels of {second} take another"),
                "leave out `cpu`, or measure kernels of one architecture",
            ));
        }
        let first = architectures
            .first()
            .copied()
            .unwrap_or(kernels::arch::native());
        let qemu = match early {
            Some(qemu) if qemu.arch == first => qemu,
            _ => find_qemu(args, config, experiment, first)?,
        };
        let others = architectures.iter().skip(1);
        let others = others.map(|arch| find_qemu(args, config, experiment, arch));
        Ok(Machines {
            store,
            qemu,
            others: others.collect::<Result<_>>()?,
            kernels,
        })
    }

    /// The emulator of a command that measures kernels of one architecture.
    pub fn only_qemu(&self) -> Result<&Qemu> {
        match self.others.first() {
            None => Ok(&self.qemu),
            Some(other) => Err(usage(
                format!(
                    "kernels of {} and of {} cannot be measured together by this command",
                    self.qemu.arch, other.arch
                ),
                "measure those of each architecture in a run of its own",
            )),
        }
    }
}

/// The architecture that the name of a kernel tells, if one does.
fn named_arch(experiment: &Experiment) -> Option<&'static Arch> {
    let mut names = experiment.kernels.iter();
    names.find_map(|name| match name.parse() {
        Ok(KernelName::Debian(debian)) => Some(debian.arch()),
        _ => None,
    })
}

/// The experiment's kernels, in its order; fetches what is missing.
pub fn find_kernels(
    args: &LabArgs,
    config: &Config,
    experiment: &Experiment,
    line: &Line,
) -> Result<Vec<Kernel>> {
    let store = Store::open(&cache_dir())?;
    let kernels = obtain(&experiment.kernels, &store, config, args.offline, line)?;
    check_stacks(experiment, &store, &kernels)?;
    Ok(kernels)
}

/// What the flags of virtual machines say.
pub fn lab_flags(lab: &LabArgs) -> Result<Spec> {
    let spec = Spec {
        boot_timeout_s: lab.timeout,
        measurement_timeout_s: lab.timeout,
        ..keys(lab)?
    };
    let settings = lab.settings.iter().cloned();
    Ok(spec.or(settings.fold(Spec::default(), Spec::merge)))
}

/// The values of a flag, if it was given.
pub fn some<T: Clone>(values: &[T]) -> Option<Vec<T>> {
    (!values.is_empty()).then(|| values.to_vec())
}

/// The suites of file system calls, which are chosen from where nothing is said of others.
pub const SUITES_OF_FILES: [Suite; 4] =
    [Suite::Paper, Suite::Lmbench, Suite::Howells, Suite::Beyond];

/// Does it select anything? Asked before a kernel is fetched.
pub fn check_selection(experiment: &Experiment) -> Result<()> {
    lab::plan::jobs(experiment, kernels::arch::native()).map_err(lab::LabError::from)?;
    Ok(())
}

/// Is there anything whose events can be counted, if they are to be? Asked before a root is read.
pub fn check_events(events: bool, experiment: &Experiment) -> Result<()> {
    if !events {
        return Ok(());
    }
    if experiment.programs.is_some() {
        return Err(usage(
            "--events is of benchmarks, not of whole programs",
            "leave it out, or give benchmarks with --bench or a preset of them",
        ));
    }
    let counted = experiment.metrics.contains(&Metric::Instructions);
    if !counted || experiment.place != Place::Lab {
        return Err(usage(
            "--events is counted with instructions, which are not measured here",
            "leave it out, or measure --metric instructions in the lab",
        ));
    }
    Ok(())
}

/// Can one of the kernels have each module that a stack names? Asked before one is booted.
/// A module with a policy is passed over: the cells of a kernel that lacks it are
/// unsupported, and say what it would have to be built with.
fn check_stacks(experiment: &Experiment, store: &Store, kernels: &[Kernel]) -> Result<()> {
    let mut asked: Vec<(&Stack, String)> = Vec::new();
    for configuration in &experiment.configurations {
        let stack = &configuration.stack;
        let listed = stack.lsm_parameter().map_or(Vec::new(), |_| stack.names());
        let plain = configuration.policy == Policy::None && configuration.settings.is_default();
        let checked = listed
            .into_iter()
            .filter(|module| plain || !has_policy(module));
        asked.extend(checked.map(|module| (stack, module)));
    }
    if asked.is_empty() || kernels.is_empty() {
        return Ok(());
    }
    let built_in = kernels.iter().map(|kernel| BuiltIn::of(store, kernel));
    let built_in = built_in.collect::<Result<Vec<_>, _>>()?;
    let missing = asked
        .iter()
        .find(|(_, module)| !built_in.iter().any(|kernel| kernel.may_have(module)));
    let Some((stack, module)) = missing else {
        return Ok(());
    };
    let known: BTreeSet<&str> = built_in.iter().flat_map(BuiltIn::names).collect();
    let hint = match nearest(module, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "`lsmeter kernel list` shows what kernels are here".to_owned(),
        None => format!("there are {}", Vec::from_iter(known).join(", ")),
    };
    let what = format!("stack `{stack}`: no kernel of this run has a module `{module}`");
    Err(usage(what, hint))
}

/// QEMU of guests of `arch`, if it can do what the experiment asks.
fn find_qemu(
    args: &LabArgs,
    config: &Config,
    experiment: &Experiment,
    arch: &'static Arch,
) -> Result<Qemu> {
    let scratch = Scratch::new()?;
    let plugin = write_plugin(scratch.path())?;
    // That of the configuration is for this machine's kernels.
    let configured = config.qemu.as_deref().filter(|_| arch.is_native());
    let mut qemu = Qemu::probe(args.qemu.as_deref().or(configured), &plugin, arch)?;
    if let Some(cpu) = &experiment.cpu {
        qemu.take_processor(cpu)?;
    }
    let counted = experiment.metrics.iter().any(|metric| metric.is_counted());
    if counted && qemu.plugin_api.is_none() {
        return Err(qemu.no_plugin().into());
    }
    Ok(qemu)
}

/// Counts the hooks of all that an experiment asks for. None if the user ended it, who is then
/// told how it goes on.
pub fn count_hooks(
    experiment: &Experiment,
    machines: &Machines,
    root: Option<&Root>,
    hooks: Hooks<'_>,
    journals: &Journals,
    signals: &Signals,
    line: &mut Line,
) -> Result<Option<Outcome>> {
    let setup = Setup {
        kernels: &machines.kernels,
        qemu: Some(&machines.qemu),
        others: &machines.others,
        root,
        hooks: Some(hooks),
        ..Setup::new(&machines.store, journals)
    };
    let outcome = lab::run(experiment, &setup, &signals.cancel, &mut |event| {
        line.follow(event)
    });
    line.done();
    let outcome = outcome?;
    if outcome.cancelled {
        journals::tell_interrupted(journals);
        return Ok(None);
    }
    Ok(Some(outcome))
}

/// A first signal ends the run in good order, a second one at once.
pub fn cancel_on_signals() -> Result<Arc<AtomicBool>> {
    Ok(Signals::watch()?.cancel)
}

pub struct Signals {
    /// Set by the first one.
    pub cancel: Arc<AtomicBool>,
    at_once: Arc<AtomicBool>,
}

impl Signals {
    pub fn watch() -> Result<Signals> {
        let at_once = Arc::new(AtomicBool::new(false));
        for signal in end_signals() {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&at_once))?;
        }
        let cancel = cancel()?;
        Ok(Signals { cancel, at_once })
    }

    /// Does what does not look whether it is to end: meanwhile a first signal ends lsmeter at once.
    pub fn unattended<T>(&self, work: impl FnOnce() -> T) -> T {
        self.at_once.store(true, Ordering::Relaxed);
        let done = work();
        self.at_once.store(false, Ordering::Relaxed);
        done
    }
}

fn cancel() -> Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in end_signals() {
        let code = 128 + signal;
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&cancel))?;
        signal_hook::flag::register(signal, Arc::clone(&cancel))?;
    }
    Ok(cancel)
}

/// Signals that end lsmeter. A hangup is one of them unless it was ignored when lsmeter began, as
/// `nohup` has it.
pub fn end_signals() -> Vec<i32> {
    let mut signals = signal_hook::consts::TERM_SIGNALS.to_vec();
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// As `proc_pid_status(5)` shows it: a mask of the ignored signals.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Does the experiment take times? Then nothing may run beside it.
pub fn is_timed(experiment: &Experiment) -> bool {
    experiment.metrics.iter().any(|metric| metric.is_timed())
}
