// SPDX-License-Identifier: GPL-2.0-or-later
//! Grouping in document order.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Keys are in the order of their first item.
pub(crate) fn grouped<'a, T, K: Eq + Hash + Clone>(
    items: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&'a T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut positions = HashMap::new();
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for item in items {
        let key = key(item);
        let at = *positions.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(item);
    }
    groups
}

pub(crate) fn distinct<T: Eq + Hash + Copy>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    let items = items.into_iter();
    items.filter(|item| seen.insert(*item)).collect()
}

pub(crate) fn shared<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Option<T> {
    let mut items = items.into_iter();
    let first = items.next()?;
    items.all(|other| other == first).then_some(first)
}

pub(crate) fn most_expensive_first<K: Ord>(costs: impl IntoIterator<Item = (K, u64)>) -> Vec<K> {
    let costs = costs.into_iter();
    let mut names: Vec<_> = costs.map(|(name, cost)| (Reverse(cost), name)).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name).collect()
}

/// The sum saturates, because result files may be malicious.
pub(crate) fn sum(figures: impl IntoIterator<Item = u64>) -> u64 {
    figures.into_iter().fold(0, u64::saturating_add)
}
