// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs experiments: initramfs, QEMU and the agent's protocol.
//!
//! [`run()`] makes a result file from a [`model::Experiment`]: [`plan`] assigns measurements to
//! boots. [`visit`] makes those of one boot ([`vm`], [`um`], or on this machine: [`host`]) through
//! the agent's protocol ([`session`], [`protocol`]). [`gather`] combines the reports, and [`cache`]
//! keeps results for later runs.

mod active;
mod awake;
mod built_in;
pub mod cache;
pub mod catalogue;
mod deadline;
mod document;
pub mod environment;
mod error;
mod find;
pub mod gather;
pub mod host;
pub mod initramfs;
mod job;
pub mod kvm;
mod machine;
mod memory;
pub mod module_symbols;
mod outcome;
pub mod plan;
pub mod policy;
pub mod port;
pub mod prepare;
pub mod process;
pub mod profiles;
pub mod programs;
pub mod protocol;
pub mod qemu;
mod recorded;
pub mod root;
mod rounds;
mod run;
pub mod session;
mod setup;
pub mod sweep;

pub mod um;
pub mod visit;
pub mod vm;
mod workplace;

pub use built_in::BuiltIn;
pub use document::doubts;
pub use error::LabError;
pub use outcome::{Finished, Outcome, Trace};
pub use run::run;
pub use setup::{Ground, Setup};
pub use workplace::write_plugin;
