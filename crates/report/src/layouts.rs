// SPDX-License-Identifier: GPL-2.0-or-later
//! What stacks add over several layouts of one kernel, in nanoseconds.

use experiment::{Key, Metric, Status, layouts_base, path_depth};
use judge::Layouts;
use stats::Centre;

use crate::cells::{Configuration, Group, Operation, without_figure};
use crate::column::Columns;
use crate::format;
use crate::group::grouped;
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// Is it one layout of a kernel whose layouts are in a table of their own?
pub(crate) fn is_one_of(group: &Group<'_>, drawn: &[Layouts<'_>]) -> bool {
    let of_time = group.metric == Metric::Time && !group.of_kernels;
    of_time && drawn.iter().any(|of| is_of(group, of))
}

fn is_of(group: &Group<'_>, layouts: &Layouts<'_>) -> bool {
    layouts_base(&group.subject) == Some(layouts.kernel) && group.filesystem == layouts.filesystem
}

/// A table for each kernel of which there are enough layouts; `groups` are the run's.
pub(crate) fn layouts(drawn: &[Layouts<'_>], groups: &[Group<'_>]) -> Vec<Table> {
    let timed = |group: &&Group<'_>| group.metric == Metric::Time && !group.of_kernels;
    let tables = drawn.iter().flat_map(|layouts| {
        let mut groups = groups.iter().filter(timed);
        // Any of them: all have the same rows and columns.
        let group = groups.find(|group| is_of(group, layouts));
        group.map_or_else(Vec::new, |group| {
            let tables = [table(layouts, group), slopes(layouts, group)];
            tables.into_iter().flatten().collect()
        })
    });
    tables.collect()
}

fn table(layouts: &Layouts<'_>, group: &Group<'_>) -> Option<Table> {
    let baseline = group.baseline.as_ref()?;
    let key = |row, of: &Configuration| -> Option<&Key> { Some(&group.cell(row, of)?.key) };
    let added = |row, of: &Configuration| layouts.added(key(row, baseline)?, key(row, of)?);
    let mut columns = Columns::new()
        .left("benchmark", |(benchmark, variant): Operation<'_>| {
            experiment::cell_title(benchmark, variant)
        })
        .right(printable(&group.heading(baseline), TEXT_LIMIT), |row| {
            let figure = key(row, baseline).and_then(|key| layouts.figure(key));
            match (figure, group.cell(row, baseline)) {
                (Some(of), _) => Value::plain(format::figure(of.value)),
                (None, Some(cell)) if cell.status() != Status::Ok => without_figure(cell),
                (None, _) => Value::dash(),
            }
        });
    let tested = || group.configurations.iter().filter(|of| *of != baseline);
    for configuration in tested() {
        let title = printable(&group.heading(configuration), TEXT_LIMIT);
        columns = columns.right(title, move |row| added(row, configuration).map(value));
    }
    let title = format!(
        "{}, {}: nanoseconds that stacks add, over {} layouts",
        printable(layouts.kernel, TEXT_LIMIT),
        printable(layouts.filesystem, TEXT_LIMIT),
        layouts.count()
    );
    let resolved = tested().map(|configuration| {
        let all = group
            .rows
            .iter()
            .filter_map(|row| added(*row, configuration));
        let (mut seen, mut n) = (0, 0);
        for of in all {
            n += 1;
            seen += usize::from(!holds_zero(&of));
        }
        Value::plain(format!("{seen} of {n}"))
    });
    let resolved = [Value::plain("shown"), Value::default()]
        .into_iter()
        .chain(resolved);
    Some(
        columns
            .summed_up(title, group.rows.iter().copied(), [resolved.collect()])
            .fixed(2)
            .legend([
                "The centre (Hodges-Lehmann) over kernels that differ in where functions lie, with its 95 % \
                 interval over them; of each kernel and stack a quiet round: the lower quartile of rounds, of \
                 each the 10th percentile of its samples. ~: 0 is in the interval. Last row: in how many \
                 operations it is not. Tables of each layout: --details.",
            ]),
    )
}

/// An operation, with how deep its path is.
type Point<'a> = (f64, Operation<'a>);

/// Fewest depths that a line is drawn through.
const FEWEST_DEPTHS: usize = 3;

/// What a component of the path costs, of benchmarks that walk paths of several depths.
fn slopes(layouts: &Layouts<'_>, group: &Group<'_>) -> Option<Table> {
    let baseline = group.baseline.as_ref()?;
    let rows = group.rows.iter().filter_map(|row| {
        let depth = path_depth(row.1)?;
        Some((f64::from(depth), *row))
    });
    let rows: Vec<Point<'_>> = rows.collect();
    let mut benchmarks = grouped(&rows, |(_, (benchmark, _))| *benchmark);
    benchmarks.retain(|(_, points)| points.len() >= FEWEST_DEPTHS);
    if benchmarks.is_empty() {
        return None;
    }
    let slope = |points: &[&Point<'_>], of: &Configuration, added: bool| {
        let keys = points.iter().map(|(depth, row)| {
            let base = &group.cell(*row, baseline)?.key;
            let key = &group.cell(*row, of)?.key;
            Some((*depth, key, added.then_some(base)))
        });
        layouts.slope(&keys.collect::<Option<Vec<_>>>()?)
    };
    let mut columns = Columns::new()
        .left("benchmark", |(benchmark, _): &(&str, Vec<&Point<'_>>)| {
            printable(benchmark, TEXT_LIMIT)
        })
        .column("depths", |(_, points)| points.len() as u64)
        .right(
            printable(&group.heading(baseline), TEXT_LIMIT),
            |(_, points)| slope(points, baseline, false).map(value),
        );
    for configuration in group.configurations.iter().filter(|of| *of != baseline) {
        let title = printable(&group.heading(configuration), TEXT_LIMIT);
        columns = columns.right(title, move |(_, points)| {
            slope(points, configuration, true).map(value)
        });
    }
    let title = format!(
        "{}, {}: nanoseconds per component of the path, over {} layouts",
        printable(layouts.kernel, TEXT_LIMIT),
        printable(layouts.filesystem, TEXT_LIMIT),
        layouts.count()
    );
    Some(columns.table(title, &benchmarks).legend([
        "What each component more takes, and what stacks add for it: of each layout the slope of the line \
         through all depths (Theil-Sen), of these the centre with its 95 % interval.",
    ]))
}

fn holds_zero(of: &Centre) -> bool {
    let [low, high] = of.ci95;
    low <= 0.0 && high >= 0.0
}

fn value(of: Centre) -> Value {
    let signed = |ns: f64| {
        let sign = if ns < 0.0 { "-" } else { "+" };
        format!("{sign}{}", format::figure(ns.abs()))
    };
    let doubt = if holds_zero(&of) { "~" } else { "" };
    let value = signed(of.value);
    let [low, high] = of.ci95.map(signed);
    Value::plain(format!("{doubt}{value} [{low}, {high}]"))
}
