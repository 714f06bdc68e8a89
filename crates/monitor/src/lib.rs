// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts and times the LSM hooks of a live machine with eBPF, by hook, system call and error.
//!
//! [`Monitor::start`] attaches programs to the kernel's `security_*` functions, and to modules'
//! implementations if requested; [`Monitor::snapshot`] reads their counters, and
//! [`Snapshot::since`] subtracts an earlier snapshot. `bpf/README.md` describes the programs, their
//! cost and their limits.

mod attach;
mod calibrate;
mod capabilities;
mod error;
mod hooks;
mod kernel;
mod layout;
pub mod live;
mod monitor;
mod object;
mod options;
mod processes;
mod snapshot;
#[cfg(test)]
mod tests;

pub use error::MonitorError;
pub use hooks::{Probe, Selection};
pub use monitor::{Monitor, Progress};
pub use options::{Filter, Options};
pub use snapshot::{Figures, HookFigures, Snapshot};
