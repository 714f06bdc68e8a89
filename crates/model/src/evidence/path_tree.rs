// SPDX-License-Identifier: GPL-2.0-or-later
//! The calls on one code path, as stored in result files.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::printable;

/// The calls on a path as a tree: every distinct chain of callers has its own node. If an operation
/// consists of many measured regions, the tree contains the calls in all regions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathTree {
    /// Names of functions, without duplicates.
    pub functions: Vec<String>,
    /// Callers before callees. The first is the operation itself, which calls the kernel's entry
    /// points. It is its own caller, and is not a function.
    pub nodes: Vec<PathCall>,
    /// Calls of hooks in order, as positions in `nodes`; at most the first 4096. If an operation
    /// consists of many measured regions, only the calls in one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<u32>,
}

/// A function under one chain of callers: `[caller, function, calls, instructions]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "(u32, u32, u64, u64)", into = "(u32, u32, u64, u64)")]
#[schemars(with = "(u32, u32, u64, u64)")]
pub struct PathCall {
    /// Its caller: a smaller position in `nodes`.
    pub caller: u32,
    /// Its name: a position in `functions`; meaningless for the operation itself.
    pub function: u32,
    /// Number of calls by that caller, per operation.
    pub calls: u64,
    /// Its own instructions per operation, without its callees; a REP instruction counts once.
    pub instructions: u64,
}

impl From<(u32, u32, u64, u64)> for PathCall {
    fn from((caller, function, calls, instructions): (u32, u32, u64, u64)) -> PathCall {
        PathCall {
            caller,
            function,
            calls,
            instructions,
        }
    }
}

impl From<PathCall> for (u32, u32, u64, u64) {
    fn from(call: PathCall) -> (u32, u32, u64, u64) {
        (call.caller, call.function, call.calls, call.instructions)
    }
}

impl PathTree {
    /// Larger trees are dropped.
    pub const NODES_LIMIT: usize = 1 << 13;
    pub const HOOKS_LIMIT: usize = 1 << 12;

    /// Empty for the operation itself.
    pub fn function(&self, node: &PathCall) -> &str {
        let name = self.functions.get(node.function as usize);
        name.map_or("", String::as_str)
    }

    /// In a tree of transfers: their number by word, such as `[dentry.d_lockref]`, and by the
    /// function that causes them. What it calls to lock, link or copy is left out.
    pub fn words(&self) -> BTreeMap<(&str, &str), u64> {
        const HELPERS: [&str; 11] = [
            "_raw_", "__list_", "__memcpy", "__memset", "__mutex_", "down_", "lockref_", "memcpy",
            "memset", "mutex_", "up_",
        ];
        let caller = |node: &PathCall| self.nodes.get(node.caller as usize);
        let mut words: BTreeMap<_, u64> = BTreeMap::new();
        for node in self.nodes.iter().filter(|node| node.instructions > 0) {
            let callers = std::iter::successors(caller(node), |node| caller(node));
            let mut names = callers
                .map(|caller| self.function(caller))
                .take(HELPERS.len());
            let is_helper = |name: &&str| HELPERS.iter().any(|begin| name.starts_with(begin));
            let function = names.find(|name| !is_helper(name)).unwrap_or("");
            let sum = words.entry((self.function(node), function)).or_default();
            *sum = sum.saturating_add(node.instructions);
        }
        words
    }

    /// `total`: instructions of the path.
    pub(super) fn contradiction(&self, total: u64) -> Option<String> {
        if self.nodes.len() > PathTree::NODES_LIMIT || self.hooks.len() > PathTree::HOOKS_LIMIT {
            return Some("its call tree is too large".to_owned());
        }
        if self.nodes.first().is_none_or(|root| root.caller != 0) {
            return Some("its call tree has no root".to_owned());
        }
        let is_known = |at: u32| self.functions.get(at as usize).is_some();
        for (at, node) in self.nodes.iter().enumerate().skip(1) {
            if node.caller as usize >= at || !is_known(node.function) {
                let name = printable(self.function(node));
                return Some(format!("call {at} ({name}) of its tree has no caller"));
            }
        }
        let none = |at: &&u32| **at as usize >= self.nodes.len();
        if let Some(hook) = self.hooks.iter().find(none) {
            return Some(format!("hook {hook} is not in its call tree"));
        }
        let sum: u128 = { self.nodes.iter() }
            .map(|node| u128::from(node.instructions))
            .sum();
        (sum != u128::from(total))
            .then(|| format!("a path has {total} instructions, but its calls have {sum}"))
    }
}
