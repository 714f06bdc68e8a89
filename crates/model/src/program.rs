// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs that are measured, and their root.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::select::Selectable;
use crate::words::Suite;

const NAME_LIMIT: usize = 40;

/// Where the root of workloads comes from, as a user wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RootSpec {
    /// A directory that becomes the root, a tar file, or an OCI image layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Programs of this machine: they and the libraries that they name are the root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// More of this machine's files and directories, where they lie, with the libraries of the
    /// programs among them; `*`, `?` and `[...]` as a shell takes them, and a pattern may fit nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Packages of Debian that hold all this, for whoever lacks something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
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
    /// looked for in the root's PATH. Default: what a container image names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Working directory in the root. Default: a container image's, `/tree` if there is one,
    /// else `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables, `NAME=value`; nothing is taken from lsmeter's own environment. Default: a
    /// `PATH`, `HOME=/tmp`, `LC_ALL=C` and `PYTHONHASHSEED=0`, and before them a container
    /// image's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<String>>,
    /// Who it runs as: a user of the root's `/etc/passwd` or a number, and after a `:` a group
    /// of its `/etc/group` or a number. Preparations are root's. Default: a container image's,
    /// else root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// File of the root that it reads. Default: `/dev/null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// File of the root that it writes, its errors too. Default: `/dev/null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Programs that run once in a boot, before all else of this workload; not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Vec<String>>,
    /// Programs that run before it each time, and are not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<Vec<String>>,
    /// How often it is measured: 1 to 1,000. Default: 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Dentries and inodes are dropped before each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// What the root holds for it, if no root is named: only of presets that are put together.
    #[serde(skip)]
    pub needs: Option<RootSpec>,
}

/// Workloads and their root, decided and checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Programs {
    /// Where the root comes from.
    pub root: RootSpec,
    /// What the root holds, as the first 16 digits of a SHA-256 (names, owners, modes, contents);
    /// empty before it was looked at.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    pub workloads: Vec<Workload>,
}

impl RootSpec {
    pub(crate) fn add(&mut self, other: RootSpec) {
        let lists = [
            (&mut self.programs, other.programs),
            (&mut self.files, other.files),
            (&mut self.packages, other.packages),
        ];
        for (mine, its) in lists {
            let new: Vec<String> = its
                .into_iter()
                .filter(|word| !mine.contains(word))
                .collect();
            mine.extend(new);
        }
    }
}

impl Selectable for Workload {
    fn benchmark(&self) -> &str {
        &self.name
    }

    fn variant(&self) -> &str {
        ""
    }

    fn suite(&self) -> Suite {
        Suite::Beyond
    }
}

impl Workload {
    #[must_use]
    pub fn repetitions(&self) -> u32 {
        self.repeat.unwrap_or(3)
    }

    /// `git status` is `git-status`.
    #[must_use]
    pub fn name_of(command: &[String]) -> String {
        let mut name = String::new();
        for word in command {
            let word = word.rsplit('/').next().unwrap_or(word);
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
            if word.is_empty() || !word.chars().all(fits) {
                break;
            }
            let more = word.len() + usize::from(!name.is_empty());
            if name.len() + more > NAME_LIMIT {
                break;
            }
            if !name.is_empty() {
                name.push('-');
            }
            name.push_str(word);
        }
        if name.is_empty() {
            name.push_str("program");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_called_by_its_words() {
        let name = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            Workload::name_of(&words)
        };
        assert_eq!(name(&["git", "status"]), "git-status");
        assert_eq!(
            name(&["/usr/bin/tar", "-cf", "/dev/null", "."]),
            "tar--cf-null-."
        );
        assert_eq!(name(&["sh", "-c", "a | b"]), "sh--c");
        assert_eq!(name(&["ä"]), "program");
    }
}
