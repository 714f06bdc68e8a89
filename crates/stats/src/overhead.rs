// SPDX-License-Identifier: GPL-2.0-or-later

/// Which values are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    LowerIsBetter,
    HigherIsBetter,
}

impl Direction {
    /// Overhead that belongs to the ratio tested / baseline, as a fraction.
    pub fn overhead_of_ratio(self, ratio: f64) -> f64 {
        match self {
            Direction::LowerIsBetter => ratio - 1.0,
            Direction::HigherIsBetter => 1.0 - ratio,
        }
    }

    /// From the geometric mean of the ratios that have a logarithm, and their number; None without
    /// any.
    pub fn mean_overhead(self, ratios: impl IntoIterator<Item = f64>) -> Option<(f64, usize)> {
        let ratios = ratios.into_iter();
        let ratios: Vec<f64> = ratios.filter(|r| r.is_finite() && *r > 0.0).collect();
        let n = ratios.len();
        Some((self.overhead_of_ratio(geometric_mean(ratios)?), n))
    }
}

/// Overhead as a fraction (0.319 is 31.9 %): (tested - baseline) / baseline for a
/// latency, (baseline - tested) / baseline for a throughput, so that more is always
/// worse (section 4.2 of *Analyzing the Overhead of Filesystem Protection Using
/// Linux Security Modules*).
///
/// None when there is no answer: a figure is not finite, the baseline is not above
/// 0, or the quotient overflows.
pub fn overhead(tested: f64, baseline: f64, direction: Direction) -> Option<f64> {
    if !tested.is_finite() || !baseline.is_finite() || baseline <= 0.0 {
        return None;
    }
    let cost = match direction {
        Direction::LowerIsBetter => (tested - baseline) / baseline,
        Direction::HigherIsBetter => (baseline - tested) / baseline,
    };
    // Adding 0.0 turns -0.0 into 0.0.
    cost.is_finite().then_some(cost + 0.0)
}

/// None for no values, or if one is not finite or not above 0.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut logarithms = 0.0;
    let mut n = 0u64;
    for value in values {
        if !value.is_finite() || value <= 0.0 {
            return None;
        }
        logarithms += value.ln();
        n += 1;
    }
    (n > 0).then(|| (logarithms / n as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::Direction::*;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_directions() {
        assert_eq!(overhead(150.0, 100.0, LowerIsBetter), Some(0.5));
        assert_eq!(overhead(50.0, 100.0, HigherIsBetter), Some(0.5));
        assert_eq!(overhead(100.0, 100.0, HigherIsBetter), Some(0.0));
        let selinux = overhead(4979.0 + 1588.0, 4979.0, LowerIsBetter).unwrap();
        assert_eq!(format!("{:.1}", selinux * 100.0), "31.9");
    }

    #[test]
    fn no_answer() {
        for (tested, baseline) in [
            (1.0, 0.0),
            (1.0, -1.0),
            (f64::NAN, 1.0),
            (1.0, f64::INFINITY),
            (1e300, 1e-300),
        ] {
            assert_eq!(overhead(tested, baseline, LowerIsBetter), None);
        }
    }

    #[test]
    fn geometric_means() {
        assert_eq!(geometric_mean([]), None);
        assert_eq!(geometric_mean([1.0, 0.0]), None);
        assert_eq!(geometric_mean([1.0, f64::NAN]), None);
        assert!((geometric_mean([2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_directions_mirror_each_other(t in 1e-3f64..1e9, b in 1e-3f64..1e9) {
            let latency = overhead(t, b, LowerIsBetter).unwrap();
            let throughput = overhead(t, b, HigherIsBetter).unwrap();
            prop_assert!((latency + throughput).abs() <= 1e-9 * latency.abs().max(1.0));
            prop_assert_eq!(latency > 0.0, t > b);
            let by_ratio = LowerIsBetter.overhead_of_ratio(t / b);
            prop_assert!((latency - by_ratio).abs() <= 1e-9 * latency.abs().max(1.0));
        }

        #[test]
        fn geometric_mean_lies_between(values in proptest::collection::vec(1e-3f64..1e3, 1..20)) {
            let g = geometric_mean(values.iter().copied()).unwrap();
            let min = values.iter().copied().fold(f64::MAX, f64::min);
            let max = values.iter().copied().fold(0.0, f64::max);
            prop_assert!(g >= min * (1.0 - 1e-12) && g <= max * (1.0 + 1e-12));
        }
    }
}
