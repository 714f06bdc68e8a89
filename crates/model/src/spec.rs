// SPDX-License-Identifier: GPL-2.0-or-later
//! An experiment as a user wrote it: TOML in which every key is optional.

mod error;

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::given::CustomPolicy;
use crate::hint::{excerpt, nearest};
use crate::metric::Metric;
use crate::program::{RootSpec, Workload};
use crate::resolve::{KERNELS_LIMIT, list, printable};
use crate::words::{
    Architecture, AuditRules, FileSystem, FirstAfter, ImaPolicy, Integrity, Place, Policy, Select,
    SelinuxPolicy, Suite, UnknownWord,
};

pub use error::SpecError;

/// In bytes.
pub const SPEC_LIMIT_BYTES: usize = 1 << 20;

fn measurable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Metric>>, D::Error> {
    let metrics: Option<Vec<Metric>> = Option::deserialize(deserializer)?;
    let mut all = metrics.iter().flatten();
    match all.find(|metric| !Metric::MEASURABLE.contains(metric)) {
        Some(other) => Err(D::Error::unknown_variant(&other.to_string(), &[])),
        None => Ok(metrics),
    }
}

macro_rules! spec {
    ($($(#[$meta:meta])* $key:ident: $type:ty,)+) => {
        /// An experiment from a file, a preset or flags. [`Spec::resolve`] fills missing keys with
        /// the defaults below; they stay missing when written as TOML, which has no nulls.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Spec {
            $($(#[$meta])* pub $key: Option<$type>,)+
        }

        impl Spec {
            /// Fills missing keys from another spec.
            pub fn or(self, other: Spec) -> Spec {
                Spec { $($key: self.$key.or(other.$key),)+ }
            }

            pub fn keys(&self) -> Vec<&'static str> {
                let keys = [$((stringify!($key), self.$key.is_some()),)+];
                let keys = keys.into_iter().filter(|(_, is_set)| *is_set);
                keys.map(|(key, _)| if key == "place" { "where" } else { key }).collect()
            }

            fn remove(&mut self, keys: &[&str]) {
                $(if keys.contains(&stringify!($key)) {
                    self.$key = None;
                })+
            }
        }
    };
}

spec! {
    /// One line. Default: none.
    description: String,
    /// `lab` (virtual machines), `host` (the running kernel, as it is) or `um` (UML kernels).
    /// Default: lab.
    #[serde(rename = "where")]
    place: Place,
    /// Directory to work in. Required on the host, not allowed in the lab.
    dir: String,
    /// `debian:6.12`, `debian:6.1.0-56`, `build:NAME` or a path; `build:um.*` for all matching
    /// kernels of the cache. Default: `["debian:6.12"]`.
    kernels: Vec<String>,
    /// Names for `kernels`, in their order, used by `configurations` and `baseline_kernel`:
    /// `["without-lsm", "all-modules"]`. Other `kernels` replace them role by role. Default: none.
    roles: Vec<String>,
    /// Architectures for Debian kernels whose names do not contain one, such as `["aarch64"]`; each
    /// kernel is measured on each architecture. Default: this machine's.
    arch: Vec<Architecture>,
    /// As in `lsm=`, or `default` for the distribution's list. Default: capability; with selinux,
    /// apparmor, tomoyo; default.
    stacks: Vec<String>,
    /// Policy states for every stack: none, permissive, enforcing. Default: none.
    policies: Vec<Policy>,
    /// Integrity subsystems for every stack: `["", "audit", "audit,ima"]`. Default: none.
    integrity: Vec<IntegrityList>,
    /// Numbers of rules for every policy: 1 to 100,000. Default: as many as the benchmarks need.
    rules: Vec<u32>,
    /// Numbers of nested Landlock rulesets for every policy: 1 to 16. Default: 1.
    layers: Vec<u32>,
    /// Entries in SELinux's access vector cache: 16 to 65,536. Default: 512.
    avc_entries: u32,
    /// `minimal` or `reference`. Default: minimal.
    selinux_policy: SelinuxPolicy,
    /// Number of different SELinux labels of the benchmarks' files: 1 to 4,096. Default: 1.
    labels: u32,
    /// Whether enforcing policies also deny access to a few files made for that purpose. Default:
    /// no.
    denials: bool,
    /// Events before each operation, for every policy to which they apply: `nothing`, `load`,
    /// `relabel`. Default: nothing.
    first_after: Vec<FirstAfter>,
    /// `none`, `never-task`, `one`, `file-access`, `stig`. Default: file-access.
    audit_rules: AuditRules,
    /// `file-system`, `tcb`, `appraise-tcb`, `tcb-and-appraise-tcb`. Default: file-system.
    ima_policy: ImaPolicy,
    /// Custom policies by name; each is combined with every stack that has its module. Default:
    /// none.
    custom: BTreeMap<String, CustomPolicy>,
    /// Working directory of the benchmarks in a virtual machine. Default: `/mnt`.
    work_dir: String,
    /// Single configurations, in addition to those of `stacks`. Default: none.
    configurations: Vec<ConfigurationSpec>,
    /// A stack, or a configuration's position from 0. Default: the first.
    baseline: Baseline,
    /// The kernel to compare the others with, by configuration. Default: the first, if there is
    /// only one configuration.
    baseline_kernel: String,
    /// Patterns: `open`, `open:AA/BB`, `*xattr`, `!treewalk:full`. Default: `["*"]`.
    benchmarks: Vec<String>,
    /// Suites that `benchmarks` chooses from (`lsmeter list benchmarks`). Default: all.
    suites: Vec<Suite>,
    /// Variants selected by a pattern without a variant: `first` or `all`. Default: all.
    select: Select,
    /// Source of the workloads' root. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: RootSpec,
    /// Whole programs instead of benchmarks. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    workloads: Vec<Workload>,
    /// instructions, time and throughput; or memory alone. Default: instructions; time on the host.
    #[serde(default, deserialize_with = "measurable")]
    metrics: Vec<Metric>,
    /// ext4, tmpfs, xfs, btrfs or overlay. Default: ext4. Not allowed on the host.
    filesystem: FileSystem,
    /// Per measurement and metric: 1 to 1,000,000. Default: 64 counted operations, 300 timed
    /// batches, 30 slices of the period for throughput.
    samples: u32,
    /// Operations before the first sample: 0 to 1,000,000. Default: 64.
    warmup: u32,
    /// Visits to each timed measurement: 1 to 1,000, at most `samples`. Default: 3 in the lab if
    /// anything is timed, or else 1.
    rounds: u32,
    /// Seconds before a throughput is measured: 0 to 600. Default: 1 (the paper: 10).
    throughput_warmup_s: f64,
    /// Seconds for which a throughput is measured: 0.01 to 3600. Default: 3 (the paper: 30).
    throughput_period_s: f64,
    /// Kernel command line to append: `mitigations=off`. Default: nothing.
    cmdline: String,
    /// Emulated processor, by its QEMU name: `cortex-a72`. Default: the architecture's.
    cpu: String,
    /// Processors between which transfers are counted: 2 to 4. Default: 2.
    processors: u32,
    /// Parallel virtual machines: 1 to 256. Default: one per processor.
    jobs: u32,
    /// Time-out of a boot in s: 1 to 86,400. Default: 120.
    boot_timeout_s: u32,
    /// Time-out of a measurement in s: 1 to 86,400. Default: 300.
    measurement_timeout_s: u32,
}

/// One configuration. Keys are as in [`Spec`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigurationSpec {
    /// Only this kernel: a role, a name, or a pattern (`build:um.*`). Default: all.
    pub kernel: Option<String>,
    pub stack: String,
    /// Default: none.
    #[serde(default)]
    pub policy: Policy,
    /// `audit,ima`. Default: none.
    #[serde(default)]
    pub integrity: IntegrityList,
    pub rules: Option<u32>,
    pub layers: Option<u32>,
    pub avc_entries: Option<u32>,
    pub selinux_policy: Option<SelinuxPolicy>,
    pub labels: Option<u32>,
    #[serde(default)]
    pub denials: bool,
    #[serde(default)]
    pub first_after: FirstAfter,
    pub audit_rules: Option<AuditRules>,
    pub ima_policy: Option<ImaPolicy>,
    /// Names in [`Spec::custom`].
    #[serde(default)]
    pub custom: Vec<String>,
}

/// Written `audit,ima`; empty or `none` for none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct IntegrityList(pub Vec<Integrity>);

impl IntegrityList {
    pub fn has(&self, integrity: Integrity) -> bool {
        self.0.contains(&integrity)
    }
}

impl std::str::FromStr for IntegrityList {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<IntegrityList, UnknownWord> {
        if matches!(text.trim(), "" | "none") {
            return Ok(IntegrityList::default());
        }
        let words = text.split(',').map(|word| word.trim().parse::<Integrity>());
        let asked = words.collect::<Result<Vec<_>, _>>()?;
        let listed = Integrity::ALL.iter().filter(|word| asked.contains(word));
        Ok(IntegrityList(listed.copied().collect()))
    }
}

impl fmt::Display for IntegrityList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.pad("none");
        }
        let words: Vec<&str> = self.0.iter().map(|word| word.as_str()).collect();
        f.pad(&words.join(","))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a stack, or a configuration's position from 0"
)]
pub enum Baseline {
    /// A configuration's position, from 0.
    Index(u32),
    Stack(String),
}

impl Spec {
    /// `origin` appears in errors: a path, or "preset quick". Values are checked later, by
    /// [`Spec::resolve`], after merging.
    pub fn parse(origin: &str, text: &str) -> Result<Spec, SpecError> {
        if text.len() > SPEC_LIMIT_BYTES {
            return Err(SpecError::TooLarge {
                origin: origin.to_owned(),
                bytes: text.len(),
            });
        }
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let (line, column) = position(text, at);
            // TOML's own messages may have several lines.
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            let near = nearest_in(&message);
            let message = match message.split_once(", expected one of") {
                Some((unknown, _)) => unknown.replace("unknown field", "unknown key"),
                None => message,
            };
            SpecError::Toml {
                origin: origin.to_owned(),
                line,
                column,
                message,
                near,
            }
        })
    }

    /// Overrides keys of this spec with those of `over`: flags override a file, and a file
    /// overrides a preset.
    ///
    /// Keys that depend on each other are replaced together: `benchmarks` with `suites`, `stacks`
    /// with `configurations` and `baseline`, `kernels` with `baseline_kernel` (unless that is a
    /// role). A different `where` drops the keys of the other place. A root for programs drops
    /// benchmarks.
    pub fn merge(mut self, over: Spec) -> Spec {
        if over.benchmarks.is_some() || over.suites.is_some() {
            self.remove(&["benchmarks", "suites"]);
        }
        if over.root.is_some() && self.root.is_none() {
            self.benchmarks = None;
        }
        if over.stacks.is_some() || over.configurations.is_some() {
            self.remove(&["stacks", "configurations", "roles", "baseline"]);
        }
        if over.kernels.is_some() {
            let roles = self.roles.as_deref().unwrap_or_default();
            self.baseline_kernel = self.baseline_kernel.filter(|name| roles.contains(name));
        }
        if over.place.is_some() && over.place != self.place {
            match over.place {
                Some(Place::Host) => self.remove(&OF_THE_LAB),
                Some(Place::Um) => self.remove(&NOT_OF_UM),
                _ if self.place == Some(Place::Host) => self.dir = None,
                _ => {}
            }
        }
        over.or(self)
    }
}

/// Keys for the lab, which are dropped if the place changes to the host.
const OF_THE_LAB: [&str; 12] = [
    "kernels",
    "roles",
    "arch",
    "stacks",
    "configurations",
    "baseline",
    "baseline_kernel",
    "metrics",
    "filesystem",
    "work_dir",
    "cmdline",
    "cpu",
];

/// Keys that are dropped if the place changes to UML kernels.
const NOT_OF_UM: [&str; 6] = [
    "dir",
    "kernels",
    "arch",
    "baseline_kernel",
    "metrics",
    "cpu",
];

impl Spec {
    pub fn fill_roles(mut self) -> Result<Spec, SpecError> {
        let (Some(roles), Some(kernels)) = (&self.roles, &self.kernels) else {
            return Ok(self);
        };
        list("roles", roles, KERNELS_LIMIT)?;
        for role in roles {
            printable("roles", role.clone())?;
        }
        if roles.len() != kernels.len() {
            let flags = roles
                .iter()
                .map(|role| format!("--kernel {}", role.to_uppercase()));
            return Err(SpecError::instead(
                format!(
                    "kernels and roles differ in number: {} and {} ({})",
                    kernels.len(),
                    roles.len(),
                    excerpt(&roles.join(", "))
                ),
                format!(
                    "name one kernel for each role, in this order: {}",
                    flags.collect::<Vec<_>>().join(" ")
                ),
            ));
        }
        let bound = self.configurations.iter_mut().flatten();
        let bound = bound.filter_map(|configuration| configuration.kernel.as_mut());
        for name in bound.chain(&mut self.baseline_kernel) {
            let role = roles.iter().position(|role| role == name);
            if let Some(at) = role {
                name.clone_from(&kernels[at]);
            }
        }
        self.roles = None;
        Ok(self)
    }
}

/// Line and column, from 1, of a byte of `text`.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// The nearest known word, from a message of serde that quotes the unknown word first, then the
/// known ones.
fn nearest_in(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let word = quoted.next()?;
    nearest(word, quoted).map(str::to_owned)
}
