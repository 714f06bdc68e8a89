// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of directory checks on the way to a file. The LSM overhead paper proposes to cache them.

use model::{HookCost, path_depth};

use super::{Pair, percent_of};
use crate::cells::{Configuration, Group, Operation};
use crate::column::Columns;
use crate::table::Table;

const CHECK: &str = "inode_permission";
/// Calls `inode_permission` for directories only (`vfs_statx` uses another hook for attributes), so
/// it gives the cost of directories for other operations on the same path.
const ONLY_DIRECTORIES: &str = "stat";
const WALKS: [&str; 2] = ["open", ONLY_DIRECTORIES];
const FEWEST_DEPTHS: usize = 3;

pub(super) fn table(place: &str, group: &Group<'_>) -> Option<Table> {
    let walks = group
        .tested()
        .flat_map(|of| WALKS.map(|benchmark| Walk::of(of, benchmark, group)));
    let walks: Vec<Walk<'_>> = walks.flatten().collect();
    let (shortest, longest, further) = ("shortest", "longest", "each further");
    Columns::new()
        .left("stack", |of: &Walk<'_>| of.configuration.title())
        .left("benchmark", |of| of.benchmark)
        .left("components", |of| {
            format!("{} to {}", of.first().depth, of.last().depth)
        })
        .grouped(Some(shortest), "overhead", |of| of.first().overhead)
        .grouped(Some(shortest), "directories", |of| of.first().checks)
        .grouped(Some(shortest), "left", |of| of.first().left())
        .grouped(Some(longest), "calls", |of| of.last().calls)
        .grouped(Some(longest), "overhead", |of| of.last().overhead)
        .grouped(Some(longest), "directories", |of| of.last().checks)
        .grouped(Some(longest), "left", |of| of.last().left())
        .grouped(Some(longest), "left, %", |of| {
            percent_of(of.last().left(), of.last().overhead)
        })
        .grouped(Some(further), "overhead", |of| of.each(|at| at.overhead))
        .grouped(Some(further), "directories", |of| of.each(|at| at.checks))
        .grouped(Some(further), "outside", |of| of.each(|at| at.outside))
        .column("off the line", |of| of.off_the_line())
        .table(format!("What checks of directories cost: {place}"), &walks)
        .fixed(2)
        .legend([
            "Instructions beyond the baseline, of the shortest and the longest path and for each further component of \
             it. directories: inode_permission of directories, which is all of it in stat, and in open as much as in stat \
             of the same path; calls: of these. left: the overhead without it, which is the least that a cache of \
             such checks could leave, if to look into it cost nothing. outside: in no hook. off the line: the \
             furthest that the overhead of a path between is from the line through both ends.",
        ])
        .if_any()
}

struct Walk<'a> {
    configuration: &'a Configuration,
    benchmark: &'a str,
    /// At least [`FEWEST_DEPTHS`], the shortest path first.
    points: Vec<Point>,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    depth: u32,
    overhead: i128,
    calls: u64,
    checks: i128,
    outside: i128,
}

impl Point {
    fn left(&self) -> i128 {
        self.overhead - self.checks
    }
}

fn is_check(hook: &HookCost) -> bool {
    hook.hook == CHECK
}

impl<'a> Walk<'a> {
    fn of(
        configuration: &'a Configuration,
        benchmark: &str,
        group: &Group<'a>,
    ) -> Option<Walk<'a>> {
        let rows = group.rows.iter().filter(|row| row.0 == benchmark);
        let point = |row: &Operation<'a>| {
            let depth = path_depth(row.1)?;
            let walk = Pair::of(*row, configuration, group)?;
            let directories = Pair::of((ONLY_DIRECTORIES, row.1), configuration, group)?;
            Some(Point::of(depth, &walk, &directories))
        };
        let mut points: Vec<Point> = rows.clone().filter_map(point).collect();
        points.sort_by_key(|point| point.depth);
        points.dedup_by_key(|point| point.depth);
        let benchmark = rows.clone().next()?.0;
        (points.len() >= FEWEST_DEPTHS).then_some(Walk {
            configuration,
            benchmark,
            points,
        })
    }

    fn first(&self) -> Point {
        self.points[0]
    }

    fn last(&self) -> Point {
        self.points[self.points.len() - 1]
    }

    fn each(&self, figure: impl Fn(&Point) -> i128) -> f64 {
        (self.slope(figure) * 10.0).round() / 10.0
    }

    fn slope(&self, figure: impl Fn(&Point) -> i128) -> f64 {
        let (first, last) = (self.first(), self.last());
        (figure(&last) - figure(&first)) as f64 / f64::from(last.depth - first.depth)
    }

    /// Largest distance of an overhead from the line through both ends, in instructions.
    fn off_the_line(&self) -> f64 {
        let (first, slope) = (self.first(), self.slope(|at| at.overhead));
        let off = self.points.iter().map(|at| {
            let line = first.overhead as f64 + slope * f64::from(at.depth - first.depth);
            (at.overhead as f64 - line).abs()
        });
        off.fold(0.0, f64::max).round()
    }
}

impl Point {
    /// From the operation, and one on the same path that checks directories only.
    fn of(depth: u32, walk: &Pair<'_>, directories: &Pair<'_>) -> Point {
        let calls = directories.hooks.iter().filter(|hook| is_check(hook));
        let of_check = |hook: &HookCost| if is_check(hook) { hook.outermost } else { 0 };
        Point {
            depth,
            overhead: walk.overhead,
            calls: calls.map(|hook| hook.calls).fold(0, u64::saturating_add),
            checks: directories.added(of_check),
            outside: walk.overhead - walk.added(|hook| hook.outermost),
        }
    }
}
