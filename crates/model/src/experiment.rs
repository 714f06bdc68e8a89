// SPDX-License-Identifier: GPL-2.0-or-later
//! A resolved experiment: every key decided and checked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::configuration::Configuration;
use crate::given::CustomPolicy;
use crate::key::Key;
use crate::layout::kernel_beside;
use crate::metric::Metric;
use crate::program::Programs;
use crate::select::Selection;
use crate::words::{FileSystem, Place};

/// What is run: the product of kernels, stacks, benchmarks and metrics. Made by
/// [`crate::Spec::resolve`]; part of the run document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// One line on what this experiment is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// In VMs, on the running kernel, or in kernels that are processes.
    #[serde(rename = "where")]
    pub place: Place,
    /// Directory to work in; only on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Kernels as named by the user; `["host"]` on the host.
    pub kernels: Vec<String>,
    /// Stacks and the states of their policies, at least one; the running kernel's own
    /// stack, `default`, on the host.
    pub configurations: Vec<Configuration>,
    /// Position of the baseline in `configurations`, from 0. If it is measured on one
    /// kernel only, it is the baseline of all kernels, else each kernel has its own; on layouts
    /// of one kernel, it is that of the layouts of others with the same number.
    pub baseline: u32,
    /// The kernel whose cells those of all other kernels are compared with,
    /// configuration by configuration; `baseline` then says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_kernel: Option<String>,
    /// Which benchmarks and variants.
    pub selection: Selection,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<Programs>,
    /// Policies of the user's own, by the names that configurations have for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, CustomPolicy>,
    /// Path in a virtual machine of the directory that benchmarks work in; None for the lab's
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_dir: Option<String>,
    pub metrics: Vec<Metric>,
    /// File system mounted in a VM; None on the host, where `dir` decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<FileSystem>,
    /// Samples of a cell, per metric, over all rounds.
    pub samples: Samples,
    /// Operations before the first sample of an instruction or time cell.
    pub warmup: u32,
    /// Times that a timed cell is visited, configurations interleaved (A B A B …), so
    /// that drift cancels. Instruction cells need one visit.
    pub rounds: u32,
    /// Seconds of a throughput cell before measuring.
    pub throughput_warmup_s: f64,
    /// Seconds of a throughput cell that are measured.
    pub throughput_period_s: f64,
    /// Appended to the kernel command line, for instance `mitigations=off`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cmdline: String,
    /// The processor of emulated machines, as QEMU names it; None: their architecture's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Virtual machines at a time; None: as many as there are processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Seconds until a boot that has not reached the agent is given up.
    pub boot_timeout_s: u32,
    /// Seconds until a cell that has not ended is given up.
    pub measurement_timeout_s: u32,
}

/// Samples of a cell, per metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// Counted operations (measured regions) of an instruction cell.
    pub instructions: u32,
    pub time: u32,
    pub throughput: u32,
}

impl Samples {
    pub fn of(&self, metric: Metric) -> u32 {
        match metric {
            Metric::Throughput => self.throughput,
            counted if counted.is_counted() => self.instructions,
            _ => self.time,
        }
    }
}

impl Experiment {
    pub fn baseline_configuration(&self) -> Option<&Configuration> {
        self.configurations.get(self.baseline as usize)
    }

    pub(crate) fn contradiction(&self) -> Option<String> {
        let (at, n) = (self.baseline, self.configurations.len());
        let beyond = self.baseline_configuration().is_none();
        beyond.then(|| format!("{at}, but there are {n} configurations"))
    }

    pub fn baseline_of(&self, key: &Key) -> Option<Key> {
        let mut base = key.clone();
        if let Some(kernel) = &self.baseline_kernel {
            base.kernel.clone_from(kernel);
        } else {
            let baseline = self.baseline_configuration()?;
            if let Some(name) = &baseline.kernel {
                kernel_beside(name, &key.kernel, &self.kernels).clone_into(&mut base.kernel);
            }
            base.stack = baseline.stack.names();
            base.integrity.clone_from(&baseline.integrity);
            base.policy = baseline.policy;
            base.settings = baseline.settings.clone();
        }
        (base != *key).then_some(base)
    }

    /// The first key in which two experiments measure something different. Keys of speed and
    /// patience (`jobs`, the time-outs) and `description` may differ.
    pub fn first_difference(&self, other: &Experiment) -> Option<String> {
        const NOT_MEASURED: [&str; 4] = [
            "description",
            "jobs",
            "boot_timeout_s",
            "measurement_timeout_s",
        ];
        let keys = |experiment| serde_json::to_value(experiment).unwrap_or_default();
        let (mine, theirs) = (keys(self), keys(other));
        let both = [&mine, &theirs]
            .into_iter()
            .filter_map(|keys| keys.as_object());
        let mut all = both.flat_map(|keys| keys.keys());
        all.find(|key| !NOT_MEASURED.contains(&key.as_str()) && mine[*key] != theirs[*key])
            .cloned()
    }
}
