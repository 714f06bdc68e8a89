// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom policies: their files, the subjects they confine, and the accesses that prove that they
//! decide.

mod access;
mod check;
mod choose;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use access::is_guest_path;
pub use access::{Access, AccessError, AccessHow};
pub use check::is_smack_label;
pub(crate) use check::{check, check_beside};
pub use choose::stacks_of;
pub(crate) use choose::{IMA, check_used, choices, named};

const MODULES: [&str; 7] = [
    "apparmor", "bpf", "ima", "landlock", "selinux", "smack", "tomoyo",
];

/// A policy of the user's own, of one module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomPolicy {
    /// The module that it is of: `apparmor`, `bpf`, `ima`, `landlock`, `selinux`, `smack`,
    /// `tomoyo`.
    pub module: String,
    /// What it is made of, files of this machine: AppArmor profiles, or a directory of them as
    /// `/etc/apparmor.d`; one binary policy of SELinux, or its modules (`.cil`, `.pp`,
    /// `.pp.bz2`), or a directory of these; rulesets of Landlock, one a layer; BPF objects; a
    /// directory as `/etc/tomoyo/policy/current`, or files of it; a directory as `/etc/smack`, or
    /// files of Smack's rules; rules of IMA as `/etc/ima/ima-policy` has them.
    pub files: Vec<String>,
    /// Packages of Debian that have these files, for whoever lacks something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// Of AppArmor: the profile that confines the benchmarks. Default: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Of TOMOYO: the domain that benchmarks run in: `<kernel> /usr/sbin/sshd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Of SELinux: the context that benchmarks run in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Of SELinux: the file that says which file has which label (`file_contexts`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_contexts: Option<String>,
    /// Of SELinux: the label of the benchmarks' files. Default: what `file_contexts` says of
    /// their directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_context: Option<String>,
    /// Of SELinux: conditional booleans that are not as the policy has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub booleans: BTreeMap<String, bool>,
    /// Of Smack: the label that benchmarks run with, the subject of rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Of Smack: the label of the directory that benchmarks work in, which it hands on to who
    /// may do `t` with it. Default: the benchmarks' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_label: Option<String>,
    /// Of Smack: labels of what the accesses name, and of directories above it, by path. All
    /// else has the kernel's, `_`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Of a BPF object: its programs that are attached. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Accesses that it must deny.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Access>,
    /// Accesses that it must allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Access>,
    /// Of IMA: accesses to files that it must measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Access>,
    /// Of IMA: accesses to files that it must let pass without measuring them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<Access>,
    /// What its files hold, as the first 16 digits of a SHA-256; empty before they were read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}
