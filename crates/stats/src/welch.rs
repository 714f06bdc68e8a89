// SPDX-License-Identifier: GPL-2.0-or-later

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// mean(second) - mean(first)
    pub difference: f64,
    pub error: f64,
    /// Degrees of freedom (Welch and Satterthwaite), at least 1.
    pub freedom: f64,
    /// Two-sided, 0 to 1.
    pub p: f64,
}

/// Welch's two-sided t test for unequal variances (B. L. Welch, *The generalization of Student's
/// problem when several different population variances are involved*, Biometrika 34, 1947). None
/// for fewer than 2 values on a side, or if one is not finite.
pub fn welch(first: &[f64], second: &[f64]) -> Option<Welch> {
    let (m1, v1) = mean_and_variance(first)?;
    let (m2, v2) = mean_and_variance(second)?;
    let (n1, n2) = (first.len() as f64, second.len() as f64);
    let (e1, e2) = (v1 / n1, v2 / n2);
    let squares = e1 * e1 / (n1 - 1.0) + e2 * e2 / (n2 - 1.0);
    let freedom = if squares > 0.0 {
        ((e1 + e2) * (e1 + e2) / squares).max(1.0)
    } else {
        n1 + n2 - 2.0
    };
    let difference = m2 - m1;
    let error = (e1 + e2).sqrt();
    Welch::new(difference, error, freedom)
}

/// Student's t test of a difference between two single values, with the pooled variance within
/// `groups` of values that should be equal. None if no group has 2 values, or if a value is not
/// finite.
pub fn single_values(difference: f64, groups: &[Vec<f64>]) -> Option<Welch> {
    let mut squares = 0.0;
    let mut freedom = 0.0;
    for group in groups {
        let (_, variance) = mean_and_variance(group)?;
        squares += variance * (group.len() - 1) as f64;
        freedom += (group.len() - 1) as f64;
    }
    let known = freedom > 0.0 && difference.is_finite();
    let error = known.then(|| (2.0 * squares / freedom).sqrt())?;
    Welch::new(difference, error, freedom)
}

impl Welch {
    fn new(difference: f64, error: f64, freedom: f64) -> Option<Welch> {
        let p = match StudentsT::new(0.0, 1.0, freedom) {
            _ if difference == 0.0 => 1.0,
            _ if error == 0.0 => 0.0,
            Ok(t) => 2.0 * t.sf((difference / error).abs()),
            Err(_) => return None,
        };
        Some(Welch {
            difference,
            error,
            freedom,
            p: p.clamp(0.0, 1.0),
        })
    }

    pub fn ci95(&self) -> [f64; 2] {
        let reach = self.error * t_quantile(0.975, self.freedom);
        [self.difference - reach, self.difference + reach]
    }
}

/// Quantile of Student's t distribution, or of the normal one for infinite `freedom`; 0 < p < 1.
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    // Above this the distributions agree to three digits, and statrs is less exact than that.
    if freedom > 1e4 {
        return Normal::standard().inverse_cdf(p);
    }
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 || !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some((mean, squares / (n - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_figures() {
        // Means 3 and 6, variances 2.5 and 1: t = 3/√(0.5 + 1/3), 6.17 degrees of freedom.
        let test = welch(&[1.0, 2.0, 3.0, 4.0, 5.0], &[5.0, 6.0, 7.0]).unwrap();
        assert!((test.difference - 3.0).abs() < 1e-12);
        assert!((test.error - (5.0f64 / 6.0).sqrt()).abs() < 1e-12);
        let freedom = (25.0 / 36.0) / (0.25 / 4.0 + (1.0 / 9.0) / 2.0);
        assert!((test.freedom - freedom).abs() < 1e-9, "{test:?}");
        assert!(test.p > 0.01 && test.p < 0.03, "{test:?}");
        // The tables' values for 95 %.
        for (freedom, t) in [
            (1.0, 12.706),
            (4.0, 2.776),
            (30.0, 2.042),
            (9_999.0, 1.960),
            (1e9, 1.960),
        ] {
            let found = t_quantile(0.975, freedom);
            assert!((found - t).abs() < 1e-3, "{freedom}: {found}");
        }
    }

    #[test]
    fn single_values_are_judged_by_what_others_differ_by() {
        // Variances 1 and 4, of 2 and 1 degrees of freedom: together 2; t = 6 / √4 = 3.
        let groups = [vec![1.0, 2.0, 3.0], vec![8.0, 8.0 + 8.0f64.sqrt()]];
        let test = single_values(6.0, &groups).unwrap();
        assert!((test.error - 2.0).abs() < 1e-12, "{test:?}");
        assert_eq!(test.freedom, 3.0);
        // The tables' value for three degrees is 3.182 at 5 %, 2.353 at 10 %.
        assert!(test.p > 0.05 && test.p < 0.1, "{test:?}");
        assert_eq!(single_values(1.0, &[]), None);
        assert_eq!(single_values(1.0, &[vec![1.0]]), None);
        assert_eq!(single_values(f64::NAN, &groups), None);
        assert_eq!(single_values(1.0, &[vec![1.0; 3]]).unwrap().p, 0.0);
    }

    #[test]
    fn edges() {
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        let same = welch(&[2.0; 3], &[2.0; 3]).unwrap();
        assert_eq!((same.p, same.ci95()), (1.0, [0.0, 0.0]));
        assert_eq!(welch(&[2.0; 3], &[3.0; 3]).unwrap().p, 0.0);
    }
}
