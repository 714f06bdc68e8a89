// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks after a run that larger policies cost no less: compares cells that differ only in the
//! number of rules or of layers.

use std::collections::BTreeMap;

use model::{Cell, Evidence, Key, Policy, Warning, WarningKind};
use stats::{Direction, Fall, Point, deepest_fall};

/// Name of the dimension, its value in a key, and how to clear it.
type Size = (&'static str, fn(&Key) -> u32, fn(&mut Key));

const SIZES: [Size; 2] = [
    (
        "rules",
        |key| key.settings.rules.unwrap_or(0),
        |key| key.settings.rules = None,
    ),
    (
        "layers",
        |key| key.settings.layers.unwrap_or(1),
        |key| key.settings.layers = None,
    ),
];

/// Share of an instruction count by which two boots may differ though no decision does: hash chains
/// and slabs depend on the boot's history (stat ±2, creat ±11 of several thousand).
const LAYOUT: f64 = 0.005;

pub(crate) fn doubt(cells: &[Cell]) -> Option<Warning> {
    let mut falls: Vec<(u32, u32, String)> = Vec::new();
    let mut series = 0;
    for (word, size, forget) in SIZES {
        let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (position, cell) in cells.iter().enumerate() {
            if cell.key.policy != Policy::None && cell.evidence().is_some() {
                let mut key = cell.key.clone();
                forget(&mut key);
                groups.entry(key).or_default().push(position);
            }
        }
        for group in groups.into_values() {
            let measured = |&position: &usize| Some((position, point(&cells[position], size)?));
            let (positions, points): (Vec<usize>, Vec<Point>) =
                group.iter().filter_map(measured).unzip();
            series += usize::from(points.len() > 1);
            let Some(Fall { from, to }) = deepest_fall(&points) else {
                continue;
            };
            let (more, less) = (&cells[positions[to]], &cells[positions[from]]);
            let figure = |cell: &Cell| cell.estimate().map_or(0.0, |estimate| estimate.median);
            let message = format!(
                "{} with {} {word} is {:.0} {}, with {} {word} {:.0}",
                more.title(),
                size(&more.key),
                figure(more),
                more.key.metric.unit(),
                size(&less.key),
                figure(less)
            );
            falls.push((positions[from] as u32, positions[to] as u32, message));
        }
    }
    let (_, _, first) = falls.first()?;
    let mut warning = Warning::new(
        WarningKind::NonMonotone,
        format!(
            "{} of {series} series cost less with a larger policy, beyond the error of both; \
             for instance {first}",
            falls.len()
        ),
    );
    let mut positions: Vec<u32> = falls.iter().flat_map(|&(from, to, _)| [from, to]).collect();
    positions.sort_unstable();
    positions.dedup();
    warning.cells = positions;
    Some(warning)
}

/// The cell's cost at its policy's size; instructions on a stable path are exact to [`LAYOUT`].
fn point(cell: &Cell, size: fn(&Key) -> u32) -> Option<Point> {
    let [low, high] = match cell.evidence()? {
        Evidence::Counted(counted) => {
            let stable = counted.paths.as_ref().filter(|paths| paths.is_stable())?;
            let exact = stable.dominant.instructions as f64;
            [exact * (1.0 - LAYOUT / 2.0), exact * (1.0 + LAYOUT / 2.0)]
        }
        // Too few samples for an interval: their spread is the error.
        Evidence::Timed(timed) => {
            let estimate = &timed.estimate;
            let all = Some([estimate.min?, estimate.max?]);
            estimate.ci95.or(all)?
        }
        _ => return None,
    };
    Some(Point {
        x: f64::from(size(&cell.key)),
        interval: match cell.key.metric.direction() {
            Direction::LowerIsBetter => [low, high],
            Direction::HigherIsBetter => [-high, -low],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        Configuration, Counted, Estimate, Metric, PathCount, Paths, Settings, Stack, Subject, Timed,
    };

    fn cell(rules: u32, layers: u32, metric: Metric, evidence: Evidence) -> Cell {
        let configuration = Configuration {
            policy: Policy::Enforcing,
            settings: Settings {
                rules: Some(rules),
                layers: Some(layers),
                ..Settings::default()
            },
            ..Configuration::of_stack(Stack::distribution())
        };
        let subject = Subject::benchmark("open", "AA");
        Cell {
            outcome: evidence.into(),
            ..Cell::unmeasured(Key::new("host", &configuration, "host", subject, metric))
        }
    }

    fn estimate(samples: &[f64]) -> Estimate {
        Estimate::from(&stats::Summary::of(samples).unwrap())
    }

    fn timed(rules: u32, layers: u32, ns: f64) -> Cell {
        let evidence = Timed::of(estimate(&[ns - 1.0, ns, ns, ns + 1.0]));
        cell(rules, layers, Metric::Time, Evidence::Timed(evidence))
    }

    #[test]
    fn what_grows_or_stays_is_no_doubt() {
        let cells = [timed(2, 1, 100.0), timed(10, 1, 101.0), timed(2, 9, 200.0)];
        assert_eq!(doubt(&cells), None);
        assert_eq!(doubt(&[]), None);
    }

    #[test]
    fn only_cells_that_differ_in_one_size_are_compared() {
        assert_eq!(doubt(&[timed(2, 9, 200.0), timed(10, 1, 100.0)]), None);
    }

    #[test]
    fn a_larger_policy_that_costs_less_is_told_with_its_cells() {
        let cells = [
            timed(2, 1, 100.0),
            timed(10, 1, 90.0),
            timed(2, 2, 80.0),
            timed(10, 2, 85.0),
        ];
        let warning = doubt(&cells).unwrap();
        assert_eq!(warning.kind, WarningKind::NonMonotone);
        assert_eq!(warning.cells, [0, 1, 2, 3]);
        assert!(
            warning.message.starts_with("3 of 4 series"),
            "{}",
            warning.message
        );
        assert!(
            warning
                .message
                .contains("open:AA with 10 rules is 90 ns, with 2 rules 100"),
            "{}",
            warning.message
        );
    }

    #[test]
    fn throughput_must_not_grow() {
        let of = |rules, figure: f64| {
            let evidence = Timed::of(estimate(&[figure - 1.0, figure, figure + 1.0]));
            cell(rules, 1, Metric::Throughput, Evidence::Timed(evidence))
        };
        assert_eq!(doubt(&[of(2, 100.0), of(10, 90.0)]), None);
        assert!(doubt(&[of(2, 90.0), of(10, 100.0)]).is_some());
    }

    #[test]
    fn counts_are_exact_but_for_where_things_lie() {
        let of = |rules, instructions: u64| {
            let evidence = Counted {
                estimate: Some(estimate(&[instructions as f64; 8])),
                paths: Some(Paths {
                    dominant: PathCount {
                        instructions,
                        rep_iterations: 0,
                        regions: 8,
                    },
                    others: Vec::new(),
                    regions: 8,
                    dirty: 0,
                    path_hash: None,
                }),
                ..Counted::default()
            };
            cell(rules, 1, Metric::Instructions, Evidence::from(evidence))
        };
        assert_eq!(doubt(&[of(2, 5000), of(10, 5000)]), None);
        assert_eq!(doubt(&[of(2, 5000), of(10, 4990)]), None);
        assert!(doubt(&[of(2, 5000), of(10, 4970)]).is_some());
    }
}
