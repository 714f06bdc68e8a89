// SPDX-License-Identifier: GPL-2.0-or-later
//! Estimates and intervals over samples.
//!
//! Everything here is a pure function of its input: the same samples, in any
//! order, give the same figures bit for bit, on every machine. Resampling uses a
//! generator with a fixed seed.
//!
//! - [`Summary`]: median, mean, deviation, range and a 95 % interval of the median.
//! - [`bootstrap`]: how that interval is made.
//! - [`overhead`]: what a tested figure costs against a baseline; ratios, overlap.
//! - [`mode`]: the most frequent key of counted observations.
//! - [`deepest_fall`]: where a figure falls that should only grow.
//!
//! # References
//! B. Efron, R. J. Tibshirani, *An Introduction to the Bootstrap*, Chapman & Hall
//! 1993: chapter 6 (standard errors, number of resamples), section 13.3
//! (percentile interval).

pub mod bootstrap;
mod mode;
mod monotone;
mod overhead;
mod random;
mod summary;

pub use mode::{Mode, mode};
pub use monotone::{Fall, Point, deepest_fall};
pub use overhead::{Direction, geometric_mean, overhead, overlap};
pub use random::SplitMix64;
pub use summary::{MAGNITUDE_LIMIT, StatsError, Summary};
