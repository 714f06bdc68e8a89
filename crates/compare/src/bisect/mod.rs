// SPDX-License-Identifier: GPL-2.0-or-later
//! Walks a git history to the commit that changed a count.
//!
//! git chooses the commits ([`walk`]). They are built in a [`Tree`] of lsmeter's own, and crate
//! `compare` decides whether one is good ([`judge`]). Building and measuring are the caller's.

mod git;
mod judged;
mod repository;
mod tree;
mod walk;

pub use judged::{Judged, Measured, Outside, Verdict, explain_outside, judge, outside_key};
pub use repository::{Commit, Repository};
pub use tree::Tree;
pub use walk::{Found, walk};
