// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of policies: as a function of the number of rules, of a miss in SELinux's access vector
//! cache, and of loading.

use std::collections::BTreeMap;

use model::{CacheUse, Cell, Document, Estimate, Key, Metric, Policy, PolicyPart, PolicyProof};
use stats::Fit;

use crate::column::Columns;
use crate::format;
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// With fewer points, the kind of growth cannot be determined.
const LEAST_POINTS: usize = 3;
/// Fraction by which two boots may differ without any rule: hash chains and slabs vary.
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
    fn fit(points: &[(f64, f64)]) -> Growth {
        let y: Vec<f64> = points.iter().map(|point| point.1).collect();
        let least = y.iter().copied().fold(f64::INFINITY, f64::min);
        let most = y.iter().copied().fold(0.0, f64::max);
        if most - least <= LAYOUT * least {
            return Growth::Not;
        }
        let near = |x: Vec<f64>| {
            let fit = Fit::new(&[&x], &y).ok()?;
            let off = fit.residuals.iter().map(|off| off.abs());
            let off = off.fold(0.0, f64::max);
            (off <= BESIDE * (most - least)).then(|| (off, fit.slopes[0].value))
        };
        let linear = near(points.iter().map(|point| point.0).collect());
        let logarithmic = near(points.iter().map(|point| point.0.log2()).collect());
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
    let mut lines: Vec<Line<'_>> = groups.into_values().filter_map(Line::new).collect();
    let place = |cell: &Cell| run.cells.iter().position(|other| std::ptr::eq(other, cell));
    lines.sort_by_key(|line| place(line.first));
    Columns::new()
        .left("configuration", |line: &Line<'_>| {
            let mut key = line.first.key.clone();
            key.settings.rules = None;
            Value::plain(printable(&key.configuration_title(), 2 * TEXT_LIMIT))
        })
        .left("kernel", |line| &line.first.key.kernel)
        .left("operation", |line| line.first.title())
        .right("rules", |line| {
            let ends = [line.points.first(), line.points.last()];
            let [least, most] = ends.map(|end| end.map_or(0, |end| end.0 as u64));
            format!("{least} to {}", format::count(most))
        })
        .right("with fewest", |line| figure(line.points.first()))
        .right("with most", |line| figure(line.points.last()))
        .left("grows", |line| Growth::fit(&line.points).word())
        .right("per rule", |line| match Growth::fit(&line.points) {
            Growth::Linear(slope) => Some(format!("{slope:.1}")),
            _ => None,
        })
        .right("per doubling", |line| match Growth::fit(&line.points) {
            Growth::Logarithmic(slope) => Some(format!("{slope:.1}")),
            _ => None,
        })
        .table(
            "Cost over the number of rules, in guest instructions",
            &lines,
        )
        .fixed(2)
        .legend([
            "rules: added to those that the benchmark needs. grows: constant if values differ by \
             at most 0.5 %, as between two boots; linear or logarithmic if every value is within \
             15 % of the growth along such a line. per rule, per doubling: slope of that line.",
        ])
        .if_any()
}

fn figure(point: Option<&(f64, f64)>) -> String {
    point.map_or(String::new(), |point| format::figure(point.1))
}

impl Line<'_> {
    fn new(mut cells: Vec<&Cell>) -> Option<Line<'_>> {
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

const OPENS: (&str, &str) = ("openat", "random");

/// A row for each cache size. None unless a size was measured into which all opened labels fit.
pub(crate) fn avc(run: &Document) -> Option<Table> {
    let cells = run.cells.iter();
    let lines = cells.filter_map(|cell| CacheLine::new(run, cell));
    let lines: Vec<CacheLine<'_>> = lines.collect();
    Columns::new()
        .left("configuration", |line: &CacheLine<'_>| {
            Value::plain(printable(&line.cell.configuration_title(), 2 * TEXT_LIMIT))
        })
        .right("opens", |line| format::count(line.used.opens.into()))
        .right("lookups", |line| format::count(line.used.lookups.into()))
        .right("misses", |line| format::count(line.used.misses.into()))
        .right("median", |line| format::figure(line.estimate.median))
        .right("mean", |line| round(line.estimate.mean))
        .right("most", |line| round(line.estimate.max))
        .right("per miss", |line| {
            line.more(|estimate| Some(estimate.median), 1.0)
        })
        .right("mean per miss", |line| {
            let misses = f64::from(line.used.misses) / f64::from(line.used.opens);
            line.more(|estimate| estimate.mean, misses)
        })
        .table("What a miss of SELinux's access vector cache costs", &lines)
        .legend([
            "opens, lookups, misses: as counted by the kernel (/sys/fs/selinux/avc/cache_stats) \
             when as many files as labels were opened in turn, all of them opened before. median, \
             mean, most: instructions of openat:random, which also opens files in turn.",
            "per miss (if at least half of the opens miss): the difference between this median and \
             that of the smallest cache without misses. mean per miss: the same difference between \
             means, divided by misses per open, which includes evictions.",
        ])
        .if_any()
}

struct CacheLine<'a> {
    cell: &'a Cell,
    used: CacheUse,
    estimate: &'a Estimate,
    fits: Option<&'a Estimate>,
}

impl<'a> CacheLine<'a> {
    fn new(run: &'a Document, cell: &'a Cell) -> Option<CacheLine<'a>> {
        let key = &cell.key;
        let is_asked = (key.benchmark(), key.variant()) == OPENS
            && key.settings.labels.is_some()
            && key.metric == Metric::Instructions;
        let own = is_asked.then(|| used(run, cell)).flatten()?;
        // 512 is the kernel's default size.
        let entries = |candidate: &Cell| candidate.key.settings.avc_entries.unwrap_or(512);
        let same = |candidate: &&Cell| {
            let mut other = candidate.key.clone();
            other.settings.avc_entries = key.settings.avc_entries;
            other == *key
        };
        let fitting =
            |candidate: &&Cell| used(run, candidate).is_some_and(|cache| cache.misses == 0);
        let fits = run.cells.iter().filter(same).filter(fitting);
        let smallest = fits.min_by_key(|candidate| entries(candidate));
        Some(CacheLine {
            cell,
            used: own,
            estimate: cell.estimate()?,
            fits: smallest.and_then(Cell::estimate),
        })
    }

    /// Cost per miss, compared with a size into which all labels fit; empty if few opens miss.
    fn more(&self, figure: impl Fn(&Estimate) -> Option<f64>, misses: f64) -> String {
        let many = self.used.opens > 0 && 2 * self.used.misses >= self.used.opens;
        let more = self.fits.filter(|_| many).and_then(|fits| {
            let more = figure(self.estimate)? - figure(fits)?;
            Some(more / misses)
        });
        round(more)
    }
}

fn round(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format::figure(value.round()))
}

fn used(run: &Document, cell: &Cell) -> Option<CacheUse> {
    let key = &cell.key;
    let setup = run.setups.iter().find(|proof| {
        let configuration = &proof.configuration;
        proof.kernel == key.kernel
            && configuration.stack.names() == key.stack
            && configuration.integrity == key.integrity
            && configuration.policy == key.policy
            && configuration.settings == key.settings
    })?;
    setup.cache
}

/// A row per policy and configuration in emulated machines, whose ns are instructions.
pub(crate) fn setup(run: &Document, details: bool) -> Option<Table> {
    let is_of_memory = |cell: &model::Cell| cell.key.metric == Metric::Memory;
    let emulated = run.environment.qemu.is_some() && !run.environment.kvm;
    if !emulated || !details && !run.cells.iter().any(is_of_memory) {
        return None;
    }
    let parts = run.setups.iter();
    let parts = parts.flat_map(|proof| proof.took.iter().map(move |part| (proof, part)));
    Columns::new()
        .left("kernel", |(proof, _): (&PolicyProof, &PolicyPart)| {
            &proof.kernel
        })
        .left("configuration", |(proof, _)| {
            printable(&proof.configuration.title(), 2 * TEXT_LIMIT)
        })
        .left("module", |(_, part)| &part.module)
        .left("what", |(_, part)| &part.part)
        .right("instructions", |(_, part)| format::count(part.busy_ns))
        .table("Cost of loading policies", parts)
        .fixed(4)
        .legend([
            "instructions: of the loading task; user mode, interrupts and iterations of REP \
             instructions included. Policies are loaded once per boot.",
        ])
        .if_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_growing_are_told_apart() {
        let growth = |f: &dyn Fn(f64) -> f64| {
            Growth::fit(&[1.0, 10.0, 100.0, 1000.0, 10_000.0].map(|n| (n, f(n))))
        };
        assert_eq!(growth(&|_| 5000.0), Growth::Not);
        assert_eq!(
            growth(&|n| if n > 50.0 { 5020.0 } else { 5000.0 }),
            Growth::Not
        );
        let Growth::Linear(slope) = growth(&|n| 5690.0 + 18.0 * n) else {
            panic!("six instructions a rule, asked three times");
        };
        assert!((slope - 18.0).abs() < 1e-6);
        let Growth::Logarithmic(slope) = growth(&|n| 5000.0 + 14.0 * n.log2()) else {
            panic!("a tree");
        };
        assert!((slope - 14.0).abs() < 1e-6);
        let peak = growth(&|n| if n == 100.0 { 9000.0 } else { 5000.0 });
        assert_eq!(peak, Growth::Otherwise);
    }
}
