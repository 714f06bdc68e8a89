// SPDX-License-Identifier: GPL-2.0-or-later
//! Estimates and intervals over samples.
//!
//! All functions are pure: the same samples, in any order, give the same figures bit for bit on
//! every machine. Resampling uses a fixed seed.
//!
//! # References
//! B. Efron, R. J. Tibshirani, *An Introduction to the Bootstrap*, Chapman & Hall 1993: chapter 6
//! (standard errors, number of resamples), section 13.3 (percentile interval).
//! N. R. Draper, H. Smith, *Applied Regression Analysis*, 3rd ed., Wiley 1998: chapters 1 and 5
//! (least squares, intervals of coefficients).

pub mod bootstrap;
mod consensus;
mod correction;
mod median_line;
mod occupancy;
mod overhead;
mod proportion;
mod random;
mod rank;
mod ratio;
mod regression;
mod shift;
mod signed_rank;
mod summary;
mod weights;
mod welch;

pub use consensus::on_one_line;
pub use correction::holm;
pub use median_line::median_line;
pub use occupancy::crowded;
pub use overhead::{Direction, overhead};
pub use proportion::proportion_at_most;
pub use random::SplitMix64;
pub use rank::{RankTest, mann_whitney, two_sided_p};
pub use ratio::RatioBootstrap;
pub use regression::{Coefficient, Fit, FitError, bend};
pub use shift::shift;
pub use signed_rank::{Centre, centre};
pub use summary::{
    MAGNITUDE_LIMIT, StatsError, Summary, median, median_of_sorted, quantile_of_sorted,
};
pub use weights::{Observation, nonnegative_weights, predicted, rank_correlation};
pub use welch::{Welch, single_values, t_quantile, welch};
