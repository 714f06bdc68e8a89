// SPDX-License-Identifier: GPL-2.0-or-later
//! A resolved experiment, in which every key is set and checked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::configuration::Configuration;
use crate::given::CustomPolicy;
use crate::key::Key;
use crate::layout::kernel_beside;
use crate::metric::Metric;
use crate::program::Programs;
use crate::select::Selection;
use crate::words::{FileSystem, Place};

/// What to run: the product of kernels, stacks, benchmarks and metrics. Made by
/// [`crate::Spec::resolve`]; part of a run's result file.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Purpose, in one line.
    pub description: Option<String>,
    /// Virtual machines, the running kernel, or UML kernels.
    #[serde(rename = "where")]
    pub place: Place,
    /// Directory to work in; only on the host.
    pub dir: Option<String>,
    /// Kernels as named by the user; `["host"]` on the host.
    pub kernels: Vec<String>,
    /// Stacks and the states of their policies, at least one. On the host: `default`, the running
    /// kernel's own stack.
    pub configurations: Vec<Configuration>,
    /// Position of the baseline in `configurations`, from 0. A baseline that is bound to one kernel
    /// is the baseline for all kernels; otherwise each kernel has its own. Layouts of a kernel are
    /// compared with the baseline's layout that has the same number.
    pub baseline: u32,
    /// The kernel to compare the others with, configuration by configuration. If set, `baseline`
    /// has no meaning.
    pub baseline_kernel: Option<String>,
    pub selection: Selection,
    pub programs: Option<Programs>,
    /// Custom policies, by the names that configurations use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, CustomPolicy>,
    /// Working directory of benchmarks in a virtual machine; None: `/mnt`.
    pub work_dir: Option<String>,
    pub metrics: Vec<Metric>,
    /// File system mounted in a VM; None on the host, where `dir` decides.
    pub filesystem: Option<FileSystem>,
    /// Samples of a measurement, per metric, over all rounds.
    pub samples: Samples,
    /// Operations before the first sample, for instructions and time.
    pub warmup: u32,
    /// Number of visits to each timed measurement. Configurations are interleaved (A B A B …), so
    /// that drift cancels out. Instructions need only one visit.
    pub rounds: u32,
    /// Length of the warm-up before a throughput is measured, in seconds.
    pub throughput_warmup_s: f64,
    /// Length of the period over which a throughput is measured, in seconds.
    pub throughput_period_s: f64,
    /// Appended to the kernel command line, for instance `mitigations=off`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cmdline: String,
    /// The emulated processor, in QEMU's terms; None: the architecture's usual one.
    pub cpu: Option<String>,
    /// Processors between which transfers are counted; None for other metrics.
    pub processors: Option<u32>,
    /// Parallel virtual machines; None: one per processor.
    pub jobs: Option<u32>,
    /// Time-out in s until a boot reaches the agent.
    pub boot_timeout_s: u32,
    /// Time-out in s of a measurement.
    pub measurement_timeout_s: u32,
}

/// Number of samples, per metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// Measured regions.
    pub instructions: u32,
    pub time: u32,
    pub throughput: u32,
}

impl Samples {
    pub fn for_metric(&self, metric: Metric) -> u32 {
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

    /// The first key in which two experiments measure different things. `description`, `jobs` and
    /// the time-outs may differ.
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
