// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares the environments of two result files.

use std::collections::BTreeSet;

use model::{Architecture, Document, Environment, Place, comparison::EnvironmentDifference};

/// Keys that may differ without affecting times.
const HARMLESS_TO_TIMES: [&str; 3] = ["lsmeter", "os", "warmup"];

pub(crate) fn differences(base: &Document, new: &Document) -> Vec<EnvironmentDifference> {
    // Older profiles and sweeps have no experiment.
    let asked = base.experiment.is_some() && new.experiment.is_some();
    let (a, b) = (facts(base, asked), facts(new, asked));
    let value = |facts: &[(&'static str, String)], key: &str| {
        let found = facts.iter().find(|(known, _)| *known == key);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let only_b = b
        .iter()
        .filter(|(key, _)| a.iter().all(|(known, _)| known != key));
    let keys = a.iter().chain(only_b).map(|(key, _)| *key);
    let all = keys.map(|key| EnvironmentDifference {
        key: key.to_owned(),
        base: value(&a, key),
        new: value(&b, key),
    });
    all.filter(|difference| difference.base != difference.new)
        .collect()
}

pub(crate) fn doubt(differences: &[EnvironmentDifference], trusted: bool) -> Option<String> {
    let mut keys: Vec<&str> = differences
        .iter()
        .map(|difference| &*difference.key)
        .collect();
    keys.retain(|key| !HARMLESS_TO_TIMES.contains(key));
    (!trusted && !keys.is_empty()).then(|| {
        format!(
            "BASE and NEW were measured differently: {} differ{}",
            keys.join(", "),
            if keys.len() == 1 { "s" } else { "" }
        )
    })
}

fn facts(document: &Document, asked: bool) -> Vec<(&'static str, String)> {
    let mut facts = vec![("lsmeter", document.tool.version.clone())];
    let architectures = document.cells.iter().map(|cell| cell.key.architecture);
    let architectures: BTreeSet<Architecture> = architectures.collect();
    let architectures: Vec<&str> = architectures
        .iter()
        .map(|architecture| architecture.as_str())
        .collect();
    facts.push(("architecture", architectures.join(", ")));
    facts.extend(of_environment(&document.environment));
    if let Some(experiment) = document.experiment.as_ref().filter(|_| asked) {
        facts.extend([
            ("where", experiment.place.to_string()),
            ("cmdline", experiment.cmdline.clone()),
            ("warmup", experiment.warmup.to_string()),
        ]);
        if experiment.place != Place::Host {
            facts.push(("host_kernel", document.environment.host_kernel.clone()));
        }
    }
    if let Some(monitor) = &document.monitor {
        // Kernel and modules are left out, because they may be what the user compares.
        facts.push(("mode", monitor.mode.to_string()));
        facts.push(("scope", monitor.scope.clone()));
    }
    facts
}

fn of_environment(environment: &Environment) -> Vec<(&'static str, String)> {
    // Destructured, so that a new key causes a compiler error here.
    let Environment {
        os,
        // On the host this is the measured kernel; for the lab see `facts`.
        host_kernel: _,
        cpu,
        cores,
        kvm,
        qemu,
        host_lsms: _,
    } = environment;
    let mut facts = vec![
        ("os", os.clone()),
        ("cpu", cpu.clone()),
        ("cores", cores.to_string()),
        ("kvm", kvm.to_string()),
    ];
    if let Some(qemu) = qemu {
        facts.extend([
            ("qemu.version", qemu.version.clone()),
            ("qemu.cpu", qemu.cpu.clone()),
            ("qemu.machine", qemu.machine.clone()),
        ]);
    }
    facts
}
