// SPDX-License-Identifier: GPL-2.0-or-later
//! The instructions of an operation that are not a hook's.

use std::collections::BTreeMap;

use model::FunctionDifference;

use super::places::{Place, places};
use super::{Framework, base_name};
use crate::calltree::CallTree;

/// A tree's instructions outside hooks, by function, without compiler suffixes: a
/// function and its `.cold` part are one. The root's own are under the empty name.
///
/// With [`outermost_sum`](super::outermost_sum) they are all of the tree's.
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

/// The functions in which `b` has other [`outside`] instructions than `a`, the largest
/// difference first, equal ones by name. They sum up to the residual: the difference of
/// all instructions less that of those in hooks.
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
            // Two's complement: right for all that a signed difference can hold.
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
