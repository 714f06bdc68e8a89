// SPDX-License-Identifier: GPL-2.0-or-later
//! Properties that every summary has, and how often its interval is right.

use proptest::prelude::*;
use stats::{SplitMix64, Summary};

fn samples() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        proptest::collection::vec(-1e12f64..1e12, 1..60),
        // Few distinct values: ties everywhere.
        proptest::collection::vec((0u8..4).prop_map(f64::from), 1..60),
        proptest::collection::vec(Just(4979.0), 1..60),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn order_does_not_matter(
        (a, b) in samples().prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
    ) {
        prop_assert_eq!(Summary::from_samples(&a).unwrap(), Summary::from_samples(&b).unwrap());
    }

    #[test]
    fn figures_are_ordered(v in samples()) {
        let s = Summary::from_samples(&v).unwrap();
        prop_assert_eq!(s.n, v.len());
        prop_assert!(s.min <= s.median && s.median <= s.max);
        prop_assert!(s.min <= s.mean && s.mean <= s.max);
        prop_assert_eq!(s.stddev.is_some(), v.len() >= 2);
        prop_assert!(s.stddev.unwrap_or(0.0) <= (s.max - s.min) * 1.000_001);
        prop_assert_eq!(s.ci95.is_some(), v.len() >= 6);
        if let Some([low, high]) = s.ci95 {
            prop_assert!(s.min <= low && low <= s.median);
            prop_assert!(s.median <= high && high <= s.max);
        }
    }

    #[test]
    fn any_bits_are_summarised_or_refused(
        bits in proptest::collection::vec(any::<u64>(), 0..20)
    ) {
        let v: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
        if let Ok(s) = Summary::from_samples(&v) {
            prop_assert!(s.mean.is_finite() && s.median.is_finite());
            prop_assert!(s.stddev.unwrap_or(0.0).is_finite());
        }
    }

    #[test]
    fn the_unit_does_not_matter(v in proptest::collection::vec(1f64..1e6, 6..40)) {
        // A power of two, so that scaling is exact.
        let scaled: Vec<f64> = v.iter().map(|x| x * 1024.0).collect();
        let (s, t) = (Summary::from_samples(&v).unwrap(), Summary::from_samples(&scaled).unwrap());
        prop_assert_eq!(s.median * 1024.0, t.median);
        prop_assert_eq!(s.ci95.map(|c| c.map(|x| x * 1024.0)), t.ci95);
    }
}

/// Share of `trials` in which the interval of `n` draws holds the true median.
fn coverage(
    n: usize,
    trials: u32,
    median: f64,
    mut draw: impl FnMut(&mut SplitMix64) -> f64,
) -> f64 {
    let mut random = SplitMix64::new(20_240_229);
    let mut held = 0u32;
    for _ in 0..trials {
        let v: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        let [low, high] = Summary::from_samples(&v).unwrap().ci95.unwrap();
        held += u32::from(low <= median && median <= high);
    }
    f64::from(held) / f64::from(trials)
}

#[test]
fn intervals_hold_the_true_median_about_95_times_in_100() {
    // Latencies are skewed to the right: an exponential tail above a floor.
    let latency = |r: &mut SplitMix64| 100.0 - 20.0 * (1.0 - r.unit()).ln();
    let uniform = |r: &mut SplitMix64| r.unit();
    for (name, share) in [
        (
            "latency, 50",
            coverage(50, 300, 100.0 + 20.0 * 2f64.ln(), latency),
        ),
        ("uniform, 50", coverage(50, 300, 0.5, uniform)),
        ("uniform, 101", coverage(101, 200, 0.5, uniform)),
    ] {
        assert!((0.90..=0.985).contains(&share), "{name}: {share}");
    }
}

#[test]
fn more_samples_narrow_the_interval() {
    let width = |n: usize| {
        let mut r = SplitMix64::new(1);
        let v: Vec<f64> = (0..n).map(|_| r.unit()).collect();
        let [low, high] = Summary::from_samples(&v).unwrap().ci95.unwrap();
        high - low
    };
    assert!(width(1_000) < width(20) / 2.0);
}
