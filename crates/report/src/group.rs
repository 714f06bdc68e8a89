// SPDX-License-Identifier: GPL-2.0-or-later
//! What belongs together, in the document's order.

use std::collections::HashMap;
use std::hash::Hash;

/// Items with the same key, in the order in which each key first comes.
pub(crate) fn grouped<'a, T, K: Eq + Hash + Copy>(
    items: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&'a T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut positions = HashMap::new();
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for item in items {
        let key = key(item);
        let at = *positions.entry(key).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(item);
    }
    groups
}
