// SPDX-License-Identifier: GPL-2.0-or-later
//! Measurements as trees: the operation, its hooks and the rest, and in hooks the modules'
//! functions, each next to the baseline.

use std::collections::HashMap;

use compare::judge::Judgements;
use model::{Cell, Document, HookCost, PathTree, Pattern};

use crate::cells::{Configuration, Group, Operation, groups, operation_title};
use crate::column::Columns;
use crate::format;
use crate::glance::Glance;
use crate::table::{Table, Value};
use crate::text::short;

const CELLS_LIMIT: usize = 6;

struct Line {
    name: String,
    calls: Option<u64>,
    instructions: u64,
    adds: i128,
}

/// A tree per measurement of a run with hooks, for at most 6 measurements with baselines, of
/// operations with a dominant path.
pub fn tree_tables(run: &Document) -> Vec<Table> {
    let judgements = Judgements::new(run);
    let groups = groups(run);
    let mut tables = Vec::new();
    for group in &groups {
        let glance = Glance {
            group,
            judgements: &judgements,
        };
        for row in &group.rows {
            let tested = group.tested();
            tables.extend(
                tested.filter_map(|configuration| tree(run, group, &glance, *row, configuration)),
            );
        }
    }
    if tables.len() > CELLS_LIMIT {
        Vec::new()
    } else {
        tables
    }
}

fn tree<'a>(
    run: &Document,
    group: &Group<'a>,
    glance: &Glance<'a, '_>,
    row: Operation<'a>,
    configuration: &Configuration,
) -> Option<Table> {
    let (base, cell) = glance.pair(row, configuration)?;
    if !(base.is_exact() && cell.is_exact()) {
        return None;
    }
    let hooked = |cell: &'a model::Cell| cell.counted()?.hooked.as_ref();
    let (without, with) = (hooked(base)?, hooked(cell)?);
    let (mut lines, mut depths) = (Vec::new(), Vec::new());
    let mut add = |depth, name: String, calls: Option<u64>, instructions: u64, before: u64| {
        let adds = i128::from(instructions) - i128::from(before);
        lines.push(Line {
            name,
            calls,
            instructions,
            adds,
        });
        depths.push(depth);
    };
    let outside = |path: &model::HookedPath| path.total.saturating_sub(path.hooked);
    add(0, operation_title(row), None, with.total, without.total);
    add(
        1,
        "outside hooks".to_owned(),
        None,
        outside(with),
        outside(without),
    );
    let before = |hook: &HookCost| without.hooks.iter().find(|cost| cost.hook == hook.hook);
    let outermost = |hook| before(hook).map_or(0, |cost| cost.outermost);
    let mut hooks: Vec<&HookCost> = with.hooks.iter().collect();
    hooks.sort_by_key(|hook| {
        let adds = i128::from(hook.outermost) - i128::from(outermost(hook));
        (std::cmp::Reverse(adds), &hook.hook)
    });
    for hook in hooks {
        add(
            1,
            short(&hook.hook),
            Some(hook.calls),
            hook.outermost,
            outermost(hook),
        );
        for own in &hook.implementations {
            let known = before(hook)
                .into_iter()
                .flat_map(|cost| &cost.implementations);
            let known = known.filter(|implementation| implementation.function == own.function);
            let known: u64 = known.map(|implementation| implementation.inclusive).sum();
            let name = format!("{} ({})", short(&own.function), short(&own.module));
            add(2, name, Some(own.calls), own.inclusive, known);
        }
    }
    for (line, branch) in lines.iter_mut().zip(branches(&depths)) {
        line.name = branch + &line.name;
    }
    let (name, stack) = (operation_title(row), short(&group.heading(configuration)));
    let title = format!("{name} under {stack}: {}", group.place(run));
    let table = Columns::new()
        .left("where", |line: &Line| Value::plain(&line.name))
        .column("calls", |line| line.calls)
        .column("instructions", |line| line.instructions)
        .right("adds", |line| Value::difference(line.adds))
        .table(title, &lines)
        .legend([
            "adds: over the baseline. Instructions of calls from inside another hook are \
             in the outer hook; a module's function is listed where it ran.",
        ]);
    Some(table)
}

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
        let mut text: String = open
            .iter()
            .map(|open| if *open { "│  " } else { "   " })
            .collect();
        let last = is_last(at, *depth);
        text += if last { "└─ " } else { "├─ " };
        open.push(!last);
        text
    };
    depths.iter().enumerate().map(branch).collect()
}

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

struct CallLine {
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
                Some(calls_table(title, &name, trees))
            }));
        }
    }
    tables
}

fn kept<'a>((base, cell): (&'a Cell, &'a Cell)) -> Option<[&'a PathTree; 2]> {
    let tree = |cell: &'a Cell| cell.counted()?.tree.as_ref().filter(|_| cell.is_exact());
    Some([tree(base)?, tree(cell)?])
}

fn calls_table(title: String, operation: &str, trees: [&PathTree; 2]) -> Table {
    let nodes = merged(trees);
    let (mut lines, mut depths) = (Vec::new(), Vec::new());
    push_calls(&nodes, 0, 0, &mut lines, &mut depths);
    operation.clone_into(&mut lines[0].name);
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
        .column("instructions", |line| line.instructions)
        .column("its own", |line| line.own)
        .right("adds", |line| Value::difference(line.adds))
        .table(title, &lines)
        .legend([
            "instructions: with everything that it calls; adds: over the same chain of calls in the \
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

fn push_calls(
    nodes: &[Node<'_>],
    at: usize,
    depth: usize,
    lines: &mut Vec<CallLine>,
    depths: &mut Vec<usize>,
) {
    let node = &nodes[at];
    lines.push(CallLine {
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
    let is_small = |node: &Node<'_>| {
        node.adds() == 0 && node.own == [node.own[1]; 2] && (node.inclusive[1] as f64) < least
    };
    let (small, large): (Vec<usize>, Vec<usize>) =
        { node.called.iter() }.partition(|one| is_small(&nodes[**one]));
    for one in large {
        push_calls(nodes, one, depth + 1, lines, depths);
    }
    match small[..] {
        [] => {}
        [one] => push_calls(nodes, one, depth + 1, lines, depths),
        _ => {
            lines.push(CallLine {
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
