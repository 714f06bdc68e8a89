// SPDX-License-Identifier: GPL-2.0-or-later
//! A run in shards, as those who start jobs want it written: Slurm, Kubernetes, GitLab,
//! GitHub.

mod forges;
mod kubernetes;
mod slurm;

use std::borrow::Cow;

pub use forges::{github, gitlab};
pub use kubernetes::kubernetes;
pub use slurm::{slurm, slurm_job};

/// What each job runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPlan {
    /// What the run is called: the preset, or the file without its ending.
    pub name: String,
    /// Jobs, from 1.
    pub shards: u32,
    /// lsmeter, as a job finds it.
    pub program: String,
    /// The arguments of `lsmeter run`, the spec first, without those of a shard and its output.
    pub arguments: Vec<String>,
    /// The container image, where jobs run in one.
    pub image: String,
    /// Times are taken: nothing may run beside a job.
    pub exclusive: bool,
}

impl JobPlan {
    /// The command of one job; `shard` and `output` are written as a shell expands them.
    fn command(&self, shard: &str, output: &str) -> String {
        let words = [&self.program[..], "run"].into_iter();
        let words = words.chain(self.arguments.iter().map(String::as_str));
        let words: Vec<Cow<'_, str>> = words.map(quoted).collect();
        format!(
            "{} --shard \"{shard}\" --output \"{output}\" --quiet",
            words.join(" ")
        )
    }

    /// The command that puts the documents of all jobs together.
    fn merge(&self, documents: &str) -> String {
        let output = quoted_owned(&format!("{}.json", self.name));
        format!(
            "{} merge {documents} --output {output}",
            quoted(&self.program)
        )
    }

    /// A name that everything takes: small letters, digits, hyphens.
    fn label(&self) -> String {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let name = self.name.to_ascii_lowercase();
        let name: String = name
            .chars()
            .map(|c| if fits(c) { c } else { '-' })
            .collect();
        let name: String = format!("lsmeter-{name}").chars().take(50).collect();
        name.trim_end_matches('-').to_owned()
    }
}

/// A word as the shell takes it for one. A NUL, which no argument holds, is left out.
fn quoted(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or_else(|_| Cow::Owned(quoted_owned(&word.replace('\0', ""))))
}

fn quoted_owned(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| "''".to_owned(), Cow::into_owned)
}

/// A text as a YAML scalar: JSON's are YAML's.
fn scalar(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
