// SPDX-License-Identifier: GPL-2.0-or-later
//! Bootstrap percentile interval of a median.

use crate::random::SplitMix64;
use crate::summary::median_of_sorted;

/// Efron and Tibshirani require at least 1,000 for percentile intervals (13.3, chapter 19).
pub const RESAMPLES: usize = 2_000;

/// The smallest number of samples for which there is an interval.
///
/// For any distribution, `[min, max]` of n samples contains the true median with probability 1 -
/// 2^(1-n) at best, and bootstrap intervals are not wider: 93.75 % for five samples, 96.9 % for
/// six.
pub const SAMPLES_MIN: usize = 6;

const SEED: u64 = 0x6c73_6d65_7465_7221;

/// 95 % percentile interval of the median of `sorted` (ascending, finite).
///
/// None below [`SAMPLES_MIN`] samples. If all samples are equal, both ends are that value. The seed
/// is fixed, so the result depends only on the samples. O([`RESAMPLES`] × n).
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
    Some(percentiles(|| {
        drawn.fill(0);
        for _ in 0..n {
            drawn[random.below(n)] += 1;
        }
        resample_median(sorted, &drawn)
    }))
}

/// 95 % percentile interval of the median of all `rounds` (each sorted), including drift between
/// rounds.
///
/// Draws rounds, then samples within them (Davison and Hinkley, Bootstrap Methods, section 3.8).
/// With fewer than [`SAMPLES_MIN`] rounds, such an interval would be too narrow, so the interval of
/// the pooled samples is widened to include every round's median. None below [`SAMPLES_MIN`]
/// samples.
pub fn rounds_ci95(rounds: &[Vec<f64>]) -> Option<[f64; 2]> {
    let rounds: Vec<&Vec<f64>> = rounds.iter().filter(|round| !round.is_empty()).collect();
    let mut ranked: Vec<(f64, usize, usize)> = Vec::new();
    for (number, round) in rounds.iter().enumerate() {
        ranked.extend(round.iter().enumerate().map(|(at, &x)| (x, number, at)));
    }
    ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let sorted: Vec<f64> = ranked.iter().map(|&(x, ..)| x).collect();
    if rounds.len() < SAMPLES_MIN {
        let [mut low, mut high] = median_ci95(&sorted)?;
        if rounds.len() > 1 {
            for round in rounds {
                let median = median_of_sorted(round);
                (low, high) = (low.min(median), high.max(median));
            }
        }
        return Some([low, high]);
    }
    let mut ranks: Vec<Vec<usize>> = rounds.iter().map(|round| vec![0; round.len()]).collect();
    for (rank, &(_, number, at)) in ranked.iter().enumerate() {
        ranks[number][at] = rank;
    }
    let mut random = SplitMix64::new(SEED);
    let mut drawn = vec![0u32; sorted.len()];
    Some(percentiles(|| {
        drawn.fill(0);
        for _ in 0..ranks.len() {
            let round = &ranks[random.below(ranks.len())];
            for _ in 0..round.len() {
                drawn[round[random.below(round.len())]] += 1;
            }
        }
        resample_median(&sorted, &drawn)
    }))
}

fn percentiles(mut one: impl FnMut() -> f64) -> [f64; 2] {
    let mut medians: Vec<f64> = (0..RESAMPLES).map(|_| one()).collect();
    medians.sort_unstable_by(f64::total_cmp);
    // The B·α-th and B·(1-α)-th ordered values, α = 2.5 % (section 13.3).
    let tail = RESAMPLES / 40;
    [medians[tail - 1], medians[RESAMPLES - tail - 1]]
}

/// Median of the resample that contains `sorted[i]` `drawn[i]` times. It walks to the middle
/// instead of sorting.
fn resample_median(sorted: &[f64], drawn: &[u32]) -> f64 {
    // Rounds, and so resamples, may differ in length.
    let n = drawn
        .iter()
        .map(|&times| times as usize)
        .sum::<usize>()
        .max(1);
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
    sorted[sorted.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_get_no_interval_and_equal_ones_a_point() {
        assert_eq!(median_ci95(&[]), None);
        assert_eq!(median_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert!(median_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).is_some());
        assert_eq!(median_ci95(&[7.5; 9]), Some([7.5, 7.5]));
    }

    #[test]
    fn what_differs_between_rounds_widens_the_interval() {
        let round = |at: f64| (0..50).map(|i| at + f64::from(i) / 100.0).collect();
        let width = |rounds: &[Vec<f64>]| {
            let [low, high] = rounds_ci95(rounds).unwrap();
            high - low
        };
        let same: Vec<Vec<f64>> = (0..8).map(|_| round(10.0)).collect();
        let apart: Vec<Vec<f64>> = (0..8).map(|i| round(10.0 + f64::from(i))).collect();
        assert!(width(&same) < 0.2, "{}", width(&same));
        assert!(width(&apart) > 2.0, "{}", width(&apart));
        // With three rounds, the interval extends to the medians of the outermost rounds.
        let outer = [median_of_sorted(&apart[0]), median_of_sorted(&apart[2])];
        assert_eq!(rounds_ci95(&apart[..3]), Some(outer));
        // With one round, the result is the same as without rounds.
        assert_eq!(rounds_ci95(&apart[..1]), median_ci95(&apart[0]));
        assert_eq!(rounds_ci95(&[vec![1.0; 3], vec![1.0; 2]]), None);
        assert_eq!(rounds_ci95(&[]), None);
    }
}
