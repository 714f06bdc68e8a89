// SPDX-License-Identifier: GPL-2.0-or-later
//! What to monitor, and what of it is left out.

use std::path::PathBuf;

use model::MonitorMode;

use crate::hooks::Selection;

/// Whose calls are noted. Those of the monitoring process never are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Filter {
    #[default]
    Machine,
    /// Those of these processes, of all their threads, and of all that descend from
    /// them, from their first instruction on.
    Processes(Vec<u32>),
    /// Those of tasks in this control group (version 2), or below it.
    Cgroup(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What is noted of each call. No errors when only counting: they are known only at a
    /// call's end.
    pub mode: MonitorMode,
    pub filter: Filter,
    /// Of which functions.
    pub selection: Selection,
    /// Rows for pairs of a function and a system call, on each processor. What has none
    /// counts as [`SystemCall::Other`](crate::SystemCall::Other). A row has 40 bytes, 8
    /// when only counting, 360 with a histogram.
    pub pairs: usize,
    /// Also times system calls as a whole, from entry to exit, waiting included: what
    /// hooks are a share of. Two programs more in each system call, whatever it does, and
    /// 32 MiB of the kernel's memory. Not when only counting.
    pub system_calls: bool,
}

impl Default for Options {
    /// Times of all hooks, on the whole machine, with 4,096 rows; no system calls as a
    /// whole.
    fn default() -> Options {
        Options {
            mode: MonitorMode::Time,
            filter: Filter::default(),
            selection: Selection::default(),
            pairs: 4096,
            system_calls: false,
        }
    }
}
