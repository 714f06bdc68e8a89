// SPDX-License-Identifier: GPL-2.0-or-later

use crate::regression::{Coefficient, Fit, FitError, check};
use crate::summary::median_of_sorted;

/// Each pair has a slope; later observations are ignored.
const OBSERVATIONS_MAX: usize = 3_000;

/// The Theil-Sen line: the median slope of all pairs of the first 3,000 observations, with Sen's
/// distribution-free 95 % interval (H. Theil 1950; P. K. Sen, *Estimates of the regression
/// coefficient based on Kendall's tau*, Journal of the American Statistical Association 63, 1968).
/// The intercept is the median residual.
///
/// This is for figures in several bands, from paths of different lengths. Least squares would turn
/// the bands' shares at each `x` into a slope.
pub fn median_line(x: &[f64], y: &[f64]) -> Result<Fit, FitError> {
    check(&[x], y)?;
    let n = x.len().min(OBSERVATIONS_MAX);
    let (x, y) = (&x[..n], &y[..n]);
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for i in 0..n {
        for j in i + 1..n {
            if x[i] != x[j] {
                slopes.push((y[j] - y[i]) / (x[j] - x[i]));
            }
        }
    }
    if slopes.is_empty() {
        return Err(FitError::Collinear { column: 0 });
    }
    slopes.sort_by(f64::total_cmp);
    let value = median_of_sorted(&slopes);
    // Standard deviation of Kendall's S without ties in y.
    let count = n as f64;
    let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
    let ties = ties(x).into_iter().map(|t| t * (t - 1.0) * (2.0 * t + 5.0));
    let apart = 1.96 * (variance - ties.sum::<f64>() / 18.0).max(0.0).sqrt();
    let at = |rank: f64| slopes[(rank.max(0.0) as usize).min(slopes.len() - 1)];
    let pairs = slopes.len() as f64;
    let ci95 = [
        at(((pairs - apart) / 2.0).floor()),
        at(((pairs + apart) / 2.0).ceil()),
    ];
    let mut left: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - value * x).collect();
    let residuals = left.clone();
    left.sort_by(f64::total_cmp);
    let intercept = median_of_sorted(&left);
    let residuals: Vec<f64> = residuals.iter().map(|left| left - intercept).collect();
    let mean = y.iter().sum::<f64>() / count;
    let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    let unexplained: f64 = residuals.iter().map(|r| r.powi(2)).sum();
    Ok(Fit {
        intercept,
        slopes: vec![Coefficient { value, ci95 }],
        r2: (total > 0.0).then(|| 1.0 - unexplained / total),
        residuals,
    })
}

fn ties(x: &[f64]) -> Vec<f64> {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
        .chunk_by(|a, b| a == b)
        .map(|chunk| chunk.len() as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bands_are_no_slope() {
        // Two for each step; long delays meet the upper band more often.
        let x: Vec<f64> = (0..60).map(|i| f64::from(i % 12) * 10.0).collect();
        let y: Vec<f64> = (0..60u32)
            .map(|i| 2.0 * x[i as usize] + if (i * 7) % 10 < 3 { 1_500.0 } else { 0.0 })
            .collect();
        let line = median_line(&x, &y).unwrap();
        assert_eq!(line.slopes[0].value, 2.0);
        assert_eq!(line.intercept, 0.0);
        let [low, high] = line.slopes[0].ci95;
        assert!(low <= 2.0 && high >= 2.0);
    }

    #[test]
    fn what_makes_no_line() {
        let same = median_line(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]);
        assert!(same.is_err());
        assert!(median_line(&[], &[]).is_err());
        assert!(median_line(&[1.0, f64::NAN], &[1.0, 2.0]).is_err());
    }
}
