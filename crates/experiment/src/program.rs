// SPDX-License-Identifier: GPL-2.0-or-later
//! Whole programs that are measured, and the root that they run in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hint::excerpt;
use crate::resolve::{list, number, printable};
use crate::spec::SpecError;

const WORKLOADS_LIMIT: usize = 64;
/// Arguments, variables and preparations of one workload.
const WORDS_LIMIT: usize = 1_024;
/// Bytes of one of them.
const WORD_LIMIT: usize = 128 << 10;
const REPEAT_LIMIT: u32 = 1_000;
const REPEAT_DEFAULT: u32 = 3;

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
        self.repeat.unwrap_or(REPEAT_DEFAULT)
    }

    fn check(&self) -> Result<(), SpecError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(fits) {
            return Err(SpecError::instead(
                format!("`{}` is no name of a workload", excerpt(&self.name)),
                "use up to 64 letters, digits, -, _, . and +",
            ));
        }
        let programs = std::iter::once(&self.argv).chain(&self.prepare);
        let has_none = |argv: &Vec<String>| argv.first().is_none_or(String::is_empty);
        if programs.clone().any(has_none) {
            return Err(SpecError::instead(
                format!("the workload {} names no program", self.name),
                "give it and its arguments as a list: argv = [\"git\", \"status\"]",
            ));
        }
        let words = programs.flatten().chain(self.env.iter().flatten());
        let is_odd = |word: &String| word.len() > WORD_LIMIT || word.contains('\0');
        if words.clone().count() > WORDS_LIMIT || words.clone().any(is_odd) {
            return Err(SpecError::instead(
                format!(
                    "the workload {} has more than {WORDS_LIMIT} words, or one that is longer \
                     than {WORD_LIMIT} bytes or holds a NUL",
                    self.name
                ),
                "put what is long into a file of the root",
            ));
        }
        if let Some(variable) = self.env.iter().flatten().find(|word| !word.contains('=')) {
            return Err(SpecError::instead(
                format!("`env` holds `{}`, which is no variable", excerpt(variable)),
                "write NAME=value",
            ));
        }
        for path in [&self.cwd, &self.stdin, &self.stdout].into_iter().flatten() {
            printable("workloads", path.clone())?;
            if !path.starts_with('/') {
                return Err(SpecError::instead(
                    format!("`{}` is no path from the root on", excerpt(path)),
                    "begin it with /",
                ));
            }
        }
        number("repeat", self.repetitions(), 1..=REPEAT_LIMIT, "")?;
        Ok(())
    }
}

impl Programs {
    /// Checks workloads and their root; None if there are neither.
    pub(crate) fn resolve(
        root: Option<RootSpec>,
        workloads: Option<Vec<Workload>>,
    ) -> Result<Option<Programs>, SpecError> {
        let (root, workloads) = match (root, workloads) {
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                return Err(SpecError::instead(
                    "workloads need a root to run in",
                    "name a directory with --root, or programs of this machine with --programs",
                ));
            }
            (Some(_), None) => {
                return Err(SpecError::instead(
                    "a root without a workload",
                    "say what is run in it, after --, or in [[workloads]]",
                ));
            }
            (Some(root), Some(workloads)) => (root, workloads),
        };
        if root.path.is_some() != root.programs.is_empty() {
            return Err(SpecError::instead(
                "a root is either a directory or made of programs",
                "give one of --root and --programs",
            ));
        }
        let names: Vec<&str> = workloads.iter().map(|of| of.name.as_str()).collect();
        list("workloads", &names, WORKLOADS_LIMIT)?;
        workloads.iter().try_for_each(Workload::check)?;
        Ok(Some(Programs {
            root,
            digest: String::new(),
            workloads,
        }))
    }
}
