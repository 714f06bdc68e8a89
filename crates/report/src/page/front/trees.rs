// SPDX-License-Identifier: GPL-2.0-or-later
//! The calls of a map's cells, packed: the script that opens a cell unpacks them.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use counts::calltree::CallTree;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, html};
use model::{Cell, HookCost, PathTree};
use serde::Serialize;

use super::data::{HOOKS_LIMIT, Names};
use crate::glance::Glance;
use crate::hook_trace;

#[derive(Serialize)]
struct Packed {
    /// Functions, hooks and modules; referred to by index.
    names: Vec<String>,
    /// Function to its hook, or to the module that implements it.
    hooks: BTreeMap<usize, usize>,
    modules: BTreeMap<usize, usize>,
    trees: Vec<Vec<Option<Tree>>>,
}

/// Columns with one entry per node: smaller than rows when packed.
#[derive(Serialize)]
struct Tree {
    /// Distance back to each node's caller.
    callers: Vec<usize>,
    functions: Vec<usize>,
    calls: Vec<u64>,
    instructions: Vec<u64>,
    /// Hook calls in order; truncated for very long paths.
    order: Vec<Call>,
}

/// Equal hook calls in a row: hook, number, enclosing hooks, callers.
type Call = (usize, usize, usize, Vec<usize>);

pub(super) fn trees(glance: &Glance<'_, '_>, id: &str) -> Option<Markup> {
    let group = glance.group;
    if group.rows.len() > HOOKS_LIMIT {
        return None;
    }
    let mut names = Names::default();
    let (mut hooks, mut modules) = (BTreeMap::new(), BTreeMap::new());
    let mut found = false;
    let mut tree = |cell: &Cell| {
        let kept = cell.counted()?.tree.as_ref().filter(|_| cell.is_exact())?;
        let costs = cell.hooks().unwrap_or_default();
        for cost in costs {
            hooks.insert(names.place(&cost.function), names.place(&cost.hook));
            for own in &cost.implementations {
                modules.insert(names.place(&own.function), names.place(&own.module));
            }
        }
        found = true;
        Some(packed(kept, costs, &mut names))
    };
    let row = |row| {
        let cells = group.configurations.iter();
        let cells = cells.map(|of| tree(group.cell(row, of)?));
        cells.collect()
    };
    let trees = group.rows.iter().copied().map(row).collect();
    if !found {
        return None;
    }
    let all = Packed {
        names: names.all,
        hooks,
        modules,
        trees,
    };
    let json = serde_json::to_vec(&all).expect("the keys are numbers and text");
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&json).expect("memory takes all");
    let bytes = packer.finish().expect("memory takes all");
    Some(html! { pre hidden data-trees=(id) { (STANDARD.encode(bytes)) } })
}

fn packed(kept: &PathTree, costs: &[HookCost], names: &mut Names) -> Tree {
    let hook_of: HashMap<&str, &str> = { costs.iter() }
        .map(|cost| (&cost.function[..], &cost.hook[..]))
        .collect();
    let hook_of = |function: &str| hook_of.get(function).map(|hook| (*hook).to_owned());
    let order = hook_trace::calls(&CallTree::from(kept), &hook_of);
    let order = order.into_iter().map(|call| {
        let chain = call.chain.iter().map(|name| names.place(name)).collect();
        (names.place(&call.hook), call.times, call.depth, chain)
    });
    Tree {
        order: order.collect(),
        callers: { kept.nodes.iter().enumerate() }
            .map(|(at, node)| at.saturating_sub(node.caller as usize))
            .collect(),
        functions: { kept.nodes.iter() }
            .map(|node| names.place(kept.function(node)))
            .collect(),
        calls: kept.nodes.iter().map(|node| node.calls).collect(),
        instructions: kept.nodes.iter().map(|node| node.instructions).collect(),
    }
}
