// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls of a cell as a tree next to the baseline's, by chains of callers.

use std::collections::HashMap;

use compare::judge::Judgements;
use model::{Cell, Document, PathTree, Pattern};

use crate::cells::{groups, operation_title};
use crate::column::Columns;
use crate::format;
use crate::glance::Glance;
use crate::table::{Table, Value};
use crate::text::short;
use crate::tree::branches;

/// Calls below this share of the operation, and no more expensive than in the baseline, are shown
/// together in one line.
const LEAST: f64 = 0.005;
/// Deeper calls are not shown: a kernel's own chains are about 30 deep.
const DEPTH_LIMIT: usize = 100;

#[derive(Default)]
struct Node<'a> {
    function: &'a str,
    called: Vec<usize>,
    calls: [u64; 2],
    own: [u64; 2],
    inclusive: [u64; 2],
}

impl Node<'_> {
    fn adds(&self) -> i128 {
        let [before, now] = self.inclusive.map(i128::from);
        now - before
    }
}

struct Line {
    name: String,
    calls: Option<[u64; 2]>,
    instructions: u64,
    own: Option<u64>,
    adds: i128,
}

/// A tree of calls for each cell of a `wanted` operation whose call tree and baseline's call tree
/// were kept: runs `--with-hooks`, operations with a dominant path.
pub fn call_tables(run: &Document, wanted: &Pattern) -> Vec<Table> {
    let judgements = Judgements::of(run);
    let groups = groups(run);
    let mut tables = Vec::new();
    for group in &groups {
        let glance = Glance {
            group,
            judgements: &judgements,
        };
        let rows = group.rows.iter().copied();
        for row in rows.filter(|(benchmark, variant)| wanted.matches(benchmark, variant)) {
            for of in group.tested() {
                let Some(trees) = glance.pair(row, of).and_then(kept) else {
                    continue;
                };
                let title = format!(
                    "Calls of {} under {}: {}",
                    operation_title(row),
                    short(&group.heading(of)),
                    group.place(run)
                );
                tables.push(table(title, &operation_title(row), trees));
            }
        }
    }
    tables
}

fn kept<'a>((base, cell): (&'a Cell, &'a Cell)) -> Option<[&'a PathTree; 2]> {
    let tree = |cell: &'a Cell| cell.counted()?.tree.as_ref().filter(|_| cell.is_exact());
    Some([tree(base)?, tree(cell)?])
}

fn table(title: String, operation: &str, trees: [&PathTree; 2]) -> Table {
    let nodes = merged(trees);
    let (mut lines, mut depths) = (Vec::new(), Vec::new());
    tell(&nodes, 0, 0, &mut lines, &mut depths);
    operation.clone_into(&mut lines[0].name);
    for (line, branch) in lines.iter_mut().zip(branches(&depths)) {
        line.name = branch + &line.name;
    }
    Columns::new()
        .left("calls of", |line: &Line| Value::plain(&line.name))
        .right("calls", |line| {
            line.calls.map(|[before, now]| {
                Value::plain(match before == now {
                    true => format::count(now),
                    false => format!("{} -> {}", format::count(before), format::count(now)),
                })
            })
        })
        .column("instructions", |line| line.instructions)
        .column("its own", |line| line.own)
        .right("adds", |line| Value::difference(line.adds))
        .table(title, &lines)
        .legend([
            "instructions: with all that it calls; adds: more than the same chain of calls in the \
             baseline. Calls that take less than 0.5 % of the operation and add nothing are one line.",
        ])
}

fn merged(trees: [&PathTree; 2]) -> Vec<Node<'_>> {
    let mut nodes = vec![Node::default()];
    let mut places: HashMap<(usize, &str), usize> = HashMap::new();
    for (side, tree) in trees.into_iter().enumerate() {
        let mut here = vec![0; tree.nodes.len()];
        for (at, call) in tree.nodes.iter().enumerate() {
            let (caller, function) = (here[call.caller as usize], tree.function(call));
            if at > 0 {
                here[at] = *places.entry((caller, function)).or_insert_with(|| {
                    nodes.push(Node {
                        function,
                        ..Node::default()
                    });
                    let place = nodes.len() - 1;
                    nodes[caller].called.push(place);
                    place
                });
            }
            let node = &mut nodes[here[at]];
            node.calls[side] = node.calls[side].saturating_add(call.calls);
            node.own[side] += call.instructions;
        }
    }
    for at in (0..nodes.len()).rev() {
        let below = { nodes[at].called.iter() }.map(|one| nodes[*one].inclusive);
        let own = nodes[at].own;
        nodes[at].inclusive = below.fold(own, |sum, below| [sum[0] + below[0], sum[1] + below[1]]);
    }
    nodes
}

fn tell(
    nodes: &[Node<'_>],
    at: usize,
    depth: usize,
    lines: &mut Vec<Line>,
    depths: &mut Vec<usize>,
) {
    let node = &nodes[at];
    lines.push(Line {
        name: short(node.function),
        calls: (at > 0).then_some(node.calls),
        instructions: node.inclusive[1],
        own: Some(node.own[1]),
        adds: node.adds(),
    });
    depths.push(depth);
    if depth == DEPTH_LIMIT {
        return;
    }
    let least = nodes[0].inclusive[1] as f64 * LEAST;
    let is_small = |of: &Node<'_>| {
        of.adds() == 0 && of.own == [of.own[1]; 2] && (of.inclusive[1] as f64) < least
    };
    let (small, told): (Vec<usize>, Vec<usize>) =
        { node.called.iter() }.partition(|one| is_small(&nodes[**one]));
    for one in told {
        tell(nodes, one, depth + 1, lines, depths);
    }
    match small[..] {
        [] => {}
        [one] => tell(nodes, one, depth + 1, lines, depths),
        _ => {
            lines.push(Line {
                name: format!("{} others", small.len()),
                calls: None,
                instructions: small.iter().map(|one| nodes[*one].inclusive[1]).sum(),
                own: None,
                adds: 0,
            });
            depths.push(depth + 1);
        }
    }
}
