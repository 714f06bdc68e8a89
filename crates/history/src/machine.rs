// SPDX-License-Identifier: GPL-2.0-or-later
//! What of a machine figures depend on.

use experiment::{Environment, Metric};

/// Counts depend on the emulated processor and on what drives its clock; times on
/// everything.
pub(crate) fn machine(environment: &Environment, metric: Metric) -> String {
    let emulated = environment.qemu.as_ref().map(|qemu| match metric {
        Metric::Instructions => format!("{}, {} clock", qemu.cpu, environment.clock),
        Metric::Time | Metric::Throughput => format!(
            "QEMU {}, {}, {} clock",
            qemu.version, qemu.cpu, environment.clock
        ),
    });
    if metric == Metric::Instructions {
        return emulated.unwrap_or_default();
    }
    let mut text = format!("{}, {} processors", environment.cpu, environment.cores);
    if environment.kvm {
        text += ", KVM";
    }
    match emulated {
        Some(emulated) => text + ", " + &emulated,
        None => text,
    }
}
