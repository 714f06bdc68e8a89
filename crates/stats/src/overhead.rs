// SPDX-License-Identifier: GPL-2.0-or-later

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    LowerIsBetter,
    HigherIsBetter,
}

impl Direction {
    /// The overhead for a ratio tested / baseline, as a fraction.
    pub fn overhead_of_ratio(self, ratio: f64) -> f64 {
        match self {
            Direction::LowerIsBetter => ratio - 1.0,
            Direction::HigherIsBetter => 1.0 - ratio,
        }
    }

    /// The overhead from the geometric mean of the ratios that have a logarithm, and their number.
    /// None if there are none.
    pub fn mean_overhead(self, ratios: impl IntoIterator<Item = f64>) -> Option<(f64, usize)> {
        let ratios = ratios.into_iter();
        let logarithms = ratios.filter(|r| r.is_finite() && *r > 0.0).map(f64::ln);
        let (sum, n) = logarithms.fold((0.0, 0), |(sum, n), logarithm| (sum + logarithm, n + 1));
        let mean = || (sum / n as f64).exp();
        (n > 0).then(|| (self.overhead_of_ratio(mean()), n))
    }
}

/// Overhead as a fraction (0.319 is 31.9 %): (tested - baseline) / baseline for a latency,
/// (baseline - tested) / baseline for a throughput, so that more is always worse (section 4.2 of
/// *Analyzing the Overhead of Filesystem Protection Using Linux Security Modules*).
///
/// None if a figure is not finite, the baseline is not above 0, or the quotient overflows.
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

#[cfg(test)]
mod tests {
    use super::Direction::*;
    use super::*;

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
        let mean = |ratios: &[f64]| LowerIsBetter.mean_overhead(ratios.iter().copied());
        assert_eq!(mean(&[0.0, f64::NAN]), None);
        let (overhead, n) = mean(&[2.0, 0.0, 8.0, f64::NAN]).unwrap();
        assert!((overhead - 3.0).abs() < 1e-12 && n == 2);
    }
}
