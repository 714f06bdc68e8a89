// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks of a kernel operations call, and why they do not call the others.
//!
//! [`cover`] takes what a kernel has ([`KernelHooks`]), cells whose hooks were told apart, what is
//! known of hooks that nothing calls ([`Facts`]) and, if a tree was read, what its system calls
//! can reach ([`Reached`]); it gives [`model::coverage::CoverageFindings`]. Nothing here
//! measures, opens a file or prints.

mod cover;
mod error;
mod facts;

pub use cover::{Inputs, KernelHooks, Reached, cover, reached};
pub use error::CoverageError;
pub use facts::Facts;
