// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts and times the LSM hooks of a live machine with eBPF: which are called, how
//! often, how long they take, in which system calls, and what they refuse.
//!
//! [`Monitor::start`] attaches programs to the kernel's `security_*` functions, and to
//! modules' implementations if asked to; [`Monitor::snapshot`] reads what they noted, and
//! [`Snapshot::since`] gives what came between two of them. `bpf/README.md` says how the programs
//! work, what they cost and what they cannot see.

mod attach;
mod calibrate;
mod capabilities;
mod error;
mod histogram;
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
pub use histogram::{Histogram, bounds_ns};
pub use hooks::{Probe, Selection};
pub use monitor::{Monitor, Progress};
pub use options::{Filter, Options};
pub use snapshot::{Figures, HookFigures, Lost, Snapshot, SystemCall, Whole};
