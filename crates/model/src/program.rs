// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs to measure, and their root.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

const NAME_LIMIT: usize = 40;

/// Source of the workloads' root, as written by the user.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RootSpec {
    /// A directory to use as the root, a tar file, or an OCI image layout.
    pub path: Option<String>,
    /// Programs on this machine: the root consists of these programs and their libraries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// More files and directories on this machine, copied to the same path, with the libraries of
    /// programs among them. `*`, `?` and `[...]` work as in a shell. A pattern may match nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Debian packages with all these files, for the hint if any is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// A directory to copy into the root as `/tree`.
    pub tree: Option<String>,
}

/// A program, and how to start it.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Name of its measurements: letters, digits, `-`, `_`, `.`, `+`.
    pub name: String,
    /// The program and its arguments, as for execve(2). A program without `/` is searched for in
    /// the root's PATH. Default: the command of a container image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Working directory in the root. Default: the container image's, or else `/tree` if it exists,
    /// or else `/`.
    pub cwd: Option<String>,
    /// Environment, as `NAME=value`. Nothing is inherited from lsmeter. Default: the variables of a
    /// container image, and a `PATH`, `HOME=/tmp`, `LC_ALL=C` and `PYTHONHASHSEED=0` for those that
    /// it does not set.
    pub env: Option<Vec<String>>,
    /// User: a name in the root's `/etc/passwd` or a number, optionally followed by `:` and a group
    /// in its `/etc/group` or a number. `setup` and `prepare` run as root. Default: the container
    /// image's, or else root.
    pub user: Option<String>,
    /// File in the root for standard input. Default: `/dev/null`.
    pub stdin: Option<String>,
    /// File in the root for standard output and error. Default: `/dev/null`.
    pub stdout: Option<String>,
    /// Programs to run once per boot, before everything else of this workload; not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Vec<String>>,
    /// Programs to run before each measurement; not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<Vec<String>>,
    /// Number of measurements: 1 to 1,000. Default: 3.
    pub repeat: Option<u32>,
    /// Whether to drop dentries and inodes before each measurement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// Files that the root must contain if no other root is named; only in combined presets.
    #[serde(skip)]
    pub needs: Option<RootSpec>,
}

/// Workloads and their root, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Programs {
    pub root: RootSpec,
    /// First 16 digits of the SHA-256 of the root (names, owners, modes, contents); empty until it
    /// is read.
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

impl Workload {
    pub fn repetitions(&self) -> u32 {
        self.repeat.unwrap_or(3)
    }

    /// `git status` is `git-status`.
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
