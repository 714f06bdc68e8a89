// SPDX-License-Identifier: GPL-2.0-or-later
//! Capabilities of this process.

use std::io;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Capabilities that are needed to load programs and that this thread does not have.
/// `CAP_SYS_ADMIN` replaces both.
pub fn missing() -> Vec<&'static str> {
    let Ok(sets) = capabilities(None) else {
        return Vec::new();
    };
    let has = |capability| sets.effective.contains(capability);
    if has(CapabilitySet::SYS_ADMIN) {
        return Vec::new();
    }
    [
        (CapabilitySet::BPF, "CAP_BPF"),
        (CapabilitySet::PERFMON, "CAP_PERFMON"),
    ]
    .into_iter()
    .filter(|(capability, _)| !has(*capability))
    .map(|(_, name)| name)
    .collect()
}

/// Drops the capabilities for loading and attaching, in this thread and its later children. Reading
/// does not need them.
///
/// root's processes get them back by executing a program, so start a measured command first.
///
/// Fails if a filter forbids `capset`.
pub fn drop_unneeded() -> io::Result<()> {
    let unneeded = CapabilitySet::BPF
        | CapabilitySet::PERFMON
        | CapabilitySet::SYS_ADMIN
        | CapabilitySet::SYS_RESOURCE;
    let mut sets = capabilities(None)?;
    sets.effective.remove(unneeded);
    sets.permitted.remove(unneeded);
    sets.inheritable.remove(unneeded);
    Ok(set_capabilities(None, sets)?)
}
