// SPDX-License-Identifier: GPL-2.0-or-later
//! Instructions outside hooks that are due to additional system calls.

use std::collections::BTreeMap;

use model::FunctionDifference;

use super::places::{Place, places};
use super::{Framework, base_name};
use crate::calltree::CallTree;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedCall {
    pub calls: u64,
    /// By function, without compiler suffixes: calls and own instructions outside hooks.
    pub functions: BTreeMap<String, (u64, u64)>,
}

impl AskedCall {
    #[must_use]
    pub fn new(calls: u64, tree: &CallTree, framework: &Framework) -> AskedCall {
        let mut functions: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (place, node) in places(tree, framework).iter().zip(tree.nodes()) {
            if *place == Place::Outside && node.instructions > 0 {
                let (calls, instructions) = functions.entry(base_name(&node.function)).or_default();
                *calls = calls.saturating_add(node.calls);
                *instructions = instructions.saturating_add(node.instructions);
            }
        }
        let owned = functions
            .into_iter()
            .map(|(name, counts)| (name.to_owned(), counts));
        AskedCall {
            calls,
            functions: owned.collect(),
        }
    }
}

/// Explains differences in functions by system calls that `own` makes more or less often than
/// `base`. Each additional call explains the average cost of a call in `base` (or in `own`, if
/// `base` makes none), up to the difference in that system call. Explained parts are removed from
/// `differences` and returned.
pub fn explain_asked(
    differences: &mut Vec<FunctionDifference>,
    base: &BTreeMap<String, AskedCall>,
    own: &BTreeMap<String, AskedCall>,
) -> Vec<FunctionDifference> {
    let none = AskedCall::default();
    let mut parts: BTreeMap<&str, i64> = BTreeMap::new();
    let mut asked = Vec::new();
    for name in names(base, own) {
        let base = base.get(name).unwrap_or(&none);
        let own = own.get(name).unwrap_or(&none);
        if base.calls == own.calls {
            continue;
        }
        let more = i128::from(own.calls) - i128::from(base.calls);
        asked.push(format!("{name} {more:+}"));
        for function in names(&base.functions, &own.functions) {
            let counts =
                |call: &AskedCall| call.functions.get(function).copied().unwrap_or_default();
            let sum = parts.entry(function).or_default();
            *sum = sum.saturating_add(part_of_calls(counts(base), counts(own)));
        }
    }
    let why = format!("the program makes other system calls: {}", asked.join(", "));
    let mut rows = Vec::new();
    for difference in differences.iter_mut() {
        let part = parts.get(&*difference.function).copied().unwrap_or(0);
        if part != 0 {
            difference.difference = difference.difference.wrapping_sub(part);
            rows.push(FunctionDifference {
                function: difference.function.clone(),
                difference: part,
                explanation: Some(why.clone()),
            });
        }
    }
    differences.retain(|difference| difference.difference != 0);
    rows
}

pub(super) fn names<'a, V>(
    a: &'a BTreeMap<String, V>,
    b: &'a BTreeMap<String, V>,
) -> impl Iterator<Item = &'a str> {
    let only_b = b.keys().filter(|name| !a.contains_key(*name));
    a.keys().chain(only_b).map(String::as_str)
}

/// Instructions of surplus calls; each side is (calls, instructions).
fn part_of_calls(base: (u64, u64), own: (u64, u64)) -> i64 {
    let more = i128::from(own.0) - i128::from(base.0);
    let difference = i128::from(own.1) - i128::from(base.1);
    let (calls, instructions) = if base.0 > 0 { base } else { own };
    if calls == 0 {
        return 0;
    }
    // Each factor is below 2^64, and so the product within 128 bits.
    let part = more * i128::from(instructions) / i128::from(calls);
    let part = if difference < 0 {
        part.clamp(difference, 0)
    } else {
        part.clamp(0, difference)
    };
    i64::try_from(part).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(calls: u64, functions: &[(&str, u64, u64)]) -> AskedCall {
        let functions = functions
            .iter()
            .map(|(name, calls, instructions)| ((*name).to_owned(), (*calls, *instructions)));
        AskedCall {
            calls,
            functions: functions.collect(),
        }
    }

    fn asked(calls: &[(&str, AskedCall)]) -> BTreeMap<String, AskedCall> {
        let named = calls
            .iter()
            .map(|(name, call)| ((*name).to_owned(), call.clone()));
        named.collect()
    }

    fn explained(
        differences: &[(&str, i64)],
        base: &[(&str, AskedCall)],
        own: &[(&str, AskedCall)],
    ) -> Vec<(String, i64, bool)> {
        let mut rows: Vec<FunctionDifference> = differences
            .iter()
            .map(|(function, difference)| FunctionDifference {
                function: (*function).to_owned(),
                difference: *difference,
                explanation: None,
            })
            .collect();
        let taken = explain_asked(&mut rows, &asked(base), &asked(own));
        rows.extend(taken);
        let summary = |row: FunctionDifference| {
            let why = row.explanation.as_deref();
            let is_explained = why == Some("the program makes other system calls: read +2");
            (row.function, row.difference, is_explained)
        };
        rows.into_iter().map(summary).collect()
    }

    #[test]
    fn more_calls_take_what_calls_take_and_no_more_than_there_is() {
        let base = [("read", call(10, &[("vfs_read", 10, 1000)]))];
        let (vfs, seq) = ("vfs_read", "seq_read");
        for (own, differences, expected) in [
            (
                call(12, &[(vfs, 12, 1230), (seq, 2, 70)]),
                &[(vfs, 230), (seq, 70)][..],
                &[(vfs, 30, false), (vfs, 200, true), (seq, 70, true)][..],
            ),
            // The same number of calls explains nothing.
            (
                call(10, &[(vfs, 12, 1200)]),
                &[(vfs, 200)],
                &[(vfs, 200, false)],
            ),
            (
                call(12, &[(vfs, 12, 1100)]),
                &[(vfs, 100)],
                &[(vfs, 100, true)],
            ),
            (
                call(12, &[(vfs, 12, 900)]),
                &[(vfs, -100)],
                &[(vfs, -100, false)],
            ),
        ] {
            let found = explained(differences, &base, &[("read", own)]);
            let found = found.iter().map(|(name, n, known)| (&name[..], *n, *known));
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}
