// SPDX-License-Identifier: GPL-2.0-or-later
//! Estimates the time of counted operations on a processor.
//!
//! Some operations were timed there ([`times_of`]) and counted with events ([`counts_of`]). [`fit`]
//! gives the ns per instruction, REP instruction and so on, and the error for operations outside
//! the fit. [`estimate`] predicts all counted operations within the range of the fit.

mod counts;
mod estimate;
mod fit;
pub mod predict;
mod terms;
mod times;

pub use counts::{Counted, Counts, counts_of};
pub use estimate::estimate;
pub use fit::fit;
pub use terms::{DEFAULT_TERMS, Term, Terms};
pub use times::{Times, times_of};
