// SPDX-License-Identifier: GPL-2.0-or-later
//! What was monitored on a live machine, and how.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::configuration::Settings;
use crate::evidence::{Evidence, Interval};
use crate::key::{Key, Subject};
use crate::metric::Metric;
use crate::words::{Architecture, MonitorMode, Policy};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Monitoring {
    /// `uname -r`.
    pub release: String,
    /// `/sys/kernel/security/lsm`, in order; empty if it could not be read.
    pub active_lsms: Vec<String>,
    /// Whose calls: `the machine`, `the command ls -l`, `process 1234`,
    /// `the control group /sys/fs/cgroup/system.slice`.
    pub scope: String,
    /// What was noted of each call.
    pub mode: MonitorMode,
    /// What watching a call cost, measured at the start.
    pub cost: MonitorCost,
    /// Bytes of kernel memory that the figures took. It does not grow.
    pub memory_bytes: u64,
}

impl Monitoring {
    /// Prefix of a scope that is one command, from its start to its end.
    pub const OF_COMMAND: &str = "the command ";

    pub fn is_of_command(&self) -> bool {
        self.scope.starts_with(Self::OF_COMMAND)
    }

    /// `interval` counts from 0.
    pub fn cell(&self, interval: u32, calls: Interval) -> Cell {
        let key = Key {
            architecture: Architecture::default(),
            kernel: self.release.clone(),
            stack: self.active_lsms.clone(),
            integrity: Vec::new(),
            policy: Policy::None,
            settings: Settings::default(),
            filesystem: String::new(),
            subject: Subject::Interval { interval },
            delay: None,
            metric: Metric::Calls,
        };
        Cell {
            outcome: Evidence::Calls(calls).into(),
            ..Cell::unmeasured(key)
        }
    }
}

/// What watching a call costs, as measured on functions of the kernel that do nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorCost {
    /// All of it, in ns. 0: it could not be measured, for the machine's own variation is larger.
    pub added_ns: u32,
    /// How much of that lay within the times that were taken, in ns. It is subtracted.
    pub within_ns: u32,
    /// Rounds of which these are the medians.
    pub rounds: u32,
}

/// A function that was asked for and not watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutFunction {
    /// The function, or the hook that has none.
    pub name: String,
    pub reason: String,
}
