// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs that are measured, and the root that they run in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the root of workloads comes from, as a user wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RootSpec {
    /// A directory that becomes the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Programs of this machine: they and the libraries that they name are the root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// A directory that lies in the root as `/tree`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// A program with what it is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// What its cells are called: letters, digits, `-`, `_`, `.`, `+`.
    pub name: String,
    /// The program and its arguments, as execve(2) takes them; a program without a `/` is
    /// looked for in the root's PATH.
    pub argv: Vec<String>,
    /// Working directory in the root. Default: `/tree` if there is one, else `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables, `NAME=value`; nothing is taken from lsmeter's own environment. Default: a
    /// `PATH`, `HOME=/tmp`, `LC_ALL=C` and `PYTHONHASHSEED=0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<String>>,
    /// File of the root that it reads. Default: `/dev/null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// File of the root that it writes, its errors too. Default: `/dev/null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Programs that run before it each time, and are not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<Vec<String>>,
    /// How often it is measured: 1 to 1,000. Default: 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Dentries and inodes are dropped before each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
}

/// Workloads and their root, decided and checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Programs {
    /// Where the root comes from.
    pub root: RootSpec,
    /// What the root holds, as the first 16 digits of a SHA-256 (names, modes, contents);
    /// empty before it was looked at.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// What is run in it.
    pub workloads: Vec<Workload>,
}

impl Workload {
    /// How often it is measured.
    #[must_use]
    pub fn repetitions(&self) -> u32 {
        self.repeat.unwrap_or(3)
    }
}
