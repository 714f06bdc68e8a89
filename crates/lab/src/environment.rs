// SPDX-License-Identifier: GPL-2.0-or-later
//! The environment of a run.

use std::fs;
use std::num::NonZero;

use model::{Environment, Experiment, Place};
use rustix::system::uname;

use crate::active::active_lsms;
use crate::qemu::{Accelerator, Qemu};

pub fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// LSMs active on this machine; None without securityfs.
pub fn host_lsms() -> Option<Vec<String>> {
    let text = fs::read_to_string("/sys/kernel/security/lsm").ok()?;
    Some(active_lsms(text.trim()))
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

/// Start of a run.
pub(crate) struct Begun {
    /// RFC 3339, UTC.
    pub started: String,
    pub environment: Environment,
    /// Kernels of further architectures, in the order of the kernels.
    pub others: Vec<Environment>,
}

impl Begun {
    /// `emulators` has one entry per architecture, in the order of the kernels, or is empty.
    pub fn now(experiment: &Experiment, emulators: &[Option<&Qemu>]) -> Begun {
        let others = emulators.iter().skip(1);
        Begun {
            started: now(),
            environment: environment(experiment, emulators.first().copied().flatten()),
            others: others.map(|qemu| environment(experiment, *qemu)).collect(),
        }
    }
}
