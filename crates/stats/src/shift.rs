// SPDX-License-Identifier: GPL-2.0-or-later
//! The shift between two small unpaired sets.

use crate::signed_rank::{Centre, rare};

/// The most values per set; the number of differences is the product of both sets' sizes.
const MOST: usize = 256;

/// The Hodges-Lehmann shift from `base` to `tested`: the median of all differences, with the exact
/// 95 % interval of the Mann-Whitney test (M. Hollander, D. A. Wolfe, *Nonparametric Statistical
/// Methods*, section 4.3). None for too few or too many values, or if one is not finite.
pub fn shift(base: &[f64], tested: &[f64]) -> Option<Centre> {
    let (m, n) = (base.len(), tested.len());
    let all = || base.iter().chain(tested);
    if m.max(n) > MOST || !all().all(|value| value.is_finite()) {
        return None;
    }
    let left_out = left_out(m, n)?;
    let differences = base.iter();
    let differences = differences.flat_map(|base| tested.iter().map(move |tested| tested - base));
    Some(Centre::new(differences.collect(), left_out))
}

/// Differences to leave out at each end: the largest Mann-Whitney count with a cumulative
/// probability of at most 2.5 %. None if no count is so rare.
fn left_out(m: usize, n: usize) -> Option<usize> {
    // The ways in which m of m + n ranks give each count: coefficients of a Gaussian binomial, the
    // product of (1 - q^(n+i)) / (1 - q^i). Half of them is enough.
    let most = m * n / 2;
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for i in 1..=m {
        for at in (n + i..=most).rev() {
            ways[at] -= ways[at - n - i];
        }
        for at in i..=most {
            ways[at] += ways[at - i];
        }
    }
    let all: f64 = (1..=m).map(|i| (n + i) as f64 / i as f64).product();
    rare(&ways, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Critical values of U for a two-sided test at 5 %. For 3 by 3 values there is none.
        for (m, n, critical) in [
            (3, 5, Some(0)),
            (4, 4, Some(0)),
            (5, 5, Some(2)),
            (6, 8, Some(8)),
            (8, 8, Some(13)),
            (8, 6, Some(8)),
            (10, 10, Some(23)),
            (20, 20, Some(127)),
            (3, 3, None),
            (0, 8, None),
        ] {
            assert_eq!(left_out(m, n), critical, "{m} {n}");
        }
        let centre = shift(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]).unwrap();
        assert_eq!((centre.value, centre.ci95), (10.0, [7.0, 13.0]));
        assert!(shift(&[1.0; 3], &[1.0; 3]).is_none());
        assert!(shift(&[1.0; 8], &[f64::NAN; 8]).is_none());
    }
}
