// SPDX-License-Identifier: GPL-2.0-or-later
//! The machine and tools of a measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::configuration::Configuration;
use crate::metric::Metric;

/// How the policies of one configuration were brought into force on one kernel, in its
/// first boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyProof {
    pub kernel: String,
    pub configuration: Configuration,
    /// What was done, and what was denied and allowed, in order.
    pub steps: Vec<String>,
    /// What SELinux's access vector cache came to where files had labels in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheUse>,
    /// What parts of it took, in the order of the first of each; empty in documents of an older
    /// lsmeter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub took: Vec<PolicyPart>,
}

/// What the guest took for a part of bringing a module's policy into force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyPart {
    /// The module: `selinux`.
    pub module: String,
    /// `loading`: giving the policy to the kernel; `attaching` programs to hooks, and `detaching` them;
    /// `entering the domain` and `changing the profile`: the task that is measured comes under it.
    pub part: String,
    /// Of the loading task on the guest's processor, which counts instructions under the deterministic
    /// clock: no idling, and no other tasks.
    pub busy_ns: u64,
}

/// What opening files that have labels in turn, all of them known to the kernel, asked of
/// SELinux's access vector cache: `/sys/fs/selinux/avc/cache_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheUse {
    /// Files opened, each once.
    pub opens: u32,
    pub lookups: u32,
    /// Those that were not there, and were computed from the policy.
    pub misses: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `lsmeter`.
    pub name: String,
    pub version: String,
}

impl Tool {
    pub fn this() -> Tool {
        Tool {
            name: "lsmeter".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// One of the environments of a document that was put together, and its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    pub environment: Environment,
    /// Positions in `cells`, from 0, in order; empty if no cell ran there.
    #[serde(rename = "measurements")]
    pub cells: Vec<u32>,
}

impl Origin {
    /// Environments in which at least one of `cells` was timed.
    pub fn of_timed<'a>(origins: &'a [Origin], cells: &[Cell]) -> Vec<&'a Environment> {
        let is_timed = |&position: &u32| {
            let cell = cells.get(position as usize);
            cell.is_some_and(|cell| cell.key.metric.is_timed())
        };
        let timed = origins.iter().filter(|of| of.cells.iter().any(is_timed));
        timed.map(|of| &of.environment).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The host's distribution, as `/etc/os-release` names it.
    pub os: String,
    /// The host's `uname -r`.
    pub host_kernel: String,
    /// The host's processor model.
    pub cpu: String,
    pub cores: u32,
    pub kvm: bool,
    /// The emulator; missing on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qemu: Option<Emulator>,
    /// LSMs active on the host, where they matter: on the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_lsms: Vec<String>,
}

impl Environment {
    /// All texts are empty.
    pub fn unknown() -> Environment {
        Environment {
            os: String::new(),
            host_kernel: String::new(),
            cpu: String::new(),
            cores: 0,
            kvm: false,
            qemu: None,
            host_lsms: Vec::new(),
        }
    }

    /// The machine, as far as figures of a metric depend on it. Counts depend on the emulated
    /// processor; times on everything. Figures of different machines are not
    /// compared.
    pub fn machine(&self, metric: Metric) -> String {
        let emulated = self.qemu.as_ref().map(|qemu| match metric {
            counted if counted.is_counted() => format!("{}, deterministic clock", qemu.cpu),
            _ => format!("QEMU {}, {}", qemu.version, qemu.cpu),
        });
        if metric.is_counted() {
            return emulated.unwrap_or_default();
        }
        let mut text = format!("{}, {} processors", self.cpu, self.cores);
        if self.kvm {
            text += ", KVM";
        }
        match emulated {
            Some(emulated) => text + ", " + &emulated,
            None => text,
        }
    }

    /// What figures of one run must share: stricter than [`Environment::machine`]. For counts all
    /// of QEMU, for times also the running kernel if that is measured.
    pub fn fingerprint(&self, metric: Metric) -> String {
        match &self.qemu {
            Some(qemu) if metric.is_counted() => format!(
                "QEMU {} ({}, {}), deterministic clock",
                qemu.version, qemu.machine, qemu.cpu
            ),
            Some(_) => self.machine(metric),
            None => format!(
                "{}, Linux {} with {}",
                self.machine(metric),
                self.host_kernel,
                self.host_lsms.join(",")
            ),
        }
    }
}

/// The emulator and the machine it emulates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Emulator {
    pub version: String,
    /// `-cpu`.
    pub cpu: String,
    /// `-machine`.
    pub machine: String,
    /// The TCG plugin interface; missing if no plugin was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin_api: Option<PluginApi>,
}

/// Versions of QEMU's TCG plugin interface (`qemu_plugin_info_t.version`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginApi {
    pub min: u32,
    pub current: u32,
}
