// SPDX-License-Identifier: GPL-2.0-or-later

use crate::summary::median_of_sorted;

/// The smallest number of values whose widest interval covers 95 %.
const LEAST: usize = 6;
/// The largest number of values; the number of averages is half of its square.
const MOST: usize = 1_000;

/// The centre of a symmetric distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centre {
    /// Hodges-Lehmann estimate: the median of the averages of all pairs.
    pub value: f64,
    /// Exact interval of Wilcoxon's signed-rank test (M. Hollander, D. A. Wolfe, *Nonparametric
    /// Statistical Methods*, section 3.3); at least 95 %.
    pub ci95: [f64; 2],
}

/// Tolerates outliers. None unless there are 6 to 1,000 values, all of them finite.
pub fn centre(values: &[f64]) -> Option<Centre> {
    let n = values.len();
    if !(LEAST..=MOST).contains(&n) || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let pairs = values.iter().enumerate();
    let pairs = pairs.flat_map(|(at, a)| values[at..].iter().map(move |b| f64::midpoint(*a, *b)));
    Some(Centre::new(pairs.collect(), left_out(n)?))
}

impl Centre {
    /// The interval leaves out the `left_out` lowest and the `left_out` highest `values`.
    pub(crate) fn new(mut values: Vec<f64>, left_out: usize) -> Centre {
        values.sort_by(f64::total_cmp);
        Centre {
            value: median_of_sorted(&values),
            ci95: [values[left_out], values[values.len() - 1 - left_out]],
        }
    }
}

/// The last index up to which the sum of `parts` is at most 2.5 % of `all`.
pub(crate) fn rare(parts: &[f64], all: f64) -> Option<usize> {
    let mut below = 0.0;
    let fits = |part: &&f64| {
        below += **part;
        below <= 0.025 * all
    };
    parts.iter().take_while(fits).count().checked_sub(1)
}

/// Averages to leave out at each end: the largest rank sum with a cumulative probability of at most
/// 2.5 %. None if no sum is so rare.
fn left_out(n: usize) -> Option<usize> {
    let sums = n * (n + 1) / 2;
    // Share of all choices of signs, by their sum.
    let mut part = vec![0.0; sums + 1];
    part[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=sums).rev() {
            let with = sum.checked_sub(rank).map_or(0.0, |less| part[less]);
            part[sum] = f64::midpoint(part[sum], with);
        }
    }
    rare(&part, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Critical values of T, two-sided 5 %: 0, 2, 3, 5, 8 for n of 6 to 10.
        let critical: Vec<usize> = (6..=10).filter_map(left_out).collect();
        assert_eq!(critical, [0, 2, 3, 5, 8]);
        assert_eq!(left_out(5), None);
        let found = centre(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!((found.value, found.ci95), (3.5, [1.0, 6.0]));
        assert!(centre(&[1.0; 5]).is_none());
        assert!(centre(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN]).is_none());
    }

    #[test]
    fn one_value_far_away_moves_it_little() {
        let found = centre(&[10.0, 11.0, 9.0, 10.0, 10.5, 9.5, 10.0, 500.0]).unwrap();
        assert!((9.5..11.0).contains(&found.value), "{found:?}");
    }
}
