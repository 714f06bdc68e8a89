// SPDX-License-Identifier: GPL-2.0-or-later
//! Cells as trees: the operation, its hooks and what is outside them, and in hooks the modules'
//! functions, each next to the baseline.

use compare::judge::Judgements;
use model::{Document, HookCost};

use crate::cells::{Configuration, Group, Operation, groups, operation_title};
use crate::column::Columns;
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

/// A tree per cell of a run with hooks, for at most 6 cells with baselines, of operations with a
/// dominant path.
pub fn tree_tables(run: &Document) -> Vec<Table> {
    let judgements = Judgements::of(run);
    let groups = groups(run);
    let mut tables = Vec::new();
    for group in &groups {
        let glance = Glance {
            group,
            judgements: &judgements,
        };
        for row in &group.rows {
            let tested = group.tested();
            tables.extend(tested.filter_map(|of| tree(run, group, &glance, *row, of)));
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
    let before = |hook: &HookCost| without.hooks.iter().find(|of| of.hook == hook.hook);
    let outermost = |hook| before(hook).map_or(0, |of| of.outermost);
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
            let known = before(hook).into_iter().flat_map(|of| &of.implementations);
            let known = known.filter(|of| of.function == own.function);
            let known: u64 = known.map(|of| of.inclusive).sum();
            let name = format!("{} ({})", short(&own.function), short(&own.module));
            add(2, name, Some(own.calls), own.inclusive, known);
        }
    }
    for (line, branch) in lines.iter_mut().zip(branches(&depths)) {
        line.name = branch + &line.name;
    }
    let title = format!(
        "{} under {}: {}",
        operation_title(row),
        short(&group.heading(configuration)),
        group.place(run)
    );
    let table = Columns::new()
        .left("where", |line: &Line| Value::plain(&line.name))
        .column("calls", |line| line.calls)
        .column("instructions", |line| line.instructions)
        .right("adds", |line| Value::difference(line.adds))
        .table(title, &lines)
        .legend([
            "adds: more than in the baseline. Instructions of calls from inside another hook are \
             those of the outer hook; a module's function is told where it ran.",
        ]);
    Some(table)
}

pub(crate) fn branches(depths: &[usize]) -> Vec<String> {
    let is_last = |at: usize, depth: usize| {
        let below = depths[at + 1..].iter().find(|of| **of <= depth);
        below.is_none_or(|of| *of < depth)
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
