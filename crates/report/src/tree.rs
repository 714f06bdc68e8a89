// SPDX-License-Identifier: GPL-2.0-or-later
//! All function calls of an operation as a tree, next to those of the baseline.

use std::collections::HashMap;

use compare::judge::Judgements;
use model::{Cell, Document, PathTree, Pattern};

use crate::cells::{groups, operation_title};
use crate::column::Columns;
use crate::format;
use crate::glance::Glance;
use crate::table::{Table, Value};
use crate::text::short;

pub(crate) fn branches(depths: &[usize]) -> Vec<String> {
    let is_last = |at: usize, depth: usize| {
        let below = depths[at + 1..].iter().find(|below| **below <= depth);
        below.is_none_or(|below| *below < depth)
    };
    let mut open: Vec<bool> = Vec::new();
    let branch = |(at, depth): (usize, &usize)| {
        open.truncate(depth.saturating_sub(1));
        if *depth == 0 {
            return String::new();
        }
        let bars = open.iter().map(|open| if *open { "│  " } else { "   " });
        let mut text: String = bars.collect();
        let last = is_last(at, *depth);
        text += if last { "└─ " } else { "├─ " };
        open.push(!last);
        text
    };
    depths.iter().enumerate().map(branch).collect()
}

/// Calls below this share of the operation that are not more expensive than in the baseline are
/// shown together in one line.
const LEAST: f64 = 0.005;
/// Deeper calls are not shown; a kernel's own call chains are about 30 deep.
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

struct CallLine {
    depth: usize,
    name: String,
    calls: Option<[u64; 2]>,
    instructions: u64,
    own: Option<u64>,
    adds: i128,
}

/// A tree of calls for each measurement of an operation that matches `pattern`, whose call tree and
/// baseline's call tree were kept: runs `--with-hooks`, operations with a dominant path.
pub fn call_tables(run: &Document, pattern: &Pattern) -> Vec<Table> {
    let judgements = Judgements::new(run);
    let groups = groups(run);
    let mut tables = Vec::new();
    for group in &groups {
        let glance = Glance {
            group,
            judgements: &judgements,
        };
        let rows = group.rows.iter().copied();
        for row in rows.filter(|(benchmark, variant)| pattern.matches(benchmark, variant)) {
            let name = operation_title(row);
            tables.extend(group.tested().filter_map(|configuration| {
                let trees = glance.pair(row, configuration).and_then(kept)?;
                let (stack, place) = (short(&group.heading(configuration)), group.place(run));
                let title = format!("Calls of {name} under {stack}: {place}");
                Some(calls_table(title, &name, group.metric.unit(), trees))
            }));
        }
    }
    tables
}

fn kept<'a>((base, cell): (&'a Cell, &'a Cell)) -> Option<[&'a PathTree; 2]> {
    let tree = |cell: &'a Cell| cell.counted()?.tree.as_ref().filter(|_| cell.is_exact());
    Some([tree(base)?, tree(cell)?])
}

fn calls_table(title: String, operation: &str, unit: &str, trees: [&PathTree; 2]) -> Table {
    let nodes = merged(trees);
    let mut lines = Vec::new();
    push_calls(&nodes, 0, 0, &mut lines);
    operation.clone_into(&mut lines[0].name);
    let depths: Vec<usize> = lines.iter().map(|line| line.depth).collect();
    for (line, branch) in lines.iter_mut().zip(branches(&depths)) {
        line.name = branch + &line.name;
    }
    Columns::new()
        .left("calls of", |line: &CallLine| Value::plain(&line.name))
        .right("calls", |line| {
            line.calls.map(|[before, now]| {
                Value::plain(match before == now {
                    true => format::count(now),
                    false => format!("{} -> {}", format::count(before), format::count(now)),
                })
            })
        })
        .column(unit, |line| line.instructions)
        .column("its own", |line| line.own)
        .right("adds", |line| Value::difference(line.adds))
        .table(title, &lines)
        .legend([format!(
            "{unit}: with everything that it calls; adds: over the same chain of calls in the \
             baseline. Calls that take less than 0.5 % of the operation and add nothing are one line."
        )])
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

fn push_calls(nodes: &[Node<'_>], at: usize, depth: usize, lines: &mut Vec<CallLine>) {
    let node = &nodes[at];
    lines.push(CallLine {
        depth,
        name: short(node.function),
        calls: (at > 0).then_some(node.calls),
        instructions: node.inclusive[1],
        own: Some(node.own[1]),
        adds: node.adds(),
    });
    if depth == DEPTH_LIMIT {
        return;
    }
    let least = nodes[0].inclusive[1] as f64 * LEAST;
    let is_small = |node: &Node<'_>| {
        node.adds() == 0 && node.own == [node.own[1]; 2] && (node.inclusive[1] as f64) < least
    };
    let (small, large): (Vec<usize>, Vec<usize>) =
        { node.called.iter() }.partition(|one| is_small(&nodes[**one]));
    for one in large {
        push_calls(nodes, one, depth + 1, lines);
    }
    match small[..] {
        [] => {}
        [one] => push_calls(nodes, one, depth + 1, lines),
        _ => lines.push(CallLine {
            depth: depth + 1,
            name: format!("{} others", small.len()),
            calls: None,
            instructions: small.iter().map(|one| nodes[*one].inclusive[1]).sum(),
            own: None,
            adds: 0,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_end_where_nothing_follows() {
        assert_eq!(
            branches(&[0, 1, 1, 2, 2, 1, 2]),
            ["", "├─ ", "├─ ", "│  ├─ ", "│  └─ ", "└─ ", "   └─ "]
        );
    }
}
