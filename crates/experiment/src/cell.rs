// SPDX-License-Identifier: GPL-2.0-or-later
//! One cell: kernel × configuration × benchmark × variant × metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::configuration::{self, Tuning};
use crate::profile::HookCost;
use crate::words::{Integrity, Metric, Policy, Status, Unit};

/// What identifies a cell inside an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// Kernel as the user named it.
    pub kernel: String,
    /// The stack's names in order; `["default"]` for the distribution's list.
    pub stack: Vec<String>,
    /// Integrity subsystems at work.
    pub integrity: Vec<Integrity>,
    /// What the modules decide with.
    pub policy: Policy,
    /// Sizes of policies.
    pub tuning: Tuning,
    /// File system worked on.
    pub filesystem: String,
    /// Benchmark.
    pub benchmark: String,
    /// Its variant; may be empty.
    pub variant: String,
    /// What was measured.
    pub metric: Metric,
}

/// What came out of one cell. Figures carry `unit` and are missing unless the status
/// is ok.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Kernel as the user named it: `debian:6.12`, a path, or `host`.
    pub kernel: String,
    /// `uname -r` as the guest reported it; empty if it never did.
    #[serde(default)]
    pub release: String,
    /// The stack asked for, in order; `["default"]` for the distribution's list.
    pub stack: Vec<String>,
    /// What `/sys/kernel/security/lsm` listed; empty if it was never read.
    #[serde(default)]
    pub active_lsms: Vec<String>,
    /// Integrity subsystems at work: audit, ima, evm.
    #[serde(default)]
    pub integrity: Vec<Integrity>,
    /// What the modules decided with.
    pub policy: Policy,
    /// Sizes of policies.
    #[serde(default, skip_serializing_if = "Tuning::is_default")]
    pub tuning: Tuning,
    /// File system worked on.
    pub filesystem: String,
    /// Benchmark: `open`.
    pub benchmark: String,
    /// Its variant: `AA/BB`; empty if it has only one.
    pub variant: String,
    /// System calls of one operation, in order.
    #[serde(default)]
    pub syscalls: Vec<String>,
    /// Class of file access (section 4.1 of the paper): file, dir, link, attr …
    #[serde(default)]
    pub class: String,
    /// What was measured.
    pub metric: Metric,
    /// Unit of all figures.
    pub unit: Unit,
    /// Samples behind the figures; clean windows for instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Median of the samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// Mean of the samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Standard deviation of the sample (divisor n - 1); missing for n = 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stddev: Option<f64>,
    /// Smallest sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// 95 % bootstrap percentile interval of the median; missing for n < 6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// The samples themselves, in the order taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Vec<f64>>,
    /// Median of each round's samples, in the order of the rounds; only for time and
    /// throughput. What rounds differ by is what a comparison has to stand out from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_medians: Option<Vec<f64>>,
    /// What it was in each of the runs that measured it without a change (`--aa`), this one
    /// first; not of counts. What two runs differ by is more than what rounds of one do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aa_medians: Option<Vec<f64>>,
    /// Paths through the kernel; only for instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// LSM hooks on the modal path, by name; only if they were asked for
    /// (`--with-hooks`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Vec<HookCost>>,
    /// Operations per sample; only for time and throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Wall-clock seconds that the cell took, as the host saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How it ended.
    pub status: Status,
    /// Why it is not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Windows of an instruction cell, grouped by their path through the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// The most frequent path: the cell's figure.
    pub modal: PathCount,
    /// Other paths, most frequent first, at most [`Counts::PATHS_LIMIT`].
    #[serde(default)]
    pub paths: Vec<PathCount>,
    /// Clean windows, of all paths; operations, if each is made of many windows.
    pub windows: u64,
    /// Windows dropped because an interrupt or a context switch fell into them.
    pub dirty: u64,
    /// Hash of the modal path's control flow, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hash: Option<String>,
}

impl Counts {
    /// Most paths besides the modal one that a document holds.
    pub const PATHS_LIMIT: usize = 16;

    /// Did at least half of the clean windows take the modal path? If not, it is one
    /// path of many, and says little of the operation.
    pub fn is_stable(&self) -> bool {
        2 * self.modal.windows >= self.windows
    }
}

/// Windows that took the same path through the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCount {
    /// Guest kernel instructions per operation, a REP instruction counted once.
    pub instructions: u64,
    /// Iterations of REP instructions per operation, not part of `instructions`.
    pub rep_iterations: u64,
    /// Windows that took it.
    pub windows: u64,
}

/// `benchmark:variant`, or `benchmark` if there is only one variant.
pub fn title(benchmark: &str, variant: &str) -> String {
    if variant.is_empty() {
        benchmark.to_owned()
    } else {
        format!("{benchmark}:{variant}")
    }
}

impl Cell {
    /// A cell that has not been measured: failed, without a reason yet.
    pub fn unmeasured(key: CellKey) -> Cell {
        Cell {
            kernel: key.kernel,
            release: String::new(),
            stack: key.stack,
            active_lsms: Vec::new(),
            integrity: key.integrity,
            policy: key.policy,
            tuning: key.tuning,
            filesystem: key.filesystem,
            benchmark: key.benchmark,
            variant: key.variant,
            syscalls: Vec::new(),
            class: String::new(),
            metric: key.metric,
            unit: key.metric.unit(),
            n: None,
            median: None,
            mean: None,
            stddev: None,
            min: None,
            max: None,
            ci95: None,
            samples: None,
            round_medians: None,
            aa_medians: None,
            counts: None,
            hooks: None,
            batch: None,
            seconds: None,
            status: Status::Failed,
            reason: None,
        }
    }

    /// Takes over the figures of its samples, and is ok.
    pub fn measured(&mut self, summary: &stats::Summary) {
        self.n = Some(summary.n as u64);
        self.median = Some(summary.median);
        self.mean = Some(summary.mean);
        self.stddev = summary.stddev;
        self.min = Some(summary.min);
        self.max = Some(summary.max);
        self.ci95 = summary.ci95;
        self.status = Status::Ok;
        self.reason = None;
    }

    /// Ends without figures, as failed or unsupported.
    pub fn unusable(&mut self, status: Status, reason: impl Into<String>) {
        self.n = None;
        self.median = None;
        self.mean = None;
        self.stddev = None;
        self.min = None;
        self.max = None;
        self.ci95 = None;
        self.samples = None;
        self.round_medians = None;
        self.aa_medians = None;
        self.counts = None;
        self.hooks = None;
        self.status = status;
        self.reason = Some(reason.into());
    }

    /// What identifies it.
    pub fn key(&self) -> CellKey {
        CellKey {
            kernel: self.kernel.clone(),
            stack: self.stack.clone(),
            integrity: self.integrity.clone(),
            policy: self.policy,
            tuning: self.tuning,
            filesystem: self.filesystem.clone(),
            benchmark: self.benchmark.clone(),
            variant: self.variant.clone(),
            metric: self.metric,
        }
    }

    /// `benchmark:variant`, or `benchmark` if there is only one variant.
    pub fn title(&self) -> String {
        title(&self.benchmark, &self.variant)
    }

    /// What it was measured under: `capability,selinux (enforcing)`.
    pub fn configuration_title(&self) -> String {
        let stack = self.stack.join(",");
        configuration::title(&stack, &self.integrity, self.policy, &self.tuning)
    }

    /// The figure that stands for the cell, in its unit: the modal path's instructions
    /// of an instruction cell, as long as half of its windows took that path; the
    /// median of any other. None unless ok.
    pub fn headline(&self) -> Option<f64> {
        if self.status != Status::Ok {
            return None;
        }
        match (&self.counts, self.metric) {
            (Some(counts), Metric::Instructions) if counts.is_stable() => {
                Some(counts.modal.instructions as f64)
            }
            _ => self.median,
        }
    }

    /// Is its figure an exact count, and not the median of a mixture of paths?
    pub fn is_exact(&self) -> bool {
        self.metric == Metric::Instructions && self.counts.as_ref().is_none_or(Counts::is_stable)
    }

    /// May its figure and another's be the same? Their intervals overlap, or one has none;
    /// two exact counts are what they are.
    pub fn may_equal(&self, other: &Cell) -> bool {
        !(self.is_exact() && other.is_exact())
            && match (self.ci95, other.ci95) {
                (Some(a), Some(b)) => stats::overlap(a, b),
                _ => true,
            }
    }

    /// What contradicts itself in the cell, if anything.
    pub(crate) fn contradiction(&self) -> Option<String> {
        if self.unit != self.metric.unit() {
            return Some(format!(
                "the metric is {}, the unit {}",
                self.metric, self.unit
            ));
        }
        if self.stack.is_empty() {
            return Some("the stack is empty".to_owned());
        }
        if self.status != Status::Ok {
            return None;
        }
        let (Some(n), Some(median)) = (self.n, self.median) else {
            return Some("the status is ok, but n or median is missing".to_owned());
        };
        if n == 0 {
            return Some("the status is ok, but n is 0".to_owned());
        }
        if self.min.is_some_and(|min| min > median) || self.max.is_some_and(|max| max < median) {
            return Some("the median lies outside min and max".to_owned());
        }
        if self.ci95.is_some_and(|[low, high]| low > high) {
            return Some("ci95 ends before it begins".to_owned());
        }
        if self
            .counts
            .as_ref()
            .is_some_and(|counts| counts.paths.len() > Counts::PATHS_LIMIT)
        {
            return Some(format!(
                "counts holds more than {} paths",
                Counts::PATHS_LIMIT
            ));
        }
        let sound = |x: &f64| x.is_finite() && *x >= 0.0;
        if !self.aa_medians.iter().flatten().all(sound) {
            return Some("a figure in aa_medians is none".to_owned());
        }
        None
    }
}
