// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom policies: their files, the subjects they confine, and the accesses that test them.

mod access;
mod check;
mod choose;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::words::AuditRecords;

pub use access::is_guest_path;
pub use access::{Access, AccessError, AccessHow};
pub use check::is_smack_label;
pub(crate) use check::{check, check_beside, check_together};
pub use choose::stacks_of;
pub(crate) use choose::{AUDIT, IMA, check_used, choices, named, subsystem};

pub(crate) const MODULES: [&str; 8] = [
    "apparmor", "audit", "bpf", "ima", "landlock", "selinux", "smack", "tomoyo",
];

/// A custom policy for one module.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomPolicy {
    /// The module: `apparmor`, `audit`, `bpf`, `ima`, `landlock`, `selinux`, `smack`, `tomoyo`.
    pub module: String,
    /// Files on this machine. AppArmor: profiles, or a directory like `/etc/apparmor.d`. SELinux:
    /// one binary policy, or modules (`.cil`, `.pp`, `.pp.bz2`), or a directory of modules.
    /// Landlock: rulesets, one per layer. BPF: objects. TOMOYO: a directory like
    /// `/etc/tomoyo/policy/current`, or its files. Smack: a directory like `/etc/smack`, or files
    /// of rules. IMA: rules as in `/etc/ima/ima-policy`. audit: rules as in
    /// `/etc/audit/audit.rules`.
    pub files: Vec<String>,
    /// Debian packages with these files, for the hint if any is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// AppArmor: profile that confines the benchmarks. Default: the only one.
    pub profile: Option<String>,
    /// TOMOYO: domain of the benchmarks: `<kernel> /usr/sbin/sshd`.
    pub domain: Option<String>,
    /// SELinux: context of the benchmarks.
    pub context: Option<String>,
    /// SELinux: file with the labels of files (`file_contexts`).
    pub file_contexts: Option<String>,
    /// SELinux: label of the benchmarks' files. Default: the label of their directory in
    /// `file_contexts`.
    pub files_context: Option<String>,
    /// SELinux: booleans to change.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub booleans: BTreeMap<String, bool>,
    /// Smack: label of the benchmarks, the subject of rules.
    pub label: Option<String>,
    /// Smack: label of the benchmarks' directory. It is transmuting: files get its label if a rule
    /// grants `t`. Default: `label`.
    pub files_label: Option<String>,
    /// Smack: labels by path, for the objects of accesses and directories above them. Other files
    /// have the kernel's default, `_`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// BPF: programs to attach. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// audit: where records go. Default: `absent`.
    pub records: Option<AuditRecords>,
    /// Whole programs: where they start, if not as the subject that confines them. AppArmor:
    /// `unconfined` or a profile; SELinux: a context; Smack: a label; TOMOYO: a domain, by default
    /// `<kernel>`. The subject applies once a program with that path or label is executed.
    pub starts_in: Option<String>,
    /// BPF: entries to add to maps before anything is measured, by the map's name. Keys and values
    /// are hexadecimal, or numbers and text: `u32:40,text:/etc/`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub maps: BTreeMap<String, BTreeMap<String, String>>,
    /// BPF: accesses at which a program must run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Access>,
    /// Accesses that the policy must deny.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Access>,
    /// Accesses that the policy must allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Access>,
    /// IMA: file accesses that the policy must measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Access>,
    /// IMA: file accesses that the policy must not measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<Access>,
    /// First 16 digits of the SHA-256 of its files; empty until they are read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}
