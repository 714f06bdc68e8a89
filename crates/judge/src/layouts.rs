// SPDX-License-Identifier: GPL-2.0-or-later
//! Times of several layouts of one kernel: `build:NAME.1`, `build:NAME.2` and so on, which
//! `lsmeter kernel build --layouts` makes. Where the linker puts functions changes times by more
//! than boots do, so that intervals are drawn over layouts.

use std::collections::{BTreeMap, HashMap};

use experiment::{AaLayouts, Document, Key, Metric, Timed, layouts_base};
use stats::{Centre, centre, median_line, median_of_sorted, quantile_of_sorted};

/// With fewer there is no interval that holds 95 %.
pub const FEWEST_LAYOUTS: usize = 6;
/// Which of a layout's rounds stands for it, from the quietest: what else a machine does only adds
/// time, and often to a whole round.
const QUIET_ROUNDS: f64 = 0.25;
/// The operation that asks no module: what a system call takes by itself.
pub const GETPPID: &str = "getppid";

/// Times of the layouts of one kernel on one file system.
pub struct Layouts<'a> {
    /// The kernel without the layouts' numbers.
    pub kernel: &'a str,
    /// File system worked on.
    pub filesystem: &'a str,
    kernels: Vec<&'a str>,
    /// By the key that a cell would have without its layout's number; the layout's position.
    cells: HashMap<Key, BTreeMap<usize, &'a Timed>>,
    /// These keys in the order of the document.
    keys: Vec<Key>,
}

impl<'a> Layouts<'a> {
    /// Each kernel of which there are enough layouts.
    pub fn of(run: &'a Document) -> Vec<Layouts<'a>> {
        let mut all: Vec<Layouts<'a>> = Vec::new();
        for cell in &run.cells {
            let key = &cell.key;
            let timed = cell.timed().filter(|_| key.metric == Metric::Time);
            let (Some(base), Some(timed)) = (layouts_base(&key.kernel), timed) else {
                continue;
            };
            let is_it = |of: &Layouts<'_>| of.kernel == base && of.filesystem == key.filesystem;
            let at = all.iter().position(is_it).unwrap_or_else(|| {
                all.push(Layouts {
                    kernel: base,
                    filesystem: &key.filesystem,
                    kernels: Vec::new(),
                    cells: HashMap::new(),
                    keys: Vec::new(),
                });
                all.len() - 1
            });
            all[at].add(key, timed);
        }
        all.retain(|of| of.kernels.len() >= FEWEST_LAYOUTS);
        all
    }

    fn add(&mut self, key: &'a Key, timed: &'a Timed) {
        let layout = self.kernels.iter().position(|of| **of == key.kernel);
        let layout = layout.unwrap_or_else(|| {
            self.kernels.push(&key.kernel);
            self.kernels.len() - 1
        });
        let key = self.without_number(key);
        let of_key = self.cells.entry(key.clone()).or_default();
        if of_key.is_empty() {
            self.keys.push(key);
        }
        of_key.insert(layout, timed);
    }

    fn without_number(&self, key: &Key) -> Key {
        Key {
            kernel: self.kernel.to_owned(),
            ..key.clone()
        }
    }

    /// How many layouts there are.
    pub fn count(&self) -> usize {
        self.kernels.len()
    }

    fn of_key(&self, key: &Key) -> impl Iterator<Item = (usize, &'a Timed)> {
        let cells = self.cells.get(&self.without_number(key));
        let cells = cells.into_iter().flatten();
        cells.map(|(layout, timed)| (*layout, *timed))
    }

    /// What an operation takes, in nanoseconds; of a cell of any layout.
    pub fn figure(&self, key: &Key) -> Option<Centre> {
        let quiet = self.of_key(key).map(|(_, timed)| quiet(timed));
        centre(&quiet.collect::<Vec<f64>>())
    }

    /// What it takes more than that of another cell, in nanoseconds: of each layout the
    /// difference, of these the centre.
    pub fn added(&self, base: &Key, tested: &Key) -> Option<Centre> {
        let base: BTreeMap<usize, &Timed> = self.of_key(base).collect();
        let differences = self.of_key(tested).filter_map(|(layout, timed)| {
            let base = base.get(&layout)?;
            Some(quiet(timed) - quiet(base))
        });
        centre(&differences.collect::<Vec<f64>>())
    }
}

impl Layouts<'_> {
    /// How many nanoseconds an operation takes more, or a stack adds more to it, for each
    /// component of the path: of each layout the line through all depths (Theil and Sen), of
    /// these lines' slopes the centre. Points are of a depth, with the cell and, for what a
    /// stack adds, its baseline.
    pub fn slope(&self, points: &[(f64, &Key, Option<&Key>)]) -> Option<Centre> {
        let depths: Vec<f64> = points.iter().map(|(depth, ..)| *depth).collect();
        let slopes = (0..self.count()).filter_map(|layout| {
            let ns = |key: &Key| {
                let cells = self.cells.get(&self.without_number(key))?;
                Some(quiet(cells.get(&layout)?))
            };
            let of = |(_, key, base): &(f64, &Key, Option<&Key>)| {
                let base = base.map_or(Some(0.0), ns)?;
                Some(ns(key)? - base)
            };
            let figures: Vec<f64> = points.iter().map(of).collect::<Option<_>>()?;
            let line = median_line(&depths, &figures).ok()?;
            line.slopes.first().map(|slope| slope.value)
        });
        centre(&slopes.collect::<Vec<f64>>())
    }
}

/// What an operation takes on one kernel under one stack, in its metric's unit: what a quiet round
/// takes.
pub fn quiet(timed: &Timed) -> f64 {
    quiet_round(quiet_rounds(timed).to_vec()).unwrap_or(timed.estimate.median)
}

fn quiet_round(mut rounds: Vec<f64>) -> Option<f64> {
    rounds.sort_unstable_by(f64::total_cmp);
    (!rounds.is_empty()).then(|| quantile_of_sorted(&rounds, QUIET_ROUNDS))
}

/// Older documents have the rounds' medians only.
fn quiet_rounds(timed: &Timed) -> &[f64] {
    if timed.quiet.is_empty() {
        &timed.rounds
    } else {
        &timed.quiet
    }
}

/// What intervals over layouts say of stacks that are compared with themselves, of runs without
/// a change, two of them at a time.
pub fn aa_layouts(runs: &[Document]) -> Vec<AaLayouts> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let drawn: Vec<Vec<Layouts<'_>>> = runs.iter().map(Layouts::of).collect();
    let all = Layouts::of(first).into_iter();
    let all = all.filter_map(|of| {
        let pairs = drawn.chunks_exact(2).filter_map(|pair| {
            let find = |run: &'_ [Layouts<'_>]| {
                let is_it = |other: &Layouts<'_>| {
                    (other.kernel, other.filesystem) == (of.kernel, of.filesystem)
                };
                run.iter().position(is_it)
            };
            Some((&pair[0][find(&pair[0])?], &pair[1][find(&pair[1])?]))
        });
        let intervals: Vec<Interval> = pairs.flat_map(|(a, b)| intervals(a, b)).collect();
        report(&of, first, &intervals)
    });
    all.collect()
}

/// An interval of a difference that there is none of.
struct Interval {
    operation: String,
    is_false: bool,
    half_width_ns: f64,
    /// What the operation takes.
    ns: f64,
}

impl Interval {
    fn half_width(&self) -> f64 {
        self.half_width_ns / self.ns
    }
}

/// Of every stack and operation, rounds of both runs dealt to two names in turns.
fn intervals(a: &Layouts<'_>, b: &Layouts<'_>) -> Vec<Interval> {
    let of_key = |key: &Key| {
        let others: BTreeMap<usize, &Timed> = b.of_key(key).collect();
        let mut figures = Vec::new();
        let mut differences = Vec::new();
        for (layout, timed) in a.of_key(key) {
            let rounds = quiet_rounds(timed).iter();
            let rounds = rounds.chain(quiet_rounds(others.get(&layout)?)).copied();
            let rounds: Vec<f64> = rounds.collect();
            let name = |first| quiet_round(rounds.iter().skip(first).step_by(2).copied().collect());
            let (even, odd) = (name(0)?, name(1)?);
            figures.push(even);
            differences.push(odd - even);
        }
        let Centre {
            ci95: [low, high], ..
        } = centre(&differences)?;
        Some(Interval {
            operation: key.title(),
            is_false: low > 0.0 || high < 0.0,
            half_width_ns: (high - low) / 2.0,
            ns: centre(&figures)?.value,
        })
    };
    a.keys.iter().filter_map(of_key).collect()
}

fn report(of: &Layouts<'_>, run: &Document, intervals: &[Interval]) -> Option<AaLayouts> {
    let widest = intervals
        .iter()
        .max_by(|a, b| a.half_width().total_cmp(&b.half_width()))?;
    let mut half_widths: Vec<f64> = intervals.iter().map(Interval::half_width).collect();
    half_widths.sort_unstable_by(f64::total_cmp);
    let getppid = of.keys.iter().filter(|key| key.benchmark() == GETPPID);
    let getppid = getppid.filter_map(|key| {
        let added = of.added(&run.baseline_of(key)?, key)?;
        Some(added.value.abs())
    });
    let rounds = of.cells.values().flat_map(BTreeMap::values);
    let rounds = rounds.map(|timed| quiet_rounds(timed).len()).max();
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Some(AaLayouts {
        kernel: of.kernel.to_owned(),
        filesystem: of.filesystem.to_owned(),
        layouts: small(of.count()),
        rounds: small(rounds.unwrap_or(0)),
        intervals: intervals.len() as u64,
        false_intervals: intervals.iter().filter(|of| of.is_false).count() as u64,
        half_width_median: median_of_sorted(&half_widths),
        half_width_largest: widest.half_width(),
        widest: widest.operation.clone(),
        half_width_largest_ns: widest.half_width_ns,
        getppid_largest_ns: getppid.reduce(f64::max),
    })
}
