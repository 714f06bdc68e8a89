// SPDX-License-Identifier: GPL-2.0-or-later
//! What this process may do, and giving it up.

use std::io;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Which of the capabilities that programs need this thread lacks. `CAP_SYS_ADMIN`
/// stands for both.
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

/// Gives up what loading and attaching needed, in this thread and those that it starts
/// from now on. Reading needs none of it.
///
/// A process of root's gets it all back when it executes a program: start a command that
/// is to be measured before, or not at all.
///
/// The system's reason, if a filter forbids `capset`.
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
