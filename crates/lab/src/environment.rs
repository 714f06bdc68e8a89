// SPDX-License-Identifier: GPL-2.0-or-later
//! What a run ran on.

use std::fs;
use std::num::NonZero;

use model::journal::{JOURNAL_VERSION, JournalHeader};
use model::{Environment, Experiment, Place, Tool};
use rustix::system::uname;

use crate::qemu::{Accelerator, Qemu};

pub fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// None if `moment` is not a timestamp of [`now`].
pub fn seconds_since(moment: &str) -> Option<f64> {
    let then: jiff::Timestamp = moment.parse().ok()?;
    Some(
        (jiff::Timestamp::now() - then)
            .total(jiff::Unit::Second)
            .ok()?
            .max(0.0),
    )
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// LSMs active on this machine; None without securityfs.
pub fn host_lsms() -> Option<Vec<String>> {
    let text = fs::read_to_string("/sys/kernel/security/lsm").ok()?;
    Some(
        text.trim()
            .split(',')
            .filter(|lsm| !lsm.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

fn value_of(path: &str, separator: char, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines()
        .filter_map(|line| line.split_once(separator))
        .find_map(|(found, value)| {
            (found.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
        })
}

pub fn here() -> Environment {
    Environment {
        os: value_of("/etc/os-release", '=', "PRETTY_NAME").unwrap_or_default(),
        host_kernel: uname().release().to_string_lossy().into_owned(),
        cpu: value_of("/proc/cpuinfo", ':', "model name").unwrap_or_default(),
        cores: cores() as u32,
        kvm: false,
        qemu: None,
        host_lsms: host_lsms().unwrap_or_default(),
    }
}

fn environment(experiment: &Experiment, qemu: Option<&Qemu>) -> Environment {
    let counts = experiment.metrics.iter().any(|metric| metric.is_counted());
    let times = experiment.metrics.iter().any(|metric| metric.is_timed());
    let kvm = times && qemu.is_some_and(|qemu| qemu.kvm);
    let accelerator = if kvm && !counts {
        Accelerator::Kvm
    } else {
        Accelerator::Tcg
    };
    Environment {
        kvm,
        qemu: qemu.map(|qemu| qemu.describe(accelerator, counts)),
        host_lsms: match experiment.place {
            Place::Host => host_lsms().unwrap_or_default(),
            Place::Lab | Place::Um => Vec::new(),
        },
        ..here()
    }
}

/// The head of a journal and of its result file. `emulators`: one per architecture, in the order of
/// its kernels, or none.
pub fn header(experiment: &Experiment, emulators: &[Option<&Qemu>]) -> JournalHeader {
    let first = environment(experiment, emulators.first().copied().flatten());
    let others = emulators.iter().skip(1);
    JournalHeader {
        journal_version: JOURNAL_VERSION,
        tool: Tool::this(),
        environment: first,
        others: others.map(|qemu| environment(experiment, *qemu)).collect(),
        started: now(),
        experiment: Some(experiment.clone()),
        monitor: None,
        treatment: String::new(),
        shard: None,
    }
}
