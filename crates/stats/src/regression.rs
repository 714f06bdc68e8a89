// SPDX-License-Identifier: GPL-2.0-or-later

use nalgebra::{DMatrix, DVector};

use crate::summary::MAGNITUDE_LIMIT;
use crate::welch::t_quantile;

/// A column is dependent if its remainder is below this share of the largest.
const RANK_TOLERANCE: f64 = 1e-10;
/// Residuals below this share of the observations are rounding errors.
const ROUNDING: f64 = 1e-12;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Too few observations to judge the fit.
    #[error("{n} observations for {coefficients} coefficients; at least {} are needed", coefficients + 1)]
    TooFew { n: usize, coefficients: usize },
    #[error("predictor {column} has {len} values for {n} observations")]
    Uneven {
        /// Counted from 0.
        column: usize,
        len: usize,
        n: usize,
    },
    /// A value is not finite, or beyond [`MAGNITUDE_LIMIT`].
    #[error("value {index} of {what} is {value}, which is not finite or too large")]
    NotFinite {
        /// `predictor 0`, `the observations`.
        what: String,
        /// Counted from 0.
        index: usize,
        value: f64,
    },
    /// A predictor is constant, or depends on the others.
    #[error("predictor {column} does not vary independently")]
    Collinear {
        /// Counted from 0. If several columns depend on each other, this is the last one.
        column: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    pub value: f64,
    /// 95 % interval `[low, high]` (Student's t), for independent errors with equal variance. For
    /// an exact fit, both ends are the same.
    pub ci95: [f64; 2],
}

/// `y = intercept + Σ slope·x + ε`, by ordinary least squares unless stated otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The value at which all predictors are 0.
    pub intercept: f64,
    pub slopes: Vec<Coefficient>,
    /// Share of explained variance, at most 1; None if the observations do not vary.
    pub r2: Option<f64>,
    /// Observation minus fit, in the order of the observations.
    pub residuals: Vec<f64>,
}

impl Fit {
    /// Each predictor has a value for each observation.
    pub fn new(predictors: &[&[f64]], y: &[f64]) -> Result<Fit, FitError> {
        check(predictors, y)?;
        let (n, coefficients) = (y.len(), predictors.len() + 1);
        // Centred, so that the intercept is a mean, and scaled, so that units do not affect what
        // counts as rounding.
        let means: Vec<f64> = predictors.iter().map(|x| mean(x)).collect();
        let scales: Vec<f64> = predictors
            .iter()
            .zip(&means)
            .map(|(x, mean)| x.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max))
            .collect();
        if let Some(column) = flat(predictors, &means, &scales) {
            return Err(FitError::Collinear { column });
        }
        let columns = DMatrix::from_fn(n, predictors.len(), |row, column| {
            (predictors[column][row] - means[column]) / scales[column]
        });
        let mean_y = mean(y);
        let centred = DVector::from_iterator(n, y.iter().map(|v| v - mean_y));
        let qr = columns.clone().qr();
        let r = qr.r();
        let largest = r.diagonal().iter().map(|v| v.abs()).fold(0.0, f64::max);
        let dependent = |&column: &usize| r[(column, column)].abs() <= largest * RANK_TOLERANCE;
        if let Some(column) = (0..predictors.len()).rev().find(dependent) {
            return Err(FitError::Collinear { column });
        }
        let singular = || FitError::Collinear {
            column: predictors.len().saturating_sub(1),
        };
        let scaled = r
            .solve_upper_triangular(&(qr.q().transpose() * &centred))
            .ok_or_else(singular)?;
        let inverse = r
            .solve_upper_triangular(&DMatrix::identity(predictors.len(), predictors.len()))
            .ok_or_else(singular)?;

        let residuals = without_rounding(&centred - &columns * &scaled, y);
        let squares = residuals.iter().map(|left| left * left).sum::<f64>();
        let freedom = (n - coefficients) as f64;
        let reach = (squares / freedom).sqrt() * t_quantile(0.975, freedom);
        let slopes: Vec<Coefficient> = (0..predictors.len())
            .map(|column| {
                let spread = inverse.row(column).norm() / scales[column];
                let (value, reach) = (scaled[column] / scales[column], reach * spread);
                Coefficient {
                    value,
                    ci95: [value - reach, value + reach],
                }
            })
            .collect();
        let at_means = slopes.iter().zip(&means);
        let at_means = at_means.map(|(slope, mean)| slope.value * mean);
        let all = centred.norm_squared();
        Ok(Fit {
            intercept: mean_y - at_means.sum::<f64>(),
            slopes,
            r2: (all > 0.0).then(|| (1.0 - squares / all).clamp(0.0, 1.0)),
            residuals,
        })
    }
}

/// Residuals, with rounding errors set to 0.
fn without_rounding(residuals: DVector<f64>, y: &[f64]) -> Vec<f64> {
    let rounding = y.iter().map(|v| v.abs()).fold(0.0, f64::max) * ROUNDING;
    let exact = |left: &f64| if left.abs() <= rounding { 0.0 } else { *left };
    residuals.iter().map(exact).collect()
}

/// Curvature of `y` over `x`: the sag of the fitted parabola in the middle of the range of `x`,
/// divided by the line's rise over that range, or by itself if it is larger than the rise. -1 to 1;
/// 0 for a straight line, positive if the slope increases.
pub fn bend(x: &[f64], y: &[f64]) -> Result<f64, FitError> {
    check(&[x], y)?;
    let (low, high) = x
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| {
            (low.min(v), high.max(v))
        });
    let (middle, half) = (low + (high - low) / 2.0, (high - low) / 2.0);
    if half <= 0.0 {
        return Err(FitError::Collinear { column: 0 });
    }
    let line: Vec<f64> = x.iter().map(|v| (v - middle) / half).collect();
    let square: Vec<f64> = line.iter().map(|v| v * v).collect();
    let fit = Fit::new(&[&line, &square], y)?;
    // Over [-1, 1] the line rises by 2b, and the parabola lies c below its chord.
    let (rise, sag) = (2.0 * fit.slopes[0].value, fit.slopes[1].value);
    let whole = rise.abs().max(sag.abs());
    Ok(if whole == 0.0 { 0.0 } else { sag / whole })
}

pub(crate) fn check(predictors: &[&[f64]], y: &[f64]) -> Result<(), FitError> {
    let n = y.len();
    for (column, x) in predictors.iter().enumerate() {
        if x.len() != n {
            return Err(FitError::Uneven {
                column,
                len: x.len(),
                n,
            });
        }
        finite(x, || format!("predictor {column}"))?;
    }
    finite(y, || "the observations".to_owned())?;
    let coefficients = predictors.len() + 1;
    if n <= coefficients {
        return Err(FitError::TooFew { n, coefficients });
    }
    Ok(())
}

fn finite(values: &[f64], what: impl Fn() -> String) -> Result<(), FitError> {
    let bad = |value: &f64| !value.is_finite() || value.abs() > MAGNITUDE_LIMIT;
    match values.iter().position(bad) {
        Some(index) => Err(FitError::NotFinite {
            what: what(),
            index,
            value: values[index],
        }),
        None => Ok(()),
    }
}

/// The last predictor that varies less than its rounding errors.
fn flat(predictors: &[&[f64]], means: &[f64], scales: &[f64]) -> Option<usize> {
    (0..predictors.len())
        .rev()
        .find(|&column| scales[column] <= means[column].abs() * ROUNDING)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
    }

    /// Computed by hand: the sums of squares are 10 and 6, the sum of products is 6, and t(3
    /// degrees of freedom, 95 %) is 3.18245.
    #[test]
    fn a_known_line() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        let y = [2.0, 4.0, 5.0, 4.0, 5.0];
        let fit = Fit::new(&[&x], &y).unwrap();
        assert!(near(fit.intercept, 2.2), "{fit:?}");
        assert!(near(fit.slopes[0].value, 0.6), "{fit:?}");
        assert!(near(fit.r2.unwrap(), 0.6), "{fit:?}");
        let [low, high] = fit.slopes[0].ci95;
        assert!(
            (low + 0.300_131_8).abs() < 1e-6 && (high - 1.500_131_8).abs() < 1e-6,
            "{fit:?}"
        );
    }

    #[test]
    fn an_exact_line_has_no_interval() {
        let x: Vec<f64> = (0..12).map(|i| f64::from(i) * 10_000.0).collect();
        let y: Vec<f64> = x.iter().map(|x| 4_717.0 + 2.0 * x).collect();
        let fit = Fit::new(&[&x], &y).unwrap();
        assert!(near(fit.slopes[0].value, 2.0) && near(fit.intercept, 4_717.0));
        assert_eq!((fit.r2, &fit.residuals), (Some(1.0), &vec![0.0; 12]));
        assert!(bend(&x, &y).unwrap().abs() < 1e-9);
    }

    #[test]
    fn two_predictors_are_separated() {
        let hooks = [3.0, 5.0, 9.0, 4.0, 7.0, 11.0];
        let delay = [0.0, 10.0, 20.0, 30.0, 40.0, 5.0];
        let y: Vec<f64> = (0..6)
            .map(|i| 100.0 + 27.0 * hooks[i] + 2.0 * delay[i])
            .collect();
        let fit = Fit::new(&[&hooks, &delay], &y).unwrap();
        assert!(
            near(fit.slopes[0].value, 27.0) && near(fit.slopes[1].value, 2.0),
            "{fit:?}"
        );
    }

    #[test]
    fn what_cannot_be_fitted_says_why() {
        let (x, two) = ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0]);
        let (twice, odd) = (x.map(|x| 2.0 * x), [1.0, f64::NAN, 2.0, 3.0]);
        type Case<'a> = (&'a [&'a [f64]], &'a [f64], &'a str);
        let cases: [Case<'_>; 5] = [
            (
                &[&two],
                &two,
                "2 observations for 2 coefficients; at least 3",
            ),
            (&[&x, &twice], &x, "predictor 1 does not vary independently"),
            (&[&[7.0; 4]], &x, "predictor 0 does not vary independently"),
            (
                &[&odd],
                &x,
                "value 1 of predictor 0 is NaN, which is not finite",
            ),
            (&[&two], &x, "predictor 0 has 2 values for 4 observations"),
        ];
        for (predictors, y, expected) in cases {
            let error = Fit::new(predictors, y).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let flat = Fit::new(&[&x], &[5.0; 4]).unwrap();
        assert_eq!((flat.r2, flat.slopes[0].value), (None, 0.0));
    }

    #[test]
    fn a_bend_has_a_sign() {
        let x: Vec<f64> = (0..10).map(f64::from).collect();
        let up: Vec<f64> = x.iter().map(|x| x * x).collect();
        let down: Vec<f64> = x.iter().map(|x| -x * x).collect();
        assert!(bend(&x, &up).unwrap() > 0.2);
        assert!(bend(&x, &down).unwrap() < -0.2);
    }

    proptest! {
        #[test]
        fn anything_is_fitted_or_refused(
            x in proptest::collection::vec(proptest::num::f64::ANY, 0..12),
            y in proptest::collection::vec(proptest::num::f64::ANY, 0..12),
        ) {
            if let Ok(fit) = Fit::new(&[&x], &y) {
                prop_assert_eq!(fit.residuals.len(), y.len());
            }
            let _ = bend(&x, &y);
        }
    }
}
