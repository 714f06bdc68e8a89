// SPDX-License-Identifier: GPL-2.0-or-later
//! The most frequent of counted observations.

use std::collections::BTreeMap;

/// The most frequent key, and how frequent it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mode<K> {
    /// The key.
    pub key: K,
    /// Observations of this key.
    pub count: u64,
    /// Observations of all keys together.
    pub total: u64,
}

impl<K> Mode<K> {
    /// Part of all observations that this key has, in `(0, 1]`.
    pub fn share(&self) -> f64 {
        self.count as f64 / self.total as f64
    }
}

/// The key with the highest count; a key may come several times. Of keys that are
/// equally frequent the smallest wins, so that the result does not depend on the
/// order of the input. None when nothing was observed. Counts saturate.
pub fn mode<K: Ord>(counts: impl IntoIterator<Item = (K, u64)>) -> Option<Mode<K>> {
    let mut sums: BTreeMap<K, u64> = BTreeMap::new();
    let mut total = 0u64;
    for (key, count) in counts {
        total = total.saturating_add(count);
        let sum = sums.entry(key).or_default();
        *sum = sum.saturating_add(count);
    }
    let mut best: Option<(K, u64)> = None;
    for (key, count) in sums {
        if count > best.as_ref().map_or(0, |(_, most)| *most) {
            best = Some((key, count));
        }
    }
    best.map(|(key, count)| Mode { key, count, total })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges() {
        assert_eq!(mode(Vec::<(u32, u64)>::new()), None);
        assert_eq!(mode([(1, 0)]), None);
        assert_eq!(
            mode([(2, 5), (1, 5)]),
            Some(Mode {
                key: 1,
                count: 5,
                total: 10
            })
        );
        assert_eq!(
            mode([(2, 3), (1, 5), (2, 3)]),
            Some(Mode {
                key: 2,
                count: 6,
                total: 11
            })
        );
        assert_eq!(
            mode([(1, u64::MAX), (1, 1)]).map(|m| m.count),
            Some(u64::MAX)
        );
        assert_eq!(mode([('a', 3), ('b', 1)]).map(|m| m.share()), Some(0.75));
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_nothing_is_more_frequent(
            (pairs, shuffled) in proptest::collection::vec((0u8..9, 0u64..5), 0..30)
                .prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
        ) {
            let found = mode(pairs.iter().copied());
            prop_assert_eq!(&found, &mode(shuffled));
            if let Some(found) = found {
                for key in 0..9 {
                    let sum: u64 = pairs.iter().filter(|p| p.0 == key).map(|p| p.1).sum();
                    prop_assert!(sum <= found.count);
                    prop_assert!(sum < found.count || key >= found.key);
                }
            } else {
                prop_assert_eq!(pairs.iter().map(|p| p.1).sum::<u64>(), 0);
            }
        }
    }
}
