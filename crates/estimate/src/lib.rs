// SPDX-License-Identifier: GPL-2.0-or-later
//! What counted operations would take in nanoseconds on a processor.
//!
//! Of operations that were timed on it ([`times_of`]) and counted with what their instructions
//! do ([`counts_of`]) both are known. [`fit`] finds how many ns each instruction, REP
//! instruction and so on takes, so that their sum comes near to what was measured; and how far
//! it is off for operations that it was not shown. [`estimate`] says what all counted
//! operations would take, and nothing of those that are unlike all that was shown.

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
