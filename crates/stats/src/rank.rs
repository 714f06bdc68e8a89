// SPDX-License-Identifier: GPL-2.0-or-later

use statrs::distribution::{ContinuousCDF, Normal};

/// Up to this many samples in both sets together, the exact distribution is used; with more, the
/// sum of ranks is nearly normal.
const EXACT_MAX: usize = 30;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// The number of pairs in which the second set's sample is larger; ties count half.
    pub u: f64,
    pub p: f64,
    /// Cliff's delta, -1 to 1: the share of pairs with a larger second sample, minus the opposite.
    pub delta: f64,
}

/// The two-sided Mann-Whitney U test. None if a set is empty or a sample is not finite.
///
/// Up to 30 samples it uses the exact permutation distribution, with ties; above, the normal
/// approximation with corrections for ties and continuity (H. B. Mann, D. R. Whitney, *On a test of
/// whether one of two random variables is stochastically larger than the other*, Annals of
/// Mathematical Statistics 18(1), 1947; M. Hollander, D. A. Wolfe, *Nonparametric Statistical
/// Methods*, section 4.1). Cliff's delta: N. Cliff, *Dominance statistics*, Psychological Bulletin
/// 114(3), 1993.
///
/// O(n·log n). (statrs 0.19 is quadratic, enumerates all choices of 8 out of any number, and
/// returns NaN if all samples are equal.)
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<RankTest> {
    let (n1, n2) = (first.len(), second.len());
    let finite = |x: &f64| x.is_finite();
    if n1 == 0 || n2 == 0 || !first.iter().chain(second).all(finite) {
        return None;
    }
    let mut all: Vec<(f64, bool)> = Vec::with_capacity(n1 + n2);
    // Adding 0.0 turns -0.0 into 0.0: equal samples must be ties.
    all.extend(first.iter().map(|x| (x + 0.0, false)));
    all.extend(second.iter().map(|x| (x + 0.0, true)));
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let ranks = doubled_ranks(&all);
    let sum: u64 = (ranks.iter().zip(&all))
        .filter(|(_, (_, of_second))| *of_second)
        .map(|(rank, _)| *rank)
        .sum();
    let pairs = n1 as f64 * n2 as f64;
    let u = (sum as f64 - n2 as f64 * (n2 + 1) as f64) / 2.0;
    let p = if n1 + n2 <= EXACT_MAX {
        exact(&ranks, n2, sum)
    } else {
        normal(&ranks, u, pairs)
    };
    Some(RankTest {
        u,
        p: p.clamp(0.0, 1.0),
        delta: (2.0 * u / pairs - 1.0).clamp(-1.0, 1.0),
    })
}

/// Ranks are doubled, so that the mean ranks of ties are integers.
fn doubled_ranks(sorted: &[(f64, bool)]) -> Vec<u64> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let before = ranks.len() as u64;
        let rank = 2 * before + tied.len() as u64 + 1;
        ranks.resize(ranks.len() + tied.len(), rank);
    }
    ranks
}

fn exact(ranks: &[u64], chosen: usize, sum: u64) -> f64 {
    let total: u64 = ranks.iter().sum();
    let width = total as usize + 1;
    // ways[k * width + s]: choices of k ranks that sum up to s.
    let mut ways = vec![0.0f64; (chosen + 1) * width];
    ways[0] = 1.0;
    let mut largest = 0;
    for (seen, &rank) in ranks.iter().enumerate() {
        largest += rank as usize;
        for k in (1..=chosen.min(seen + 1)).rev() {
            for s in (rank as usize..=largest).rev() {
                ways[k * width + s] += ways[(k - 1) * width + s - rank as usize];
            }
        }
    }
    let ways = &ways[chosen * width..];
    let n = ranks.len() as u64;
    // Distances from the mean, total · chosen / n, all times n.
    let distance = |s: u64| (s * n).abs_diff(total * chosen as u64);
    let seen = distance(sum);
    let (mut far, mut all) = (0.0, 0.0);
    for (s, ways) in ways.iter().enumerate() {
        all += ways;
        if distance(s as u64) >= seen {
            far += ways;
        }
    }
    far / all
}

fn normal(ranks: &[u64], u: f64, pairs: f64) -> f64 {
    let n = ranks.len() as f64;
    let ties: f64 = ranks
        .chunk_by(|a, b| a == b)
        .map(|tied| {
            let t = tied.len() as f64;
            t * t * t - t
        })
        .sum();
    let variance = pairs / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0)));
    let distance = (u - pairs / 2.0).abs() - 0.5;
    if variance <= 0.0 || distance <= 0.0 {
        return 1.0;
    }
    two_sided_p(distance / variance.sqrt())
}

/// P(|Z| ≥ z) of the standard normal distribution.
pub fn two_sided_p(z: f64) -> f64 {
    (2.0 * Normal::standard().sf(z.abs())).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn published_figures() {
        // The example of SciPy's mannwhitneyu: U = 17 of 20, p = 0.1111.
        let male = [19.0, 22.0, 16.0, 29.0, 24.0];
        let female = [20.0, 11.0, 17.0, 12.0];
        let test = mann_whitney(&female, &male).unwrap();
        assert!(near(test.u, 17.0) && near(test.p, 1.0 / 9.0), "{test:?}");
        assert!(near(test.delta, 0.7));
        // The sets do not overlap: of all choices, only one and its mirror image are as extreme.
        let test = mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert!(near(test.p, 2.0 / 20.0) && near(test.delta, 1.0));
    }

    #[test]
    fn edges() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[f64::NAN]), None);
        for n in [3, 40] {
            let test = mann_whitney(&vec![7.0; n], &vec![7.0; n]).unwrap();
            assert_eq!((test.p, test.delta), (1.0, 0.0));
        }
        let zeros = mann_whitney(&[-0.0; 4], &[0.0; 4]).unwrap();
        assert_eq!(zeros.p, 1.0);
        // If one set is small and the other large, the choices are not enumerated.
        let many: Vec<f64> = (0..10_000).map(f64::from).collect();
        let test = mann_whitney(&[-1.0, -2.0], &many).unwrap();
        assert!(test.p < 0.02 && test.delta == 1.0, "{test:?}");
    }

    proptest! {
        #[test]
        fn ties_are_counted_as_all_choices_count_them(
            values in proptest::collection::vec(0u8..4, 2..9), split in 1usize..8,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let split = split.min(values.len() - 1);
            let (first, second) = values.split_at(split);
            let test = mann_whitney(first, second).unwrap();
            let u_of = |mask: u32| -> f64 {
                let side = |i: usize| mask >> i & 1 == 1;
                let mut u = 0.0;
                for i in (0..values.len()).filter(|&i| side(i)) {
                    for j in (0..values.len()).filter(|&j| !side(j)) {
                        u += if values[i] > values[j] { 1.0 }
                            else if values[i] == values[j] { 0.5 } else { 0.0 };
                    }
                }
                u
            };
            let (n, k) = (values.len(), second.len() as u32);
            let middle = first.len() as f64 * second.len() as f64 / 2.0;
            let masks: Vec<u32> = (0..1u32 << n).filter(|m| m.count_ones() == k).collect();
            let far = masks.iter()
                .filter(|&&m| (u_of(m) - middle).abs() >= (test.u - middle).abs() - 1e-9)
                .count();
            prop_assert!(near(test.p, far as f64 / masks.len() as f64));
        }

        #[test]
        fn both_ways_agree_where_they_meet(seed: u64) {
            let mut random = crate::SplitMix64::new(seed);
            let values: Vec<(f64, bool)> = {
                let mut values: Vec<(f64, bool)> =
                    (0..30).map(|i| (random.unit(), i % 2 == 0)).collect();
                values.sort_by(|a, b| a.0.total_cmp(&b.0));
                values
            };
            let ranks = doubled_ranks(&values);
            let sum = ranks.iter().zip(&values).filter(|(_, v)| v.1).map(|(r, _)| *r).sum();
            let u = (sum as f64 - 240.0) / 2.0;
            let (exact, normal) = (exact(&ranks, 15, sum), normal(&ranks, u, 225.0));
            prop_assert!((exact - normal).abs() < 0.01, "{} {}", exact, normal);
        }
    }
}
