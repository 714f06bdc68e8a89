// SPDX-License-Identifier: GPL-2.0-or-later
//! Where a series of figures changes its level.

use crate::random::SplitMix64;
use crate::summary::median_of_sorted;

/// Orders of the series that a test tries.
const PERMUTATIONS: usize = 1_999;
/// Fewest figures that have a change among them at any level that is of use: with
/// fewer, no order of them is rare enough.
const LENGTH_MIN: usize = 4;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Position of the first figure of the new level, from 1.
    pub at: usize,
    /// Median of the figures since the change before, in their unit.
    pub before: f64,
    /// Median of the figures up to the next change, in their unit.
    pub after: f64,
    /// How often a series in chance's order shows a change as clear as this; above 0. For
    /// figures that are exact: 0.
    pub p: f64,
}

/// Changes in a series of exact figures: wherever one differs from the one before it.
pub fn exact_changes(values: &[f64]) -> Vec<ChangePoint> {
    let change = |(at, pair): (usize, &[f64])| ChangePoint {
        at: at + 1,
        before: pair[0],
        after: pair[1],
        p: 0.0,
    };
    let pairs = values.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| pair[0] != pair[1])
        .map(change)
        .collect()
}

/// Changes of level in a series of figures that scatter, in order: Pettitt's test (A. N.
/// Pettitt, *A Non-Parametric Approach to the Change-Point Problem*, Applied Statistics 28,
/// 1979), on the whole series and then on both its sides, as long as a change has `p` at or
/// below `alpha`. `p` comes from 1,999 permutations, since the published formula is too
/// careful for short series; so no `alpha` below 0.0005 finds anything. It is that of one
/// test: of many series without any change, about a share `alpha` shows one.
///
/// A change within the last few figures of a series is seen only when more have followed:
/// with `alpha` of 0.01, not before the fifth behind ten others, the sixth behind thirty.
///
/// Figures must be finite: NaN equals no figure.
pub fn change_points(values: &[f64], alpha: f64) -> Vec<ChangePoint> {
    let mut found: Vec<(usize, f64)> = Vec::new();
    let whole = 0..values.len();
    let mut parts = vec![whole];
    while let Some(part) = parts.pop() {
        let Some(best) = clearest(&values[part.clone()], alpha) else {
            continue;
        };
        let at = part.start + best.0;
        found.push((at, best.1));
        parts.extend([part.start..at, at..part.end]);
    }
    found.sort_by_key(|(at, _)| *at);
    let starts: Vec<usize> = std::iter::once(0)
        .chain(found.iter().map(|(at, _)| *at))
        .chain([values.len()])
        .collect();
    let level = |part: usize| {
        let mut part = values[starts[part]..starts[part + 1]].to_vec();
        part.sort_by(f64::total_cmp);
        median_of_sorted(&part)
    };
    let changes = found.iter().enumerate();
    changes
        .map(|(position, &(at, p))| ChangePoint {
            at,
            before: level(position),
            after: level(position + 1),
            p,
        })
        .collect()
}

/// The most probable change and its `p`, if that is at most `alpha`.
fn clearest(values: &[f64], alpha: f64) -> Option<(usize, f64)> {
    if values.len() < LENGTH_MIN {
        return None;
    }
    let mut ranks = centred_ranks(values);
    let (at, height) = highest(&ranks);
    if height == 0 {
        return None;
    }
    let mut chance = SplitMix64::new(values.len() as u64);
    // The series as it is counts as one of the permutations, so that p is above 0.
    let mut as_clear = 1;
    let bound = (alpha * (PERMUTATIONS + 1) as f64).floor();
    for _ in 0..PERMUTATIONS {
        if f64::from(as_clear) > bound {
            return None;
        }
        for last in (1..ranks.len()).rev() {
            ranks.swap(last, chance.below(last + 1));
        }
        as_clear += u32::from(highest(&ranks).1 >= height);
    }
    let p = f64::from(as_clear) / (PERMUTATIONS + 1) as f64;
    (p <= alpha).then_some((at, p))
}

/// Twice each figure's rank among all, ties sharing theirs, less the mean of all: whole
/// numbers whose sum is 0.
fn centred_ranks(values: &[f64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut below = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let through = below + equal.len();
        for &at in equal {
            ranks[at] = (below + through) as i64 - values.len() as i64;
        }
        below = through;
    }
    ranks
}

/// Where the ranks before and behind differ most, and how much: Pettitt's K.
fn highest(ranks: &[i64]) -> (usize, i64) {
    let mut sum: i64 = 0;
    let mut best = (0, 0);
    for (before, rank) in ranks.iter().enumerate() {
        if sum.abs() > best.1 {
            best = (before, sum.abs());
        }
        sum += rank;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut chance = SplitMix64::new(seed);
        (0..n).map(|_| 100.0 + 10.0 * chance.unit()).collect()
    }

    #[test]
    fn exact_figures_change_where_they_differ() {
        let changes = exact_changes(&[5.0, 5.0, 6.0, 6.0, 5.0]);
        let seen: Vec<(usize, f64, f64)> = changes
            .iter()
            .map(|change| (change.at, change.before, change.after))
            .collect();
        assert_eq!(seen, [(2, 5.0, 6.0), (4, 6.0, 5.0)]);
        assert!(exact_changes(&[]).is_empty());
        assert!(exact_changes(&[7.0]).is_empty());
    }

    #[test]
    fn levels_are_found_in_order() {
        let mut values = noise(60, 1);
        for value in &mut values[20..40] {
            *value += 9.0;
        }
        for value in &mut values[40..] {
            *value -= 5.0;
        }
        let changes = change_points(&values, 0.01);
        let at: Vec<usize> = changes.iter().map(|change| change.at).collect();
        assert_eq!(at.len(), 2, "{changes:?}");
        assert!(at[0].abs_diff(20) <= 2 && at[1].abs_diff(40) <= 2, "{at:?}");
        assert!(changes.iter().all(|change| change.p <= 0.01));
        assert!(changes[0].after > changes[0].before + 5.0);
        assert_eq!(changes[0].after, changes[1].before);
    }

    #[test]
    fn the_fifth_behind_eight_is_the_first_that_shows() {
        let step = |behind: usize| {
            let mut values: Vec<f64> = (0..8).map(|at| f64::from(at % 3)).collect();
            values.extend((0..behind).map(|at| 10.0 + at as f64));
            change_points(&values, 0.01)
        };
        assert!(step(4).is_empty());
        let seen = step(5);
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].at, 8);
    }

    #[test]
    fn few_or_equal_figures_have_no_change() {
        assert!(change_points(&[], 0.05).is_empty());
        assert!(change_points(&[1.0, 2.0, 3.0], 0.05).is_empty());
        assert!(change_points(&[4.0; 50], 0.05).is_empty());
    }

    #[test]
    fn false_alarms_are_as_rare_as_stated() {
        let alarms = (0..1_000)
            .filter(|&seed| !change_points(&noise(30, seed), 0.01).is_empty())
            .count();
        // Binomial, n = 1000, p = 0.01: above 20 in about one of a thousand seeds; the
        // seeds are fixed.
        assert!((1..=20).contains(&alarms), "{alarms}");
    }

    proptest! {
        #[test]
        fn changes_are_inside_and_ordered(
            values in proptest::collection::vec(-1e9..1e9f64, 0..60),
            alpha in 0.0..1.0f64,
        ) {
            let changes = change_points(&values, alpha);
            let mut last = 0;
            for change in changes {
                prop_assert!(change.at > last && change.at < values.len());
                prop_assert!(change.p > 0.0 && change.p <= alpha);
                last = change.at;
            }
        }

        /// Only the order of figures counts, not their size.
        #[test]
        fn a_monotone_scale_moves_nothing(values in proptest::collection::vec(0..50u8, 0..40)) {
            let plain: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
            let scaled: Vec<f64> = plain.iter().map(|v| (v / 7.0).exp()).collect();
            let at = |values: &[f64]| -> Vec<usize> {
                change_points(values, 0.05).iter().map(|change| change.at).collect()
            };
            prop_assert_eq!(at(&plain), at(&scaled));
        }
    }
}
