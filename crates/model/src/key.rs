// SPDX-License-Identifier: GPL-2.0-or-later
//! The identity of a measurement, which is the same in all result files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::configuration::{self, Configuration, Settings};
use crate::metric::Metric;
use crate::words::{Architecture, Caches, DelayModule, Integrity, Policy};

/// Identifies a measurement within a result file and across result files.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "Form")]
#[schemars(with = "Form")]
pub struct Key {
    pub architecture: Architecture,
    /// Kernel as named by the user: `debian:6.12`, a path, or `host`. In a recording: `uname -r`.
    pub kernel: String,
    /// The requested stack, in order; `["default"]` for the distribution's list. In a recording:
    /// the active modules.
    pub stack: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub integrity: Vec<Integrity>,
    pub policy: Policy,
    #[serde(skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
    /// File system of the files; empty in recordings.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filesystem: String,
    #[serde(flatten)]
    pub subject: Subject,
    /// Delay of decisions; None except in a sweep.
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
        /// First digits of the SHA-256 of its root.
        root: String,
    },
    /// A time interval on a live machine.
    Interval {
        /// Counted from 0.
        interval: u32,
    },
}

#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Delay {
    pub module: DelayModule,
    /// Hooks that are delayed together; `["all"]` means all that the module knows.
    pub hooks: Vec<String>,
    /// Whether it is one hook's part of a slope over several hooks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// State of the caches before each operation.
    pub caches: Caches,
}

/// Keys in result files. Read key by key, so that an error has its position.
#[skip_serializing_none]
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Key")]
struct Form {
    #[serde(default)]
    architecture: Architecture,
    /// Kernel as named by the user: `debian:6.12`, a path, or `host`. In a recording: `uname -r`.
    kernel: String,
    /// The requested stack, in order; `["default"]` for the distribution's list. In a recording:
    /// the active modules.
    stack: Vec<String>,
    /// Active integrity subsystems: audit, ima, evm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    integrity: Vec<Integrity>,
    #[serde(default)]
    policy: Policy,
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    settings: Settings,
    /// File system of the files; missing in recordings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    filesystem: String,
    /// Benchmark: `open`.
    benchmark: Option<String>,
    /// Its variant: `AA/BB`; missing if there is only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    variant: String,
    /// Name of a whole program, in place of a benchmark.
    workload: Option<String>,
    /// First digits of the SHA-256 of the program's root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    root: String,
    /// Number of the interval on a live machine, from 0, in place of a benchmark.
    interval: Option<u32>,
    /// Delay of decisions; only in a sweep.
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
            (None, None, None) => {
                return Err("`benchmark`, `workload` and `interval` are all missing");
            }
            _ => return Err("only one of `benchmark`, `workload` and `interval` is allowed"),
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
        assert_eq!(
            neither,
            "`benchmark`, `workload` and `interval` are all missing"
        );
        assert!(
            key(r#"{"kernel":"k","stack":[],"benchmark":"open","interval":3,"metric":"calls"}"#)
                .is_err()
        );
    }
}
