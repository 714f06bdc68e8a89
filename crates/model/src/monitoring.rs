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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Monitoring {
    /// `uname -r`.
    pub release: String,
    /// `/sys/kernel/security/lsm`, in order; empty if it could not be read.
    pub active_lsms: Vec<String>,
    /// Whose calls: `the machine`, `the command ls -l`, `process 1234`,
    /// `the control group /sys/fs/cgroup/system.slice`.
    pub scope: String,
    /// Detail recorded of each call.
    pub mode: MonitorMode,
    /// Cost of watching a call, measured at the start.
    pub cost: MonitorCost,
    /// Kernel memory for the statistics, in bytes; constant.
    pub memory_bytes: u64,
}

impl Monitoring {
    /// Prefix of the scope of one command, monitored from start to end.
    pub const OF_COMMAND: &str = "the command ";

    pub fn is_of_command(&self) -> bool {
        self.scope.starts_with(Self::OF_COMMAND)
    }

    /// `interval` is counted from 0.
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

/// Cost of watching a call, measured on kernel functions that do nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorCost {
    /// Total in ns. 0 if it cannot be measured because the machine's own variation is larger.
    pub added_ns: u32,
    /// Part that falls within the measured times, in ns. It is subtracted.
    pub within_ns: u32,
    /// Number of rounds; the other values are their medians.
    pub rounds: u32,
}

/// A requested function that was not watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutFunction {
    /// The function, or a hook without one.
    pub name: String,
    pub reason: String,
}
