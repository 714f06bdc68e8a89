// SPDX-License-Identifier: GPL-2.0-or-later

use crate::bootstrap;

/// Largest magnitude accepted as a sample; its square still fits an `f64`.
pub const MAGNITUDE_LIMIT: f64 = 1e150;

/// Why samples could not be summarised.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StatsError {
    #[error("no samples to summarise")]
    Empty,
    #[error("sample {index} of {n} is {value}, which is not finite")]
    NotFinite {
        /// Counted from 0.
        index: usize,
        n: usize,
        value: f64,
    },
    #[error("sample {index} of {n} is {value:e}, beyond ±{MAGNITUDE_LIMIT:e}")]
    TooLarge {
        /// Counted from 0.
        index: usize,
        n: usize,
        value: f64,
    },
}

/// All values have the samples' unit.
///
/// `min ≤ median ≤ max`, `min ≤ mean ≤ max`, and the interval is within `[min, max]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// At least 1.
    pub n: usize,
    /// Middle sample, or the mean of the middle two.
    pub median: f64,
    pub mean: f64,
    /// Standard deviation of the sample (divisor n - 1). None for a single sample.
    pub stddev: Option<f64>,
    pub min: f64,
    pub max: f64,
    /// 95 % bootstrap percentile interval of the median, `[low, high]`; None below
    /// [`bootstrap::SAMPLES_MIN`] samples.
    pub ci95: Option<[f64; 2]>,
}

impl Summary {
    /// Samples may be in any order. Returns a [`StatsError`] if there are no samples, or if one is
    /// not finite or beyond [`MAGNITUDE_LIMIT`].
    pub fn from_samples(samples: &[f64]) -> Result<Summary, StatsError> {
        let n = samples.len();
        for (index, &value) in samples.iter().enumerate() {
            if !value.is_finite() {
                return Err(StatsError::NotFinite { index, n, value });
            }
            if value.abs() > MAGNITUDE_LIMIT {
                return Err(StatsError::TooLarge { index, n, value });
            }
        }
        // Adding 0.0 turns -0.0 into 0.0: equal samples must not differ in sign.
        let mut sorted: Vec<f64> = samples.iter().map(|&value| value + 0.0).collect();
        // Sorting first makes every sum independent of the samples' order.
        sorted.sort_unstable_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return Err(StatsError::Empty);
        };
        let mean = (sorted.iter().sum::<f64>() / n as f64).clamp(min, max);
        Ok(Summary {
            n,
            median: median_of_sorted(&sorted),
            mean,
            stddev: (n >= 2).then(|| {
                let squares: f64 = sorted.iter().map(|x| (x - mean) * (x - mean)).sum();
                (squares / (n - 1) as f64).sqrt()
            }),
            min,
            max,
            ci95: bootstrap::median_ci95(&sorted),
        })
    }

    /// Summarises all samples; the interval is [`bootstrap::rounds_ci95`].
    pub fn from_rounds(rounds: &[Vec<f64>]) -> Result<Summary, StatsError> {
        let mut summary = Summary::from_samples(&rounds.concat())?;
        let mut sorted = rounds.to_vec();
        for round in &mut sorted {
            round.sort_unstable_by(f64::total_cmp);
        }
        summary.ci95 = bootstrap::rounds_ci95(&sorted);
        Ok(summary)
    }
}

/// The median, or 0 if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&values)
}

/// Median of ascending values; 0 if empty, which callers exclude.
pub fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n == 0 {
        return 0.0;
    }
    let (low, high) = (sorted[(n - 1) / 2], sorted[n / 2]);
    (low + (high - low) / 2.0).clamp(low, high)
}

/// The value at index ⌊n · `part`⌋ (`part`: 0 to 1) of ascending values; 0 if empty, which callers
/// exclude.
pub fn quantile_of_sorted(sorted: &[f64], part: f64) -> f64 {
    let at = (sorted.len() as f64 * part) as usize;
    let last = sorted.len().saturating_sub(1);
    sorted.get(at.min(last)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_figures() {
        let s = Summary::from_samples(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(
            (s.n, s.median, s.mean, s.min, s.max),
            (8, 4.5, 5.0, 2.0, 9.0)
        );
        assert!((s.stddev.unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!(s.ci95.is_some());
    }

    #[test]
    fn edges() {
        let one = Summary::from_samples(&[3.0]).unwrap();
        assert_eq!((one.stddev, one.ci95, one.median), (None, None, 3.0));
        let two = Summary::from_samples(&[3.0, 3.0]).unwrap();
        assert_eq!(two.stddev, Some(0.0));
        for (samples, expected) in [
            (&[][..], "no samples to summarise"),
            (
                &[1.0, f64::NAN],
                "sample 1 of 2 is NaN, which is not finite",
            ),
            (
                &[f64::INFINITY],
                "sample 0 of 1 is inf, which is not finite",
            ),
            (&[1e300], "sample 0 of 1 is 1e300, beyond ±1e150"),
        ] {
            let error = Summary::from_samples(samples).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn quantiles() {
        let sorted = [1.0, 2.0, 3.0, 4.0];
        let at = |part| quantile_of_sorted(&sorted, part);
        assert_eq!([at(0.0), at(0.1), at(0.25), at(1.0)], [1.0, 1.0, 2.0, 4.0]);
        assert_eq!(quantile_of_sorted(&[], 0.5), 0.0);
    }

    #[test]
    fn negative_zero_is_zero() {
        let s = Summary::from_samples(&[-0.0, 0.0]).unwrap();
        assert!(s.min.is_sign_positive() && s.max.is_sign_positive());
    }
}
