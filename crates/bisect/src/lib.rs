// SPDX-License-Identifier: GPL-2.0-or-later
//! Walks a git history to the commit with which counts changed.
//!
//! git chooses the commits ([`walk`]). A kernel is built in a [`Tree`] of lsmeter's own, so that
//! no checkout of the user's is touched and objects are used again. Crate `compare` decides whether
//! a commit is good ([`judge`]), and [`Kept`] has what was measured of it.
//!
//! - [`Repository`]: where the commits are.
//! - [`Tree`]: a worktree of it in lsmeter's cache, with a lock.
//! - [`walk`]: from a good and a bad end to what was [`Found`].
//!
//! How a commit is built and measured is the caller's; nothing here knows kernels.

mod error;
mod git;
mod judged;
mod kept;
mod repository;
mod tree;
mod walk;

pub use error::BisectError;
pub use experiment::bisection::{Commit, StepVerdict as Verdict};
pub use judged::{Judged, explain_outside, judge};
pub use kept::{Kept, Measured, Outside, Record, outside_key};
pub use repository::Repository;
pub use tree::{Tree, Use};
pub use walk::{Found, walk};
