// SPDX-License-Identifier: GPL-2.0-or-later
//! Shared by commands that measure: turns flags into an experiment and its machine.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use kernels::arch::Arch;
use kernels::scratch::Scratch;
use kernels::{Kernel, KernelName, Store};
use lab::cache::Cache;
use lab::policy::has_policy;
use lab::qemu::Qemu;
use lab::{BuiltIn, write_plugin};
use model::{
    Experiment, Metric, Place, Policy, SPEC_LIMIT_BYTES, Spec, Stack, StackError, Suite, nearest,
    preset,
};
use sensitivity::{Delays, DelaysError};
use serde::Serialize;
use signal_hook::consts::SIGHUP;

use crate::cli::{CellArgs, LabArgs, PlaceArgs};
use crate::commands::documents::unreadable;
use crate::commands::kernel::obtain;
use crate::config::{Config, cache_dir};
use crate::failure::usage;
use crate::progress::Line;

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

/// Reads an experiment file. Paths of policy files in it are relative to it.
pub fn read_file(path: &Path, hint: &str) -> Result<Spec> {
    let mut toml = String::new();
    // The file may be endless. One byte too many makes [`Spec::parse`] refuse it.
    let read = |file: File| {
        file.take(SPEC_LIMIT_BYTES as u64 + 1)
            .read_to_string(&mut toml)
    };
    let read = File::open(path).and_then(read);
    read.map_err(|error| unreadable(path, error, hint))?;
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

/// Flags whose fields have the names of an experiment file's keys, as a spec.
pub fn keys(args: &impl Serialize) -> Result<Spec> {
    let mut keys = toml::Table::try_from(args)?;
    keys.retain(|_, value| value.as_array().is_none_or(|values| !values.is_empty()));
    Ok(keys.try_into()?)
}

pub fn flags(cells: &CellArgs, lab: &LabArgs) -> Result<Spec> {
    let cells = keys(cells)?.or(keys(&cells.selection)?);
    Ok(cells.or(lab_flags(lab)?))
}

/// Place and directory from the flags; a directory implies the host.
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
    pub store: Store,
    /// The emulator of the first kernel's architecture.
    pub qemu: Qemu,
    pub others: Vec<Qemu>,
    pub kernels: Vec<Kernel>,
}

impl Machines {
    pub fn find(
        args: &LabArgs,
        config: &Config,
        experiment: &Experiment,
        line: &Line,
    ) -> Result<Machines> {
        let store = Store::open(&cache_dir())?;
        if let Some(why) = Cache::new(&store).doubt() {
            line.keep(&format!("warning: counts may not be cached: {why}"));
        }
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
                    "--qemu {} cannot emulate kernels for {second}",
                    path.display()
                ),
                "leave out --qemu",
            ));
        }
        if let ([_, second, ..], Some(cpu)) = (&architectures[..], &experiment.cpu) {
            return Err(usage(
                format!("processor {cpu} cannot run kernels for {second}"),
                "measure kernels of one architecture, or leave out `cpu`",
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

    pub fn only_qemu(&self) -> Result<&Qemu> {
        match self.others.first() {
            None => Ok(&self.qemu),
            Some(other) => Err(usage(
                format!(
                    "this command measures one architecture at a time, not {} and {}",
                    self.qemu.arch, other.arch
                ),
                format!(
                    "run the command once for each architecture: --arch {}",
                    self.qemu.arch
                ),
            )),
        }
    }
}

fn named_arch(experiment: &Experiment) -> Option<&'static Arch> {
    let mut names = experiment.kernels.iter();
    names.find_map(|name| match name.parse() {
        Ok(KernelName::Debian(debian)) => Some(debian.arch()),
        _ => None,
    })
}

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

pub fn lab_flags(lab: &LabArgs) -> Result<Spec> {
    let spec = Spec {
        boot_timeout_s: lab.timeout,
        measurement_timeout_s: lab.timeout,
        ..keys(lab)?
    };
    let settings = lab.settings.iter().cloned();
    Ok(spec.or(settings.fold(Spec::default(), Spec::merge)))
}

pub const SUITES_OF_FILES: [Suite; 4] =
    [Suite::Paper, Suite::Lmbench, Suite::Howells, Suite::Beyond];

/// Fails if nothing is selected, before kernels are downloaded.
pub fn check_selection(experiment: &Experiment) -> Result<()> {
    lab::plan::jobs(experiment, kernels::arch::native()).map_err(lab::LabError::from)?;
    Ok(())
}

/// Fails, before a root is read, if events are requested but nothing counts them.
pub fn check_events(events: bool, experiment: &Experiment) -> Result<()> {
    if !events {
        return Ok(());
    }
    if experiment.programs.is_some() {
        return Err(usage(
            "--events works only for benchmarks, not for whole programs",
            "leave out --events, or select benchmarks with --bench",
        ));
    }
    if experiment.processors.is_some() {
        return Err(usage(
            "--events counts events of instructions, not of transfers",
            "leave out --events, or measure instructions",
        ));
    }
    let counted = experiment.metrics.contains(&Metric::Instructions);
    if !counted || experiment.place != Place::Lab {
        return Err(usage(
            "--events needs instruction counts, which are not selected",
            "add --metric instructions --on lab, or leave out --events",
        ));
    }
    Ok(())
}

/// Checks, before booting, that each module of a stack is in at least one of the kernels. Modules
/// with a policy are exempt: cells on kernels without them are reported as unsupported.
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
    let built_in = kernels.iter().map(|kernel| BuiltIn::read(store, kernel));
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
        None if known.is_empty() => "list kernels with `lsmeter kernel list`".to_owned(),
        None => format!("choose one of {}", Vec::from_iter(known).join(", ")),
    };
    let what = format!("stack `{stack}`: no kernel in this run has a module `{module}`");
    Err(usage(what, hint))
}

/// QEMU for guests of `arch`, with the features that the experiment needs.
fn find_qemu(
    args: &LabArgs,
    config: &Config,
    experiment: &Experiment,
    arch: &'static Arch,
) -> Result<Qemu> {
    let scratch = Scratch::new()?;
    let plugin = write_plugin(scratch.path())?;
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

pub fn note_interrupted() {
    note!("interrupted: finished counts are cached, but times are lost");
    note!("hint: run the same command again to continue");
}

/// A name for a new result file.
pub fn unique(name: &str) -> PathBuf {
    let stamp: String = lab::environment::now()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect();
    PathBuf::from(format!("lsmeter-{name}-{stamp}.json"))
}

/// The first signal ends the run cleanly, the second immediately.
pub fn cancel_on_signals() -> Result<Arc<AtomicBool>> {
    Ok(Signals::watch()?.cancel)
}

pub struct Signals {
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

    /// Runs work that does not check `cancel`, so that the first signal ends lsmeter immediately.
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

/// Signals that end lsmeter. SIGHUP is included unless it was ignored at the start (`nohup`).
pub fn end_signals() -> Vec<i32> {
    let mut signals = signal_hook::consts::TERM_SIGNALS.to_vec();
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// From the mask of ignored signals in `proc_pid_status(5)`.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// While an experiment measures times, nothing else should run on the machine.
pub fn is_timed(experiment: &Experiment) -> bool {
    experiment.metrics.iter().any(|metric| metric.is_timed())
}
