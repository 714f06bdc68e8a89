// SPDX-License-Identifier: GPL-2.0-or-later
//! Instructions outside hooks.

use std::collections::BTreeMap;

use model::FunctionDifference;

use super::asked::names;
use super::{AskedCall, Framework};
use crate::calltree::CallTree;

/// Instructions outside hooks by function, without compiler suffixes; the root's own instructions
/// have an empty name.
///
/// Together with [`outermost_sum`](super::outermost_sum) they are the tree's total.
#[must_use]
pub fn outside(tree: &CallTree, framework: &Framework) -> BTreeMap<String, u64> {
    let functions = AskedCall::new(0, tree, framework).functions.into_iter();
    functions
        .map(|(function, (_, own))| (function, own))
        .collect()
}

/// Functions whose [`outside`] instructions differ between `a` and `b`, largest difference first,
/// then by name. Their sum is the residual: the total difference minus the difference in hooks.
#[must_use]
pub fn differences(
    a: &BTreeMap<String, u64>,
    b: &BTreeMap<String, u64>,
) -> Vec<FunctionDifference> {
    let mut differences: Vec<FunctionDifference> = names(a, b)
        .filter_map(|function| {
            let instructions =
                |side: &BTreeMap<String, u64>| side.get(function).copied().unwrap_or(0);
            // Two's complement gives the correct result for signed differences.
            let difference = instructions(b).wrapping_sub(instructions(a)).cast_signed();
            (difference != 0).then(|| FunctionDifference {
                function: function.to_owned(),
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
