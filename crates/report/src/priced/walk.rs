// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of directory checks on the way to a file. The LSM overhead paper proposes to cache them.

use model::{HookCost, path_depth};

use super::{Pair, percent_of, tested};
use crate::cells::{Configuration, Group, Operation};
use crate::column::Columns;
use crate::table::Table;

/// The hook that checks each directory on a path.
const CHECK: &str = "inode_permission";
/// Calls `inode_permission` for directories only (`vfs_statx` uses another hook for attributes), so
/// it gives the cost of directories for other operations on the same path.
const ONLY_DIRECTORIES: &str = "stat";
const WALKS: [&str; 2] = ["open", ONLY_DIRECTORIES];
const FEWEST_DEPTHS: usize = 3;

pub(super) fn table(place: &str, group: &Group<'_>) -> Option<Table> {
    let walks = tested(group).flat_map(|of| WALKS.map(|benchmark| Walk::of(of, benchmark, group)));
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
        (points.len() >= FEWEST_DEPTHS).then_some(Walk {
            configuration,
            benchmark: rows.clone().next()?.0,
            points,
        })
    }

    fn first(&self) -> Point {
        self.points[0]
    }

    fn last(&self) -> Point {
        self.points[self.points.len() - 1]
    }

    /// Growth per component, between the first and the last point; to a tenth.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(hook: &str, calls: u64, outermost: u64) -> HookCost {
        HookCost {
            hook: hook.to_owned(),
            calls,
            inclusive: outermost,
            outermost,
            ..HookCost::default()
        }
    }

    fn walk(configuration: &Configuration, overheads: [i128; 3]) -> Walk<'_> {
        let points = overheads
            .iter()
            .zip([1, 2, 4])
            .map(|(overhead, depth)| Point {
                depth,
                overhead: *overhead,
                calls: u64::from(depth),
                checks: 20 * i128::from(depth),
                outside: 7,
            });
        Walk {
            configuration,
            benchmark: "stat",
            points: points.collect(),
        }
    }

    #[test]
    fn directories_are_what_an_operation_that_checks_no_file_has() {
        let open = [hook(CHECK, 3, 410), hook("file_open", 1, 159)];
        let stat = [hook(CHECK, 2, 228), hook("inode_getattr", 1, 173)];
        let pair = |hooks, base, overhead| Pair {
            hooks,
            base,
            overhead,
        };
        let base = [hook(CHECK, 1, 28)];
        let point = Point::of(1, &pair(&open, &base, 600), &pair(&stat, &base, 500));
        assert_eq!((point.calls, point.checks), (2, 200));
        assert_eq!((point.left(), point.outside), (400, 600 - (410 + 159 - 28)));
    }

    #[test]
    fn a_walk_grows_by_its_line() {
        let configuration = Configuration {
            kernel: None,
            stack: vec!["smack".to_owned()],
            integrity: Vec::new(),
            policy: model::Policy::None,
            settings: model::Settings::default(),
        };
        let straight = walk(&configuration, [100, 130, 190]);
        assert_eq!(straight.each(|at| at.overhead), 30.0);
        assert_eq!(straight.each(|at| at.checks), 20.0);
        assert_eq!(
            (straight.each(|at| at.outside), straight.off_the_line()),
            (0.0, 0.0)
        );
        assert_eq!(walk(&configuration, [100, 120, 190]).off_the_line(), 10.0);
    }
}
