// SPDX-License-Identifier: GPL-2.0-or-later
//! Turns a spec into an experiment: sets defaults and checks values.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;
use std::ops::RangeInclusive;

use crate::configuration::Configuration;
use crate::configure::Matrix;
use crate::experiment::{Experiment, Samples};
use crate::given::is_guest_path;
use crate::hint::excerpt;
use crate::metric::Metric;
use crate::programs;
use crate::select::{Pattern, Selection};
use crate::spec::{Spec, SpecError};
use crate::words::{FileSystem, Place, Select, Suite};

pub(crate) const KERNELS_LIMIT: usize = 64;
const BENCHMARKS_LIMIT: usize = 1_024;
const PATH_LIMIT: usize = 4_096;
/// Half of COMMAND_LINE_SIZE on x86, because the lab adds its own parameters.
const CMDLINE_LIMIT: usize = 1_024;
const DESCRIPTION_LIMIT: usize = 1_024;

impl Spec {
    /// Sets missing keys to their defaults and checks every value.
    ///
    /// # Errors
    /// [`SpecError`] for the first invalid value. Names of kernels, modules and benchmarks are not
    /// checked here.
    pub fn resolve(mut self) -> Result<Experiment, SpecError> {
        self = self.fill_roles()?;
        let place = self.place.unwrap_or(Place::Lab);
        match place {
            Place::Host => check_host(&self)?,
            Place::Lab | Place::Um if self.dir.is_some() => {
                return Err(SpecError::instead(
                    "`dir` is only for the host: virtual machines cannot see host directories",
                    "leave out `dir`, or set where = \"host\"",
                ));
            }
            Place::Um => check_um(&self)?,
            Place::Lab => {}
        }
        let matrix = Matrix::resolve(&self, place)?;
        let metrics = self.metrics.unwrap_or_else(|| match place {
            Place::Host | Place::Um => vec![Metric::Time],
            Place::Lab => vec![Metric::Instructions],
        });
        list("metrics", &metrics, Metric::MEASURABLE.len())?;
        check_alone(&metrics)?;
        let processors = resolve_processors(self.processors, &metrics)?;
        let samples = resolve_samples(self.samples)?;
        let timeout = |key, seconds| number(key, seconds, 1..=86_400, "");
        let selection = resolve_selection(self.benchmarks, self.suites, self.select)?;
        let programs = programs::resolve(self.root, self.workloads, &selection)?;
        let filesystem = self.filesystem.unwrap_or(FileSystem::Ext4);
        let has_kernels = place != Place::Host;
        if programs.is_some() {
            check_programs(place, &metrics)?;
            if self.work_dir.is_some() {
                return Err(SpecError::instead(
                    "`work_dir` is for benchmarks: programs see their own root as /",
                    "leave out `work_dir`",
                ));
            }
            let denials = |of: &Configuration| of.settings.denials;
            if matrix.configurations.iter().any(denials) {
                return Err(SpecError::instead(
                    "`denials` applies to the benchmark denied-open only, not to workloads",
                    "leave out `denials`, or measure benchmarks",
                ));
            }
            let is_first = |of: &Configuration| of.settings.first_after.is_some();
            if matrix.configurations.iter().any(is_first) {
                return Err(SpecError::instead(
                    "`first_after` applies to single operations, not to workloads",
                    "leave out `first_after`, or measure benchmarks",
                ));
            }
        }
        // A single configuration cannot be interleaved.
        let takes_turns = has_kernels || matrix.configurations.len() > 1;
        let rounds = resolve_rounds(self.rounds, &metrics, samples, takes_turns)?;
        Ok(Experiment {
            description: self
                .description
                .map(|text| printable("description", text))
                .transpose()?,
            place,
            dir: self.dir.map(|dir| printable("dir", dir)).transpose()?,
            kernels: matrix.kernels,
            configurations: matrix.configurations,
            baseline: matrix.baseline,
            baseline_kernel: matrix.baseline_kernel,
            selection,
            programs,
            custom: self.custom.unwrap_or_default(),
            work_dir: self.work_dir.map(work_dir).transpose()?,
            metrics,
            filesystem: has_kernels.then_some(filesystem),
            samples,
            warmup: number("warmup", self.warmup.unwrap_or(64), 0..=1_000_000, "")?,
            rounds,
            throughput_warmup_s: number(
                "throughput_warmup_s",
                self.throughput_warmup_s.unwrap_or(1.0),
                0.0..=600.0,
                " seconds",
            )?,
            throughput_period_s: number(
                "throughput_period_s",
                self.throughput_period_s.unwrap_or(3.0),
                0.01..=3_600.0,
                " seconds",
            )?,
            cmdline: resolve_cmdline(self.cmdline)?,
            cpu: self.cpu.map(resolve_cpu).transpose()?,
            processors,
            jobs: self
                .jobs
                .map(|jobs| number("jobs", jobs, 1..=256, ""))
                .transpose()?,
            boot_timeout_s: timeout("boot_timeout_s", self.boot_timeout_s.unwrap_or(120))?,
            measurement_timeout_s: timeout(
                "measurement_timeout_s",
                self.measurement_timeout_s.unwrap_or(300),
            )?,
        })
    }
}

/// Directory of benchmarks in a guest. It must not hide existing directories.
fn work_dir(path: String) -> Result<String, SpecError> {
    const TAKEN: [&str; 5] = ["/proc", "/sys", "/dev", "/policy", "/denials"];
    let is_taken = |taken: &&str| {
        let below = path.strip_prefix(*taken);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // Path-based policies use it in their patterns.
    let fits = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let is_plain = is_guest_path(&path) && path.chars().all(fits);
    if !is_plain || path == "/" || TAKEN.iter().any(is_taken) {
        let value = excerpt(&path);
        return Err(SpecError::instead(
            format!("`work_dir` is `{value}`, which cannot be the benchmarks' directory"),
            format!(
                "use an absolute path with letters, digits, `.`, `_` and `-`, not in {}",
                TAKEN.join(", ")
            ),
        ));
    }
    Ok(path)
}

/// The host's kernel cannot be configured, so settings for VMs are refused.
fn check_host(spec: &Spec) -> Result<(), SpecError> {
    const OF_THE_LAB: [&str; 20] = [
        "kernels",
        "roles",
        "arch",
        "stacks",
        "configurations",
        "integrity",
        "avc_entries",
        "selinux_policy",
        "labels",
        "denials",
        "first_after",
        "audit_rules",
        "ima_policy",
        "custom",
        "work_dir",
        "baseline_kernel",
        "baseline",
        "filesystem",
        "cmdline",
        "cpu",
    ];
    if let Some(key) = spec.keys().into_iter().find(|key| OF_THE_LAB.contains(key)) {
        return Err(SpecError::instead(
            format!(
                "`{key}` has no meaning with where = \"host\": the running kernel is measured as it is"
            ),
            format!("leave out `{key}`, or measure in the lab"),
        ));
    }
    check_is_timed(&spec.metrics, "on the host")?;
    if spec.dir.as_deref().unwrap_or("").is_empty() {
        return Err(SpecError::instead(
            "where = \"host\" needs a directory to work in",
            "set `dir` to a directory on the file system to measure",
        ));
    }
    Ok(())
}

/// A UML kernel runs on this machine's processor, where instructions cannot be counted.
fn check_um(spec: &Spec) -> Result<(), SpecError> {
    if spec.cpu.is_some() {
        return Err(SpecError::instead(
            "a UML kernel runs on this machine's processor, which `cpu` cannot change",
            "leave out `cpu`, or measure in the lab",
        ));
    }
    check_is_timed(&spec.metrics, "in a UML kernel")
}

fn check_is_timed(metrics: &Option<Vec<Metric>>, place: &str) -> Result<(), SpecError> {
    let counted = metrics.iter().flatten().find(|metric| metric.is_counted());
    let Some(metric) = counted else {
        return Ok(());
    };
    let what = match metric {
        Metric::Memory => "memory is measured",
        metric if metric.is_of_transfers() => "transfers are counted",
        _ => "instructions are counted",
    };
    Err(SpecError::instead(
        format!("{what} in a virtual machine, not {place}"),
        "use the metric time or throughput, or measure in the lab",
    ))
}

/// A kernel's memory depends on everything that ran before; transfers have their own machine.
fn check_alone(metrics: &[Metric]) -> Result<(), SpecError> {
    let alone = |metric: Metric| (metric == Metric::Memory, metric.is_of_transfers());
    let other = metrics
        .iter()
        .find(|metric| alone(**metric) != alone(metrics[0]));
    let Some(other) = other else {
        return Ok(());
    };
    Err(SpecError::instead(
        format!("{} and {other} cannot be measured together", metrics[0]),
        "measure them in separate runs",
    ))
}

fn resolve_processors(asked: Option<u32>, metrics: &[Metric]) -> Result<Option<u32>, SpecError> {
    if metrics.iter().any(|metric| metric.is_of_transfers()) {
        return number("processors", asked.unwrap_or(2), 1..=4, "").map(Some);
    }
    match asked {
        None => Ok(None),
        Some(_) => Err(SpecError::instead(
            "`processors` applies only to transfers",
            "leave out `processors`, or add --metric transfers",
        )),
    }
}

/// Whole programs are counted, in a root file system made for them.
fn check_programs(place: Place, metrics: &[Metric]) -> Result<(), SpecError> {
    if place != Place::Lab || metrics != [Metric::Instructions] {
        return Err(SpecError::instead(
            "workloads support only instruction counts in virtual machines",
            "leave out --on and --metric (`where` and `metrics` in a file)",
        ));
    }
    Ok(())
}

fn resolve_selection(
    benchmarks: Option<Vec<String>>,
    suites: Option<Vec<Suite>>,
    select: Option<Select>,
) -> Result<Selection, SpecError> {
    let benchmarks = benchmarks.unwrap_or_else(|| vec!["*".to_owned()]);
    list("benchmarks", &benchmarks, BENCHMARKS_LIMIT)?;
    let suites = suites.unwrap_or_else(|| Suite::ALL.to_vec());
    list("suites", &suites, Suite::ALL.len())?;
    Ok(Selection {
        benchmarks: benchmarks
            .iter()
            .map(|pattern| pattern.parse::<Pattern>())
            .collect::<Result<_, _>>()?,
        suites,
        select: select.unwrap_or(Select::All),
    })
}

fn resolve_samples(samples: Option<u32>) -> Result<Samples, SpecError> {
    let of = |default| number("samples", samples.unwrap_or(default), 1..=1_000_000, "");
    Ok(Samples {
        instructions: of(64)?,
        time: of(300)?,
        throughput: of(30)?,
    })
}

fn resolve_rounds(
    rounds: Option<u32>,
    metrics: &[Metric],
    samples: Samples,
    takes_turns: bool,
) -> Result<u32, SpecError> {
    let timed = metrics.iter().filter(|metric| metric.is_timed());
    let most = timed.map(|metric| samples.for_metric(*metric)).min();
    let default = if takes_turns && most.is_some() { 3 } else { 1 };
    let most = most.unwrap_or(u32::MAX);
    let rounds = number("rounds", rounds.unwrap_or(default.min(most)), 1..=1_000, "")?;
    if rounds > most {
        return Err(SpecError::instead(
            format!("{rounds} rounds cannot share {most} samples: each round needs at least one"),
            "raise `samples` or lower `rounds`",
        ));
    }
    Ok(rounds)
}

fn resolve_cmdline(cmdline: Option<String>) -> Result<String, SpecError> {
    let cmdline = printable("cmdline", cmdline.unwrap_or_default())?;
    if let Some(parameter) = cmdline
        .split_whitespace()
        .find(|word| word.starts_with("lsm=") || word.starts_with("security="))
    {
        return Err(SpecError::instead(
            format!("`cmdline` is `{cmdline}`: `{parameter}` would override the stack"),
            "name the stack in `stacks`",
        ));
    }
    Ok(cmdline)
}

/// A processor and its features, as one word for QEMU.
fn resolve_cpu(cpu: String) -> Result<String, SpecError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || ",.=_+-".contains(c);
    let begins = cpu.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || cpu.len() > 256 || !cpu.chars().all(allowed) {
        return Err(SpecError::instead(
            format!("`cpu` is `{}`: invalid processor name", excerpt(&cpu)),
            "use QEMU's name, for example `cortex-a72`, or with features `max,pauth-impdef=on`",
        ));
    }
    Ok(cpu)
}

pub(crate) fn list<T: Display + Eq + Hash>(
    key: &str,
    values: &[T],
    limit: usize,
) -> Result<(), SpecError> {
    let refuse = |what: String| Err(SpecError::refused(format!("`{key}` {what}")));
    if values.is_empty() {
        return refuse("is empty; it needs at least one value".to_owned());
    }
    // Duplicates are checked before the length, because they are the better message for a list that
    // is too long.
    let mut seen = HashSet::new();
    for value in values.iter().take(limit + 1) {
        if !seen.insert(value) {
            return refuse(format!("contains `{}` twice", excerpt(&value.to_string())));
        }
    }
    if values.len() > limit {
        let n = values.len();
        return refuse(format!("has {n} values; at most {limit} are allowed"));
    }
    Ok(())
}

pub(crate) fn printable(key: &str, text: String) -> Result<String, SpecError> {
    let limit = match key {
        "cmdline" => CMDLINE_LIMIT,
        "description" => DESCRIPTION_LIMIT,
        _ => PATH_LIMIT,
    };
    let why = if text.len() > limit {
        format!("it is longer than {limit} bytes")
    } else if text.chars().any(char::is_control) {
        "it contains a control character".to_owned()
    } else if key != "cmdline" && text.trim().is_empty() {
        "it is blank".to_owned()
    } else {
        return Ok(text);
    };
    let value = excerpt(&text);
    Err(SpecError::refused(format!("`{key}` is `{value}`: {why}")))
}

pub(crate) fn number<T: PartialOrd + Display + Copy>(
    key: &str,
    value: T,
    range: RangeInclusive<T>,
    unit: &str,
) -> Result<T, SpecError> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (from, to) = range.into_inner();
    Err(SpecError::refused(format!(
        "`{key}` is {value}; it must be from {from} to {to}{unit}"
    )))
}
