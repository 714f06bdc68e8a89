// SPDX-License-Identifier: GPL-2.0-or-later
//! Instructions outside hooks.

use std::collections::BTreeMap;

use model::FunctionDifference;

use super::places::{Place, places};
use super::{Framework, base_name};
use crate::calltree::CallTree;

/// By function, without compiler suffixes; the root's own have an empty name.
///
/// Together with [`outermost_sum`](super::outermost_sum) they are the tree's total.
#[must_use]
pub fn outside(tree: &CallTree, framework: &Framework) -> BTreeMap<String, u64> {
    let mut functions: BTreeMap<&str, u64> = BTreeMap::new();
    for (place, node) in places(tree, framework).iter().zip(tree.nodes()) {
        if *place == Place::Outside && node.instructions > 0 {
            *functions.entry(base_name(&node.function)).or_default() += node.instructions;
        }
    }
    functions
        .into_iter()
        .map(|(function, instructions)| (function.to_owned(), instructions))
        .collect()
}

/// Functions whose [`outside`] instructions differ between `a` and `b`, largest difference first,
/// then by name. Their sum is the residual: the total difference less that in hooks.
#[must_use]
pub fn differences(
    a: &BTreeMap<String, u64>,
    b: &BTreeMap<String, u64>,
) -> Vec<FunctionDifference> {
    let functions = a
        .keys()
        .chain(b.keys().filter(|name| !a.contains_key(*name)));
    let mut differences: Vec<FunctionDifference> = functions
        .filter_map(|function| {
            let of = |side: &BTreeMap<String, u64>| side.get(function).copied().unwrap_or(0);
            // Two's complement: right for every signed difference.
            let difference = of(b).wrapping_sub(of(a)).cast_signed();
            (difference != 0).then(|| FunctionDifference {
                function: function.clone(),
                difference,
                explanation: None,
            })
        })
        .collect();
    differences.sort_by(|x, y| {
        let size = |d: &FunctionDifference| std::cmp::Reverse(d.difference.unsigned_abs());
        (size(x), &x.function).cmp(&(size(y), &y.function))
    });
    differences
}
