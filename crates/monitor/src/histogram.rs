// SPDX-License-Identifier: GPL-2.0-or-later
//! Histograms of nanoseconds in powers of two, and what they say of percentiles.

use crate::layout::BUCKETS;

/// How many calls took how long: bucket 0 those of 0 ns, bucket `b` those of `2^(b-1)`
/// to `2^b - 1` ns, the last (from 2^38 ns, 275 s, on) all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    /// Calls in each bucket.
    pub buckets: [u64; BUCKETS],
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            buckets: [0; BUCKETS],
        }
    }
}

/// The times of a bucket in ns, from the first to before the second; the last has no
/// upper end.
#[must_use]
pub fn bounds_ns(bucket: usize) -> (u64, Option<u64>) {
    match bucket {
        0 => (0, Some(1)),
        _ if bucket < BUCKETS - 1 => (1 << (bucket - 1), Some(1 << bucket)),
        _ => (1 << (BUCKETS - 2), None),
    }
}

impl Histogram {
    /// Calls in all buckets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets
            .iter()
            .fold(0, |sum, &calls| sum.saturating_add(calls))
    }

    /// An estimate of the time in ns that a share of the calls, 0 to 1, did not exceed;
    /// None without calls.
    ///
    /// The bucket in which that call lies is exact. Within it, calls are taken to be
    /// spread evenly over the logarithm of the time, so that the estimate is off by less
    /// than a factor of two. In the last bucket it is that bucket's lower end.
    #[must_use]
    pub fn percentile_ns(&self, share: f64) -> Option<f64> {
        let count = self.count();
        if count == 0 || !share.is_finite() {
            return None;
        }
        let rank = share.clamp(0.0, 1.0) * count as f64;
        let mut before = 0.0;
        let filled = self
            .buckets
            .iter()
            .enumerate()
            .filter(|(_, calls)| **calls > 0);
        let mut last = 0.0;
        for (bucket, &calls) in filled {
            let calls = calls as f64;
            let (low, high) = bounds_ns(bucket);
            let within = ((rank - before) / calls).clamp(0.0, 1.0);
            last = match high {
                Some(high) if low > 0 => low as f64 * (high as f64 / low as f64).powf(within),
                _ => low as f64,
            };
            before += calls;
            if before >= rank {
                break;
            }
        }
        Some(last)
    }

    pub(crate) fn add(&mut self, other: &Histogram) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine = mine.wrapping_add(*theirs);
        }
    }

    pub(crate) fn take_off(&mut self, earlier: &Histogram) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&earlier.buckets) {
            *mine = mine.saturating_sub(*theirs);
        }
    }
}
