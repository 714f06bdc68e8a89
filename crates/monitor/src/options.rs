// SPDX-License-Identifier: GPL-2.0-or-later
//! Options of a monitor.

use std::path::PathBuf;

use model::MonitorMode;

use crate::hooks::Selection;

/// The watched tasks; never the monitoring process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Filter {
    #[default]
    Machine,
    /// These processes, all their threads, and all their descendants from the first instruction on.
    Processes(Vec<u32>),
    /// Tasks in this control group (version 2), or below it.
    Cgroup(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The data that is recorded for each call. There are no errors in count mode, because they are
    /// known only at a call's end.
    pub mode: MonitorMode,
    pub filter: Filter,
    pub selection: Selection,
    /// Rows for pairs of a function and a system call, per processor. Pairs without a row count as
    /// other system calls. A row has 40 bytes, 8 in count mode, 360 with a histogram.
    pub pairs: usize,
    /// Whether to time whole system calls too, including waits, to compute hooks' shares of them.
    /// This takes two more programs in each system call, and 32 MiB of kernel memory. It is not
    /// possible in count mode.
    pub system_calls: bool,
}

impl Default for Options {
    /// Times all hooks on the entire machine, with 4,096 rows and without whole system calls.
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
