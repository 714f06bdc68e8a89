// SPDX-License-Identifier: GPL-2.0-or-later
//! The bootstrap percentile interval of a median.

use crate::random::SplitMix64;
use crate::summary::median_of_sorted;

/// Resamples behind every interval. Efron and Tibshirani ask for 1,000 or more for
/// a percentile interval (section 13.3 and chapter 19).
pub const RESAMPLES: usize = 2_000;

/// Fewest samples that get an interval.
///
/// Whatever the distribution, `[min, max]` of n samples holds the true median with
/// probability 1 - 2^(1-n) at best, and no bootstrap interval is wider than that.
/// With five samples this is 93.75 %: a "95 %" interval would be a false promise.
/// With six it is 96.9 %.
pub const SAMPLES_MIN: usize = 6;

const SEED: u64 = 0x6c73_6d65_7465_7221;

/// 95 % percentile interval of the median of `sorted` (ascending, finite).
///
/// None for fewer than [`SAMPLES_MIN`] samples. When all samples are equal the
/// interval is that value, exactly. The generator's seed is fixed, so the result
/// depends on the samples alone. Takes time proportional to [`RESAMPLES`] × n.
pub fn median_ci95(sorted: &[f64]) -> Option<[f64; 2]> {
    let n = sorted.len();
    if n < SAMPLES_MIN {
        return None;
    }
    let (first, last) = (sorted[0], sorted[n - 1]);
    if first == last {
        return Some([first, first]);
    }
    let mut random = SplitMix64::new(SEED);
    let mut drawn = vec![0u32; n];
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            drawn.fill(0);
            for _ in 0..n {
                drawn[random.below(n)] += 1;
            }
            resample_median(sorted, &drawn)
        })
        .collect();
    medians.sort_unstable_by(f64::total_cmp);
    // The B·α-th and B·(1-α)-th ordered values, α = 2.5 % (section 13.3).
    let tail = RESAMPLES / 40;
    Some([medians[tail - 1], medians[RESAMPLES - tail - 1]])
}

/// Median of the resample that holds `sorted[i]` `drawn[i]` times. The samples are
/// sorted, so that the resample need never be: walk to its middle.
fn resample_median(sorted: &[f64], drawn: &[u32]) -> f64 {
    let n = sorted.len();
    let (low_rank, high_rank) = ((n - 1) / 2, n / 2);
    let mut seen = 0usize;
    let mut low = None;
    for (value, &times) in sorted.iter().zip(drawn) {
        seen += times as usize;
        if low.is_none() && seen > low_rank {
            low = Some(*value);
        }
        if seen > high_rank {
            return median_of_sorted(&[low.unwrap_or(*value), *value]);
        }
    }
    sorted[n - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_samples_get_no_interval() {
        assert_eq!(median_ci95(&[]), None);
        assert_eq!(median_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert!(median_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).is_some());
    }

    #[test]
    fn equal_samples_give_a_point() {
        assert_eq!(median_ci95(&[7.5; 9]), Some([7.5, 7.5]));
    }

    proptest! {
        #[test]
        fn walking_equals_sorting(
            mut values in proptest::collection::vec(-1e6f64..1e6, 2..40),
            seed: u64,
        ) {
            values.sort_unstable_by(f64::total_cmp);
            let n = values.len();
            let mut random = SplitMix64::new(seed);
            let mut drawn = vec![0u32; n];
            let mut resample = Vec::new();
            for _ in 0..n {
                let i = random.below(n);
                drawn[i] += 1;
                resample.push(values[i]);
            }
            resample.sort_unstable_by(f64::total_cmp);
            prop_assert_eq!(resample_median(&values, &drawn), median_of_sorted(&resample));
        }
    }
}
