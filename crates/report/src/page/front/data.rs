// SPDX-License-Identifier: GPL-2.0-or-later
//! The measurements of a map for the script that opens them: counts and hooks.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use counts::calltree::CallTree;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, PreEscaped, html};
use model::{Cell, Document, HookCost, PathTree};
use serde::Serialize;

use super::command::command;
use crate::cells::{Configuration, operation_title, reason};
use crate::glance::Glance;
use crate::text::short;
use crate::{format, hook_trace};

/// The number of operations whose hooks are included; the others have only figures.
pub(super) const HOOKS_LIMIT: usize = 400;

#[derive(Serialize)]
struct Data {
    place: String,
    metric: String,
    names: Vec<String>,
    columns: Vec<String>,
    baseline: usize,
    /// Commands by configuration, without the operation at their end.
    commands: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    title: String,
    cells: Vec<Option<Figures>>,
}

#[derive(Serialize, Default)]
struct Figures {
    #[serde(skip_serializing_if = "String::is_empty")]
    figure: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    overhead: String,
    /// Instructions and number of measured regions of each path; the most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<Hook>,
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
}

/// Hook, calls, instructions; per implementation: module, function, instructions.
type Hook = (usize, u64, u64, Vec<(usize, usize, u64)>);

#[derive(Default)]
pub(super) struct Names {
    pub(super) all: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    pub(super) fn place(&mut self, name: &str) -> usize {
        *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.all.push(short(name));
            self.all.len() - 1
        })
    }
}

pub(super) fn data(run: &Document, glance: &Glance<'_, '_>, id: &str) -> Markup {
    let group = glance.group;
    let mut names = Names::default();
    let has_room = group.rows.len() <= HOOKS_LIMIT;
    let rows = group.rows.iter().map(|row| Row {
        title: operation_title(*row),
        cells: (group.configurations.iter())
            .map(|configuration| {
                let overhead = glance.overhead(*row, configuration);
                let overhead = overhead.map(|overhead| match overhead.is_shown {
                    true => format::overhead(group.metric, overhead.value),
                    false => "~".to_owned(),
                });
                Some(Figures {
                    overhead: overhead.unwrap_or_default(),
                    ..figures(group.cell(*row, configuration)?, &mut names, has_room)
                })
            })
            .collect(),
    });
    let rows = rows.collect();
    let baseline = |configuration: &Configuration| Some(configuration) == group.baseline.as_ref();
    let data = Data {
        place: short(&group.subject) + ", " + &short(group.filesystem),
        metric: group.metric.to_string(),
        columns: (group.configurations.iter())
            .map(|configuration| short(&group.heading(configuration)))
            .collect(),
        baseline: group.configurations.iter().position(baseline).unwrap_or(0),
        commands: (group.configurations.iter())
            .map(|configuration| command(run, group, configuration))
            .collect(),
        rows,
        names: names.all,
    };
    let json = serde_json::to_string(&data).expect("no map has keys but text");
    html! { pre hidden data-cells=(id) { (PreEscaped(harmless(&json))) } }
}

fn figures(cell: &Cell, names: &mut Names, has_room: bool) -> Figures {
    let Some(figure) = format::headline(cell) else {
        return Figures {
            why: reason(cell),
            ..Figures::default()
        };
    };
    let hooks = cell.hooks().filter(|_| has_room && cell.is_exact());
    let paths = { cell.paths().into_iter() }
        .flat_map(|paths| [&paths.dominant].into_iter().chain(&paths.others));
    Figures {
        figure,
        value: cell.headline().filter(|value| value.is_finite()),
        paths: paths
            .map(|path| [path.instructions, path.regions])
            .collect(),
        regions: cell.paths().map(|paths| paths.regions),
        hooks: { hooks.unwrap_or(&[]).iter() }
            .map(|cost| hook(cost, names))
            .collect(),
        ..Figures::default()
    }
}

fn hook(cost: &HookCost, names: &mut Names) -> Hook {
    let own = cost.implementations.iter();
    let mut place = |name: &str| names.place(name);
    let own = own.map(|own| (place(&own.module), place(&own.function), own.inclusive));
    let own = own.collect();
    (place(&cost.hook), cost.calls, cost.outermost, own)
}

/// Escapes `<`, `>` and `&`, which JSON contains only in strings, as `\u` numbers.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[derive(Serialize)]
struct Packed {
    names: Vec<String>,
    /// Function to its hook, or to the module that implements it.
    hooks: BTreeMap<usize, usize>,
    modules: BTreeMap<usize, usize>,
    trees: Vec<Vec<Option<Tree>>>,
}

/// Columns with one entry per node, which are smaller than rows when packed.
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
        let cells = cells.map(|configuration| tree(group.cell(row, configuration)?));
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
