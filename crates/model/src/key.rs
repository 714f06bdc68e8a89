// SPDX-License-Identifier: GPL-2.0-or-later
//! What identifies a cell, the same in every document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::configuration::{self, Configuration, Settings};
use crate::metric::Metric;
use crate::words::{Architecture, Caches, DelayModule, Integrity, Policy};

/// What identifies a cell inside a document, and across documents.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "Form")]
#[schemars(with = "Form")]
pub struct Key {
    pub architecture: Architecture,
    /// Kernel as the user named it: `debian:6.12`, a path, or `host`; of a recording
    /// `uname -r`.
    pub kernel: String,
    /// The stack asked for, in order; `["default"]` for the distribution's list. Of a
    /// recording what was active.
    pub stack: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub integrity: Vec<Integrity>,
    pub policy: Policy,
    #[serde(skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
    /// File system worked on; empty in recordings.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filesystem: String,
    #[serde(flatten)]
    pub subject: Subject,
    /// How decisions were delayed; None unless it is a sweep's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    pub metric: Metric,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Subject {
    Benchmark {
        /// `open`.
        benchmark: String,
        /// `AA/BB`; empty if there is only one.
        #[serde(skip_serializing_if = "String::is_empty")]
        variant: String,
    },
    Workload {
        /// `git-status`.
        workload: String,
        /// First digits of a SHA-256 of its root.
        root: String,
    },
    /// A time interval on a live machine.
    Interval {
        /// From 0.
        interval: u32,
    },
}

#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Delay {
    pub module: DelayModule,
    /// The hooks at which decisions are delayed together: `["all"]` are all that the
    /// module knows.
    pub hooks: Vec<String>,
    /// It is one hook's part of the operation's slope over several hooks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// What the kernel's caches know of the path before each operation.
    pub caches: Caches,
}

/// How documents have a key: read key by key, so that an error knows its place.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Key")]
struct Form {
    #[serde(default)]
    architecture: Architecture,
    /// Kernel as the user named it: `debian:6.12`, a path, or `host`; of a recording
    /// `uname -r`.
    kernel: String,
    /// The stack asked for, in order; `["default"]` for the distribution's list. Of a
    /// recording what was active.
    stack: Vec<String>,
    /// Integrity subsystems at work: audit, ima, evm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    integrity: Vec<Integrity>,
    #[serde(default)]
    policy: Policy,
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    settings: Settings,
    /// File system worked on; missing in recordings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    filesystem: String,
    /// Benchmark: `open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    benchmark: Option<String>,
    /// Its variant: `AA/BB`; missing if it has only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    variant: String,
    /// A whole program's name, in place of a benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workload: Option<String>,
    /// What its root holds: the first digits of a SHA-256.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    root: String,
    /// Which stretch of time on a live machine, from 0, in place of a benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interval: Option<u32>,
    /// How decisions were delayed; only of a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay: Option<Delay>,
    metric: Metric,
}

impl TryFrom<Form> for Key {
    type Error = &'static str;

    fn try_from(form: Form) -> Result<Key, &'static str> {
        let subject = match (form.benchmark, form.workload, form.interval) {
            (Some(benchmark), None, None) => Subject::Benchmark {
                benchmark,
                variant: form.variant,
            },
            (None, Some(workload), None) => Subject::Workload {
                workload,
                root: form.root,
            },
            (None, None, Some(interval)) => Subject::Interval { interval },
            (None, None, None) => return Err("it is of no benchmark and of no interval"),
            _ => return Err("it is of more than one of a benchmark, a workload and an interval"),
        };
        Ok(Key {
            architecture: form.architecture,
            kernel: form.kernel,
            stack: form.stack,
            integrity: form.integrity,
            policy: form.policy,
            settings: form.settings,
            filesystem: form.filesystem,
            subject,
            delay: form.delay,
            metric: form.metric,
        })
    }
}

impl Subject {
    pub fn benchmark(benchmark: impl Into<String>, variant: impl Into<String>) -> Subject {
        Subject::Benchmark {
            benchmark: benchmark.into(),
            variant: variant.into(),
        }
    }

    pub fn title(&self) -> String {
        match self {
            Subject::Benchmark { benchmark, variant } => title(benchmark, variant),
            Subject::Workload { workload, .. } => workload.clone(),
            Subject::Interval { interval } => format!("interval {interval}"),
        }
    }
}

impl Key {
    pub fn new(
        kernel: impl Into<String>,
        configuration: &Configuration,
        filesystem: impl Into<String>,
        subject: Subject,
        metric: Metric,
    ) -> Key {
        Key {
            architecture: Architecture::default(),
            kernel: kernel.into(),
            stack: configuration.stack.names(),
            integrity: configuration.integrity.clone(),
            policy: configuration.policy,
            settings: configuration.settings.clone(),
            filesystem: filesystem.into(),
            subject,
            delay: None,
            metric,
        }
    }

    pub fn benchmark(&self) -> &str {
        match &self.subject {
            Subject::Benchmark { benchmark, .. } => benchmark,
            Subject::Workload { workload, .. } => workload,
            Subject::Interval { .. } => "",
        }
    }

    pub fn variant(&self) -> &str {
        match &self.subject {
            Subject::Benchmark { variant, .. } => variant,
            Subject::Workload { .. } | Subject::Interval { .. } => "",
        }
    }

    pub fn title(&self) -> String {
        self.subject.title()
    }

    pub fn configuration_title(&self) -> String {
        let stack = self.stack.join(",");
        configuration::title(&stack, &self.integrity, self.policy, &self.settings)
    }
}

impl Delay {
    pub fn is_whole(&self) -> bool {
        !self.part
    }
}

/// `benchmark:variant`, or `benchmark` if there is only one variant.
pub fn title(benchmark: &str, variant: &str) -> String {
    if variant.is_empty() {
        benchmark.to_owned()
    } else {
        format!("{benchmark}:{variant}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(json: &str) -> Result<Key, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_is_of_one_subject() {
        let benchmark =
            key(r#"{"kernel":"k","stack":["capability"],"benchmark":"open","metric":"time"}"#);
        assert_eq!(benchmark.unwrap().title(), "open");
        let interval = key(r#"{"kernel":"k","stack":[],"interval":3,"metric":"calls"}"#);
        assert_eq!(interval.unwrap().subject, Subject::Interval { interval: 3 });
        let neither = key(r#"{"kernel":"k","stack":[],"metric":"calls"}"#).unwrap_err();
        assert_eq!(neither, "it is of no benchmark and of no interval");
        assert!(
            key(r#"{"kernel":"k","stack":[],"benchmark":"open","interval":3,"metric":"calls"}"#)
                .is_err()
        );
    }
}
