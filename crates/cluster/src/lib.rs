// SPDX-License-Identifier: GPL-2.0-or-later
//! A run in parts, on machines that know nothing of each other.
//!
//! - [`JobPlan`]: jobs as those who start jobs want them written: [`slurm()`],
//!   [`kubernetes()`], [`gitlab()`], [`github()`].
//! - [`follow`]: a job array that Slurm is given, followed to its end.
//! - [`merge()`]: run documents of the parts become that of the whole.

mod error;
mod merge;
mod plan;
mod read;
mod slurm;

pub use error::ClusterError;
pub use merge::{Doubts, MergeError, Merged, Part, by_machine, merge};
pub use plan::{JobPlan, github, gitlab, kubernetes, slurm, slurm_job};
pub use read::read_part;
pub use slurm::{Followed, Order, Progress, follow};
