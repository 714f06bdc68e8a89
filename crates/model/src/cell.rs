// SPDX-License-Identifier: GPL-2.0-or-later
//! One measurement: its key and its outcome.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::{Counted, Estimate, Evidence, HookCost, Interval, Paths, Slope, Timed};
use crate::key::Key;
use crate::words::Status;

/// The result of one measurement: evidence, or the reason for its absence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Form")]
#[schemars(with = "Form")]
pub struct Cell {
    pub key: Key,
    /// `uname -r` of the guest; empty if the guest never reported it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub release: String,
    /// `/sys/kernel/security/lsm`; empty if it was never read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub active_lsms: Vec<String>,
    /// System calls of one operation, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub syscalls: Vec<String>,
    /// Class of file access (section 4.1 of the paper): file, dir, link, attr …
    #[serde(skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// Wall-clock seconds on the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Measurements in result files. They are read key by key, so that an error has a position.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Cell")]
struct Form {
    key: Key,
    /// `uname -r` of the guest; missing if the guest never reported it.
    #[serde(default)]
    release: String,
    /// `/sys/kernel/security/lsm`; missing if the file was never read.
    #[serde(default)]
    active_lsms: Vec<String>,
    /// System calls of one operation, in order.
    #[serde(default)]
    syscalls: Vec<String>,
    /// Class of file access (section 4.1 of the paper): file, dir, link, attr …
    #[serde(default)]
    class: String,
    /// Wall-clock seconds on the host.
    #[serde(default)]
    seconds: Option<f64>,
    status: Status,
    /// The measured values; only if the status is ok.
    #[serde(default)]
    evidence: Option<Evidence>,
    /// Why there is no evidence.
    #[serde(default)]
    reason: Option<String>,
}

impl TryFrom<Form> for Cell {
    type Error = String;

    fn try_from(form: Form) -> Result<Cell, String> {
        let outcome = match (form.status, form.evidence) {
            (Status::Ok, Some(evidence)) => evidence.into(),
            (Status::Ok, None) => return Err("the status is ok, but evidence is missing".into()),
            (status, Some(_)) => {
                return Err(format!("the status is {status}, but there is evidence"));
            }
            (status, None) => Outcome::without(status, form.reason.unwrap_or_default()),
        };
        Ok(Cell {
            key: form.key,
            release: form.release,
            active_lsms: form.active_lsms,
            syscalls: form.syscalls,
            class: form.class,
            seconds: form.seconds,
            outcome,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    Ok {
        evidence: Evidence,
    },
    /// Unexpected failure.
    Failed {
        reason: String,
    },
    /// Not supported by the kernel, file system or host.
    Unsupported {
        reason: String,
    },
}

impl Outcome {
    /// Outcome without evidence. [`Status::Ok`] is treated as a failure.
    pub fn without(status: Status, reason: impl Into<String>) -> Outcome {
        let reason = reason.into();
        match status {
            Status::Unsupported => Outcome::Unsupported { reason },
            Status::Failed | Status::Ok => Outcome::Failed { reason },
        }
    }
}

impl From<Evidence> for Outcome {
    fn from(evidence: Evidence) -> Outcome {
        Outcome::Ok { evidence }
    }
}

impl Cell {
    pub fn unmeasured(key: Key) -> Cell {
        Cell {
            key,
            release: String::new(),
            active_lsms: Vec::new(),
            syscalls: Vec::new(),
            class: String::new(),
            seconds: None,
            outcome: Outcome::Failed {
                reason: "it was not measured".to_owned(),
            },
        }
    }

    pub fn status(&self) -> Status {
        match self.outcome {
            Outcome::Ok { .. } => Status::Ok,
            Outcome::Failed { .. } => Status::Failed,
            Outcome::Unsupported { .. } => Status::Unsupported,
        }
    }

    /// Reason of an outcome without evidence.
    pub fn reason(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Ok { .. } => None,
            Outcome::Failed { reason } | Outcome::Unsupported { reason } => Some(reason),
        }
    }

    pub fn evidence(&self) -> Option<&Evidence> {
        match &self.outcome {
            Outcome::Ok { evidence } => Some(evidence),
            _ => None,
        }
    }

    pub fn counted(&self) -> Option<&Counted> {
        match self.evidence()? {
            Evidence::Counted(counted) => Some(counted),
            _ => None,
        }
    }

    pub fn hooks(&self) -> Option<&[HookCost]> {
        Some(&self.counted()?.hooked.as_ref()?.hooks)
    }

    pub fn timed(&self) -> Option<&Timed> {
        match self.evidence()? {
            Evidence::Timed(timed) => Some(timed),
            _ => None,
        }
    }

    pub fn counted_mut(&mut self) -> Option<&mut Counted> {
        match &mut self.outcome {
            Outcome::Ok {
                evidence: Evidence::Counted(counted),
            } => Some(counted),
            _ => None,
        }
    }

    pub fn timed_mut(&mut self) -> Option<&mut Timed> {
        match &mut self.outcome {
            Outcome::Ok {
                evidence: Evidence::Timed(timed),
            } => Some(timed),
            _ => None,
        }
    }

    pub fn slope(&self) -> Option<&Slope> {
        match self.evidence()? {
            Evidence::Slope(slope) => Some(slope),
            _ => None,
        }
    }

    pub fn interval(&self) -> Option<&Interval> {
        match self.evidence()? {
            Evidence::Calls(interval) => Some(interval),
            _ => None,
        }
    }

    pub fn estimate(&self) -> Option<&Estimate> {
        match self.evidence()? {
            Evidence::Counted(counted) => counted.estimate.as_ref(),
            Evidence::Timed(timed) => Some(&timed.estimate),
            _ => None,
        }
    }

    /// Measured regions by code path, if known.
    pub fn paths(&self) -> Option<&Paths> {
        self.counted()?.paths.as_ref()
    }

    /// 95 % interval of the median; None below 6 samples.
    pub fn ci95(&self) -> Option<[f64; 2]> {
        self.estimate()?.ci95
    }

    pub fn title(&self) -> String {
        self.key.title()
    }

    pub fn configuration_title(&self) -> String {
        self.key.configuration_title()
    }

    /// The value in the metric's unit: the instructions of the dominant path, or else the median;
    /// for a sweep, the slope. None if nothing was measured, and for hook calls, which have many
    /// values.
    pub fn headline(&self) -> Option<f64> {
        match self.evidence()? {
            Evidence::Counted(counted) => counted.headline(),
            Evidence::Timed(timed) => Some(timed.estimate.median),
            Evidence::Slope(slope) => Some(slope.slope),
            Evidence::Calls(_) => None,
        }
    }

    pub fn is_exact(&self) -> bool {
        self.key.metric.is_counted() && self.counted().is_none_or(Counted::is_exact)
    }

    pub(crate) fn contradiction(&self) -> Option<String> {
        if self.key.stack.is_empty() && self.interval().is_none() {
            return Some("the stack is empty".to_owned());
        }
        let evidence = self.evidence()?;
        if !evidence.suits(self.key.metric) {
            return Some(format!(
                "the evidence does not match the metric {}",
                self.key.metric
            ));
        }
        if self.slope().is_some() && self.key.delay.is_none() {
            return Some("a slope without a delay".to_owned());
        }
        evidence.contradiction()
    }
}
