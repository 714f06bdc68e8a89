// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds the line on which most observations lie, wherever the others are.

use crate::random::SplitMix64;
use crate::regression::{FitError, check};

/// If there are more pairs, they are sampled.
const PAIRS_MAX: usize = 2_000;
const SEED: u64 = 0x6c69_6e65;

struct Candidate {
    /// The number of different values of x near the line, and the number of observations near it.
    near: (usize, usize),
    sum: f64,
    slope: f64,
    intercept: f64,
}

/// Which observations are within `tolerance` of the best line: the most different values of `x`,
/// then the most observations, then the smallest distance. Tries lines through two observations:
/// all pairs, or 2,000 random ones with a fixed seed.
///
/// For operations with several paths, least squares would mix the paths (M. A. Fischler, R. C.
/// Bolles, *Random sample consensus*, Communications of the ACM 24(6), 1981). The number of
/// observations alone is not enough: two paths may share a line at two values of `x` by chance.
pub fn on_one_line(x: &[f64], y: &[f64], tolerance: f64) -> Result<Vec<bool>, FitError> {
    check(&[x], y)?;
    let n = x.len();
    let mut values: Vec<f64> = x.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let place = |x: &f64| values.binary_search_by(|v| v.total_cmp(x)).unwrap_or(0);
    let places: Vec<usize> = x.iter().map(place).collect();
    let mut seen = vec![false; values.len()];
    let mut random = SplitMix64::new(SEED);
    let all = n * n.saturating_sub(1) / 2;
    let mut best: Option<Candidate> = None;
    let mut consider = |i: usize, j: usize| {
        if x[i] == x[j] {
            return;
        }
        let slope = (y[j] - y[i]) / (x[j] - x[i]);
        let intercept = y[i] - slope * x[i];
        let (mut near, mut sum) = (0, 0.0);
        seen.fill(false);
        for ((x, y), place) in x.iter().zip(y).zip(&places) {
            let distance = (y - intercept - slope * x).abs();
            if distance <= tolerance {
                near += 1;
                sum += distance;
                seen[*place] = true;
            }
        }
        let near = (seen.iter().filter(|seen| **seen).count(), near);
        let better = |best: &Candidate| near > best.near || near == best.near && sum < best.sum;
        if best.as_ref().is_none_or(better) {
            best = Some(Candidate {
                near,
                sum,
                slope,
                intercept,
            });
        }
    };
    if all <= PAIRS_MAX {
        for i in 0..n {
            for j in i + 1..n {
                consider(i, j);
            }
        }
    } else {
        for _ in 0..PAIRS_MAX {
            consider(random.below(n), random.below(n));
        }
    }
    let Some(Candidate {
        slope, intercept, ..
    }) = best
    else {
        return Err(FitError::Collinear { column: 0 });
    };
    Ok(x.iter()
        .zip(y)
        .map(|(x, y)| (y - intercept - slope * x).abs() <= tolerance)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_strangers_changes_nothing() {
        let x: Vec<f64> = (0..36).map(|i| f64::from(i % 12) * 10_000.0).collect();
        let y: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(i, x)| 5_000.0 + 7.0 * x + if i % 3 == 1 { 20_000.0 } else { 0.0 })
            .collect();
        let near = on_one_line(&x, &y, 100.0).unwrap();
        let expected: Vec<bool> = (0..36).map(|i| i % 3 != 1).collect();
        assert_eq!(near, expected);
    }

    #[test]
    fn two_paths_that_meet_a_line_by_chance_make_none() {
        // Path B costs 80 more: at x = 0 path A and at x = 100 path B are on one line.
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (at, a, b) in [(0.0, 6, 1), (40.0, 3, 3), (70.0, 3, 3), (100.0, 1, 6)] {
            x.extend(vec![at; a + b]);
            y.extend(vec![at; a]);
            y.extend(vec![at + 80.0; b]);
        }
        let near = on_one_line(&x, &y, 1.0).unwrap();
        let on: Vec<f64> = (0..x.len())
            .filter(|&i| near[i])
            .map(|i| y[i] - x[i])
            .collect();
        assert!(on.iter().all(|rest| *rest == on[0]), "{on:?}");
    }

    #[test]
    fn without_different_x_there_is_no_line() {
        assert!(on_one_line(&[1.0; 5], &[1.0, 2.0, 3.0, 4.0, 5.0], 1.0).is_err());
        assert!(on_one_line(&[1.0, 2.0], &[1.0, f64::NAN], 1.0).is_err());
    }
}
