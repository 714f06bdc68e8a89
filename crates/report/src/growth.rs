// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of an operation over the number of rules in a policy.

use std::collections::BTreeMap;

use model::{Cell, Document, Key, Policy};
use stats::Fit;

use crate::column::Columns;
use crate::format;
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// Fewer points do not determine a kind of growth.
const LEAST_POINTS: usize = 3;
/// Fraction by which two boots may differ without any rule: hash chains and slabs depend on
/// history.
const LAYOUT: f64 = 0.005;
/// Tolerated distance from a fitted growth, as a fraction of the whole growth.
const BESIDE: f64 = 0.15;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Growth {
    Not,
    Linear(f64),
    Logarithmic(f64),
    Otherwise,
}

impl Growth {
    /// (rules, cost), rules from 1 on, in any order.
    fn of(points: &[(f64, f64)]) -> Growth {
        let least = points.iter().map(|of| of.1).fold(f64::INFINITY, f64::min);
        let most = points.iter().map(|of| of.1).fold(0.0, f64::max);
        if most - least <= LAYOUT * least {
            return Growth::Not;
        }
        let near = |x: Vec<f64>| {
            let y: Vec<f64> = points.iter().map(|of| of.1).collect();
            let fit = Fit::of(&[&x], &y).ok()?;
            let off = fit
                .residuals
                .iter()
                .fold(0.0, |most: f64, off| most.max(off.abs()));
            (off <= BESIDE * (most - least)).then(|| (off, fit.slopes[0].value))
        };
        let linear = near(points.iter().map(|of| of.0).collect());
        let logarithmic = near(points.iter().map(|of| of.0.log2()).collect());
        match (linear, logarithmic) {
            (Some((off, slope)), Some((other, _))) if off <= other => Growth::Linear(slope),
            (Some((_, slope)), None) => Growth::Linear(slope),
            (_, Some((_, slope))) => Growth::Logarithmic(slope),
            (None, None) => Growth::Otherwise,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Growth::Not => "constant",
            Growth::Linear(_) => "linear",
            Growth::Logarithmic(_) => "logarithmic",
            Growth::Otherwise => "otherwise",
        }
    }
}

struct Line<'a> {
    first: &'a Cell,
    points: Vec<(f64, f64)>,
}

pub(crate) fn growth(run: &Document) -> Option<Table> {
    let mut groups: BTreeMap<Key, Vec<&Cell>> = BTreeMap::new();
    for cell in &run.cells {
        let is_ruled = cell.key.policy != Policy::None && cell.key.metric.is_counted();
        if is_ruled && cell.estimate().is_some() {
            let mut key = cell.key.clone();
            key.settings.rules = None;
            groups.entry(key).or_default().push(cell);
        }
    }
    let mut lines: Vec<Line<'_>> = groups.into_values().filter_map(Line::of).collect();
    let place = |cell: &Cell| run.cells.iter().position(|of| std::ptr::eq(of, cell));
    lines.sort_by_key(|line| place(line.first));
    Columns::new()
        .left("configuration", |of: &Line<'_>| {
            let mut key = of.first.key.clone();
            key.settings.rules = None;
            Value::plain(printable(&key.configuration_title(), 2 * TEXT_LIMIT))
        })
        .left("kernel", |of| &of.first.key.kernel)
        .left("operation", |of| of.first.title())
        .right("rules", |of| {
            let ends = [of.points.first(), of.points.last()];
            let [least, most] = ends.map(|end| end.map_or(0, |end| end.0 as u64));
            format!("{least} to {}", format::count(most))
        })
        .right("with fewest", |of| figure(of.points.first()))
        .right("with most", |of| figure(of.points.last()))
        .left("grows", |of| Growth::of(&of.points).word())
        .right("a rule", |of| match Growth::of(&of.points) {
            Growth::Linear(slope) => Some(format!("{slope:.1}")),
            _ => None,
        })
        .right("twice as many", |of| match Growth::of(&of.points) {
            Growth::Logarithmic(slope) => Some(format!("{slope:.1}")),
            _ => None,
        })
        .table(
            "How costs grow with a policy's rules, guest instructions",
            &lines,
        )
        .fixed(2)
        .legend([
            "rules: more than are needed. grows: constant if figures differ by at most \
             0.5 %, as those of two boots may; linear or logarithmic if each is within 15 % of the \
             growth from such a line. a rule, twice as many: the line's slope.",
        ])
        .if_any()
}

fn figure(of: Option<&(f64, f64)>) -> String {
    of.map(|of| format::figure(of.1)).unwrap_or_default()
}

impl Line<'_> {
    fn of(mut cells: Vec<&Cell>) -> Option<Line<'_>> {
        cells.sort_by_key(|cell| cell.key.settings.rules);
        let median = |cell: &Cell| cell.estimate().map(|estimate| estimate.median);
        let ruled = cells.iter().filter_map(|cell| {
            let rules = cell.key.settings.rules?;
            Some((f64::from(rules), median(cell)?))
        });
        let points: Vec<(f64, f64)> = ruled.collect();
        let first = *cells.first()?;
        (points.len() >= LEAST_POINTS).then_some(Line { first, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_growing_are_told_apart() {
        let of = |f: &dyn Fn(f64) -> f64| {
            Growth::of(&[1.0, 10.0, 100.0, 1000.0, 10_000.0].map(|n| (n, f(n))))
        };
        assert_eq!(of(&|_| 5000.0), Growth::Not);
        assert_eq!(of(&|n| if n > 50.0 { 5020.0 } else { 5000.0 }), Growth::Not);
        let Growth::Linear(slope) = of(&|n| 5690.0 + 18.0 * n) else {
            panic!("six instructions a rule, asked three times");
        };
        assert!((slope - 18.0).abs() < 1e-6);
        let Growth::Logarithmic(slope) = of(&|n| 5000.0 + 14.0 * n.log2()) else {
            panic!("a tree");
        };
        assert!((slope - 14.0).abs() < 1e-6);
        let peak = of(&|n| if n == 100.0 { 9000.0 } else { 5000.0 });
        assert_eq!(peak, Growth::Otherwise);
    }
}
