// SPDX-License-Identifier: GPL-2.0-or-later
//! Searches a git history for the commit that changed a count.
//!
//! git lists the commits ([`walk`]), the caller builds them in a [`Tree`] and measures them, and
//! [`judge`] decides whether a commit is good.

mod git;
mod judged;
mod repository;
mod tree;
mod walk;

pub use judged::{Judged, Measured, Outside, Verdict, explain_outside, judge, outside_key};
pub use repository::{Commit, Repository};
pub use tree::Tree;
pub use walk::{Found, walk};
