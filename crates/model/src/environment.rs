// SPDX-License-Identifier: GPL-2.0-or-later
//! The machine on which a measurement was made, and the tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::configuration::Configuration;
use crate::metric::Metric;

/// How the policies of one configuration were loaded and tested on one kernel, in its first boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyProof {
    pub kernel: String,
    pub configuration: Configuration,
    /// What was done, and which accesses were denied and allowed, in order.
    pub steps: Vec<String>,
    /// Lookups in SELinux's access vector cache; present only if files have several labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheUse>,
    /// Cost of each part of loading the policies, in order of first occurrence; empty in result
    /// files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub took: Vec<PolicyPart>,
}

/// Cost of one part of loading a module's policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyPart {
    /// The module: `selinux`.
    pub module: String,
    /// `loading`: passing the policy to the kernel; `attaching`: attaching programs to hooks;
    /// `detaching`; `entering the domain` and `changing the profile`: confining the measured task.
    pub part: String,
    /// Processor time of the loading task in the guest. Under the deterministic clock 1 ns is one
    /// instruction. Idle time and other tasks are excluded.
    pub busy_ns: u64,
}

/// Lookups in SELinux's access vector cache while files with different labels, all known to the kernel,
/// are opened in turn. Source: `/sys/fs/selinux/avc/cache_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheUse {
    /// Number of files, each opened once.
    pub opens: u32,
    pub lookups: u32,
    /// Lookups not found in the cache and computed from the policy.
    pub misses: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    pub name: String,
    pub version: String,
}

/// This program.
impl Default for Tool {
    fn default() -> Tool {
        Tool {
            name: "lsmeter".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// One environment of a merged result file, and its measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    pub environment: Environment,
    /// Positions in `measurements`, from 0, ascending; empty if none was made there.
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
        let timed = origins
            .iter()
            .filter(|origin| origin.cells.iter().any(is_timed));
        timed.map(|origin| &origin.environment).collect()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// `PRETTY_NAME` of the host's `/etc/os-release`.
    pub os: String,
    /// The host's `uname -r`.
    pub host_kernel: String,
    /// The host's processor model.
    pub cpu: String,
    pub cores: u32,
    pub kvm: bool,
    /// Missing on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qemu: Option<Emulator>,
    /// LSMs active on the host; only for measurements on the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_lsms: Vec<String>,
}

impl Environment {
    /// The part of the machine that a metric depends on. Counts depend on the emulated processor,
    /// times on everything. Values of different machines are not compared.
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

    /// The environment that all values of one run must share; it is stricter than
    /// [`Environment::machine`]. For counts it includes everything about QEMU, and for times also
    /// the running kernel, if that kernel is measured.
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

/// QEMU versions of the TCG plugin interface (`qemu_plugin_info_t.version`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginApi {
    pub min: u32,
    pub current: u32,
}
