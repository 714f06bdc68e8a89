// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::HashMap;

use statrs::function::beta::beta_reg;

use crate::bootstrap::{RESAMPLES, SAMPLES_MIN};
use crate::random::SplitMix64;
use crate::summary::median_of_sorted;

const SEED: u64 = 0x7261_7469_6f73_2e2e;

/// Bootstrap intervals of ratios of medians, with cached ranks per sample size.
///
/// A resample's median is an order statistic, whose rank in the sorted samples depends on n alone:
/// that of the k-th smallest of n uniform numbers, which is Beta(k, n - k + 1) distributed (B.
/// Efron, *Bootstrap methods: another look at the jackknife*, Annals of Statistics 7(1), 1979,
/// section 3). Drawing ranks once for each n takes 4,000 look-ups for 2,000 resamples of two sets
/// of 300 samples, instead of 1,200,000 draws.
#[derive(Debug, Default)]
pub struct RatioBootstrap {
    /// The ranks of the middle two samples of each resample, by number of samples and side.
    ranks: HashMap<(usize, bool), Vec<[u32; 2]>>,
}

impl RatioBootstrap {
    pub fn new() -> RatioBootstrap {
        RatioBootstrap::default()
    }

    /// 95 % percentile interval of median(tested) / median(base), both ascending. None below
    /// [`SAMPLES_MIN`] samples on a side, or if one is not finite or not above 0. Deterministic.
    pub fn ci95(&mut self, base: &[f64], tested: &[f64]) -> Option<[f64; 2]> {
        let usable = |sorted: &[f64]| {
            sorted.len() >= SAMPLES_MIN
                && u32::try_from(sorted.len()).is_ok()
                && sorted[0] > 0.0
                && sorted.iter().all(|x| x.is_finite())
        };
        if !usable(base) || !usable(tested) {
            return None;
        }
        for key in [(base.len(), false), (tested.len(), true)] {
            self.ranks.entry(key).or_insert_with(|| median_ranks(key));
        }
        let median = |sorted: &[f64], [low, high]: [u32; 2]| {
            median_of_sorted(&[sorted[low as usize], sorted[high as usize]])
        };
        let (a, b) = (
            &self.ranks[&(base.len(), false)],
            &self.ranks[&(tested.len(), true)],
        );
        let mut ratios: Vec<f64> = (a.iter().zip(b))
            .map(|(a, b)| median(tested, *b) / median(base, *a))
            .collect();
        let tail = RESAMPLES / 40;
        let (_, low, _) = ratios.select_nth_unstable_by(tail - 1, f64::total_cmp);
        let low = *low;
        let (_, high, _) = ratios.select_nth_unstable_by(RESAMPLES - tail - 1, f64::total_cmp);
        Some([low, *high])
    }
}

/// Ranks from 0 of the middle two samples of each resample of `n` (equal for odd n); seeds differ
/// by side.
fn median_ranks((n, second): (usize, bool)) -> Vec<[u32; 2]> {
    let mut random = SplitMix64::new(SEED ^ (n as u64) << 1 ^ u64::from(second));
    let low = n.div_ceil(2);
    let near = Near::new(n, low);
    let rank = |u: f64| ((u * n as f64) as usize).min(n - 1) as u32;
    let one = || {
        let u = near.quantile(random.unit());
        let first = rank(u);
        if n % 2 == 1 {
            return [first, first];
        }
        // The next one is the smallest of n - low uniform numbers above it.
        let gap = 1.0 - random.unit().powf(1.0 / (n - low) as f64);
        [first, rank(u + (1.0 - u) * gap).max(first)]
    };
    std::iter::repeat_with(one).take(RESAMPLES).collect()
}

/// Distribution function of the k-th smallest of n uniform numbers at multiples of 1/n, near its
/// middle; the rest is negligible.
struct Near {
    n: usize,
    from: usize,
    function: Vec<f64>,
}

impl Near {
    fn new(n: usize, k: usize) -> Near {
        // The deviation is below 1 / (2√n): eight on each side, plus a margin for small n.
        let reach = (4.0 * (n as f64).sqrt()) as usize + 2;
        let from = k.saturating_sub(reach);
        let to = (k + reach).min(n);
        let (a, b) = (k as f64, (n - k + 1) as f64);
        let function = (from..=to)
            .map(|j| match j {
                0 => 0.0,
                _ if j == n => 1.0,
                _ => beta_reg(a, b, j as f64 / n as f64),
            })
            .collect();
        Near { n, from, function }
    }

    fn quantile(&self, p: f64) -> f64 {
        let f = &self.function;
        let above = f.partition_point(|x| *x <= p).clamp(1, f.len() - 1);
        let (low, high) = (f[above - 1], f[above]);
        let part = if high > low {
            ((p - low) / (high - low)).clamp(0.0, 1.0)
        } else {
            0.5
        };
        ((self.from + above - 1) as f64 + part) / self.n as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::median_ci95;

    #[test]
    fn ranks_drawn_are_those_of_samples_drawn() {
        // The interval of one median differs from the plain bootstrap's by at most a rank or two.
        for n in [6usize, 7, 30, 301, 1_000] {
            let sorted: Vec<f64> = (0..n).map(|i| 1_000.0 + i as f64).collect();
            let [low, high] = RatioBootstrap::new().ci95(&[1.0; 9], &sorted).unwrap();
            let plain = median_ci95(&sorted).unwrap();
            let slack = 1.0 + (n as f64).sqrt() / 10.0;
            assert!((low - plain[0]).abs() <= slack, "{n}: {low} {plain:?}");
            assert!((high - plain[1]).abs() <= slack, "{n}: {high} {plain:?}");
        }
    }

    #[test]
    fn few_or_odd_samples_get_no_interval() {
        let mut bootstrap = RatioBootstrap::new();
        assert_eq!(bootstrap.ci95(&[1.0; 5], &[1.0; 9]), None);
        assert_eq!(bootstrap.ci95(&[0.0; 9], &[1.0; 9]), None);
        assert_eq!(bootstrap.ci95(&[1.0; 9], &[f64::INFINITY; 9]), None);
        assert_eq!(bootstrap.ci95(&[2.0; 9], &[3.0; 9]), Some([1.5, 1.5]));
    }
}
