// SPDX-License-Identifier: GPL-2.0-or-later
//! Histograms of nanoseconds in powers of two.

use crate::layout::BUCKETS;

/// Bucket 0 counts calls of 0 ns, bucket `b` those of `2^(b-1)` to `2^b - 1` ns, the last (from
/// 2^38 ns, 275 s, on) all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    pub buckets: [u64; BUCKETS],
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            buckets: [0; BUCKETS],
        }
    }
}

/// A bucket's bounds in ns, the upper one exclusive; the last has no upper bound.
#[must_use]
pub fn bounds_ns(bucket: usize) -> (u64, Option<u64>) {
    match bucket {
        0 => (0, Some(1)),
        _ if bucket < BUCKETS - 1 => (1 << (bucket - 1), Some(1 << bucket)),
        _ => (1 << (BUCKETS - 2), None),
    }
}

impl Histogram {
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets
            .iter()
            .fold(0, |sum, &calls| sum.saturating_add(calls))
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
