// SPDX-License-Identifier: GPL-2.0-or-later
//! Times of several layouts of one kernel: `build:NAME.1`, `build:NAME.2` and so on, made by
//! `lsmeter kernel build --layouts`. The order in which the linker places functions changes times
//! by more than boots do, so intervals are computed over layouts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{AaLayouts, Document, Key, Metric, Timed, layout};
use stats::{Centre, centre, median_line, median_of_sorted, quantile_of_sorted, shift};

/// With fewer layouts there is no 95 % interval.
pub const FEWEST_LAYOUTS: usize = 6;
/// The quantile of a layout's rounds that represents it. Other load can only add time.
const QUIET_ROUND: f64 = 0.25;
/// The operation that calls no module: the cost of a system call itself.
pub const GETPPID: &str = "getppid";

/// Layouts of one kernel on one file system, with the layouts of the baseline's kernel if that is a
/// different kernel.
#[derive(Default)]
pub struct Layouts<'a> {
    /// Without the layouts' numbers.
    pub kernel: &'a str,
    pub filesystem: &'a str,
    numbers: BTreeSet<u32>,
    /// By the cell's key without the layout's number, then by that number.
    cells: HashMap<Key, BTreeMap<u32, &'a Timed>>,
    keys: Vec<Key>,
    baseline: Option<OtherKernel<'a>>,
}

/// Layouts of another kernel with the baseline, such as one without security modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherKernel<'a> {
    /// Without the layouts' numbers.
    pub kernel: &'a str,
    pub count: usize,
    /// True if both kernels have the same layout numbers. Layouts with the same number have the
    /// same order of functions and are compared with each other. Otherwise each layout is compared
    /// with every other.
    pub is_paired: bool,
}

type ByLayout = BTreeMap<u32, f64>;

impl<'a> Layouts<'a> {
    pub fn in_run(run: &'a Document) -> Vec<Layouts<'a>> {
        let mut all: Vec<Layouts<'a>> = Vec::new();
        for cell in &run.cells {
            let key = &cell.key;
            let timed = cell.timed().filter(|_| key.metric == Metric::Time);
            let (Some((base, number)), Some(timed)) = (layout(&key.kernel), timed) else {
                continue;
            };
            let matches = |layouts: &Layouts<'_>| {
                layouts.kernel == base && layouts.filesystem == key.filesystem
            };
            let at = all.iter().position(matches).unwrap_or_else(|| {
                all.push(Layouts {
                    kernel: base,
                    filesystem: &key.filesystem,
                    ..Layouts::default()
                });
                all.len() - 1
            });
            all[at].add(key, number, timed);
        }
        for layouts in &mut all {
            layouts.leave_out_disturbed();
        }
        for at in 0..all.len() {
            if let Some(other) = all[at].find_baseline(run, &all) {
                let cells = all[other].cells.clone();
                let baseline = OtherKernel {
                    kernel: all[other].kernel,
                    count: all[other].count(),
                    is_paired: all[other].numbers == all[at].numbers,
                };
                all[at].cells.extend(cells);
                all[at].baseline = Some(baseline);
            }
        }
        all.retain(|layouts| layouts.count() >= FEWEST_LAYOUTS);
        all
    }

    fn add(&mut self, key: &Key, number: u32, timed: &'a Timed) {
        self.numbers.insert(number);
        let key = self.without_number(key);
        let of_key = self.cells.entry(key.clone()).or_default();
        if of_key.is_empty() {
            self.keys.push(key);
        }
        of_key.insert(number, timed);
    }

    /// Drops layouts that were disturbed in every round, if enough others remain.
    fn leave_out_disturbed(&mut self) {
        for of_key in self.cells.values_mut() {
            let is_usable = |timed: &Timed| timed.disturbed != Some(true);
            let usable = of_key.values().filter(|timed| is_usable(timed)).count();
            if usable >= FEWEST_LAYOUTS {
                of_key.retain(|_, timed| is_usable(timed));
            }
        }
    }

    /// Index of the other kernel's layouts that have the baseline.
    fn find_baseline(&self, run: &Document, all: &[Layouts<'a>]) -> Option<usize> {
        let number = self.numbers.first()?;
        let kernel = format!("{}.{number}", self.kernel);
        let kernels = self.keys.iter().filter_map(|key| {
            let kernel = kernel.clone();
            let base = run.baseline_of(&Key {
                kernel,
                ..key.clone()
            })?;
            let (base, _) = layout(&base.kernel)?;
            (base != self.kernel).then(|| base.to_owned())
        });
        let base = kernels.into_iter().next()?;
        let matches =
            |layouts: &Layouts<'_>| layouts.kernel == base && layouts.filesystem == self.filesystem;
        all.iter().position(matches)
    }

    fn without_number(&self, key: &Key) -> Key {
        let bare = |kernel: &str| {
            kernel == self.kernel || self.baseline.is_some_and(|other| other.kernel == kernel)
        };
        let kernel = match layout(&key.kernel) {
            Some((base, _)) if !bare(&key.kernel) => base,
            _ => &key.kernel,
        };
        Key {
            kernel: kernel.to_owned(),
            ..key.clone()
        }
    }

    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    pub fn baseline(&self) -> Option<OtherKernel<'a>> {
        self.baseline
    }

    /// If the baseline belongs to another kernel, the reference inside this kernel: its first
    /// configuration. None for that configuration itself.
    pub fn own_baseline(&self, key: &Key) -> Option<Key> {
        let first = self.keys.first()?;
        let base = Key {
            stack: first.stack.clone(),
            integrity: first.integrity.clone(),
            policy: first.policy,
            settings: first.settings.clone(),
            ..key.clone()
        };
        (base != *key).then_some(base)
    }

    fn of_key(&self, key: &Key) -> impl Iterator<Item = (u32, &'a Timed)> {
        let cells = self.cells.get(&self.without_number(key));
        let cells = cells.into_iter().flatten();
        cells.map(|(number, timed)| (*number, *timed))
    }

    fn by_layout(&self, key: &Key) -> ByLayout {
        let cells = self
            .of_key(key)
            .map(|(number, timed)| (number, quiet(timed)));
        cells.collect()
    }

    /// Times of an operation in each layout, ns. `key` may be from any layout.
    pub fn times_ns(&self, key: &Key) -> Vec<f64> {
        self.by_layout(key).into_values().collect()
    }

    /// Time of an operation, ns. `key` may be from any layout.
    pub fn figure(&self, key: &Key) -> Option<Centre> {
        centre(&self.times_ns(key))
    }

    /// The added time, ns: the centre of the layouts' differences.
    pub fn added(&self, base: &Key, tested: &Key) -> Option<Centre> {
        let [of_base, of_tested] = [base, tested].map(|key| self.by_layout(key));
        self.difference(base, &of_base, &of_tested)
    }

    /// Total time of operations, as a multiple of the others'.
    pub fn ratio(&self, base: &[&Key], tested: &[&Key]) -> Option<Centre> {
        let logarithms = |keys: &[&Key]| -> ByLayout {
            let all: Vec<ByLayout> = keys.iter().map(|key| self.by_layout(key)).collect();
            let first = all.iter().take(1).flat_map(BTreeMap::keys);
            let sums = first.filter_map(|number| {
                let parts = all.iter().map(|by_layout| by_layout.get(number).copied());
                Some((*number, parts.sum::<Option<f64>>()?.ln()))
            });
            sums.collect()
        };
        let difference = self.difference(base.first()?, &logarithms(base), &logarithms(tested))?;
        Some(Centre {
            value: difference.value.exp(),
            ci95: difference.ci95.map(f64::exp),
        })
    }

    fn is_paired(&self, base: &Key) -> bool {
        let other = self
            .baseline
            .filter(|other| self.without_number(base).kernel == other.kernel);
        other.is_none_or(|other| other.is_paired)
    }

    fn difference(&self, base: &Key, of_base: &ByLayout, of_tested: &ByLayout) -> Option<Centre> {
        if self.is_paired(base) {
            let pairs = of_tested.iter();
            let differences =
                pairs.filter_map(|(number, tested)| Some(tested - of_base.get(number)?));
            return centre(&differences.collect::<Vec<f64>>());
        }
        shift(&values(of_base), &values(of_tested))
    }

    /// Added ns per path component, for an operation or for a stack's overhead: the centre of the
    /// layouts' slopes (Theil and Sen). Each point has a depth, a cell and, for an overhead, a
    /// baseline.
    pub fn slope(&self, points: &[(f64, &Key, Option<&Key>)]) -> Option<Centre> {
        let depths: Vec<f64> = points.iter().map(|(depth, ..)| *depth).collect();
        let tested = points.iter().map(|(_, key, _)| self.by_layout(key));
        let tested: Vec<ByLayout> = tested.collect();
        let bases = points.iter().map(|(.., base)| *base);
        let Some(bases) = bases.collect::<Option<Vec<_>>>() else {
            return centre(&values(&slopes(&depths, &tested)));
        };
        let base: Vec<ByLayout> = bases.iter().map(|key| self.by_layout(key)).collect();
        if !self.is_paired(bases.first()?) {
            let [base, tested] = [base, tested].map(|times| values(&slopes(&depths, &times)));
            return shift(&base, &tested);
        }
        let added = tested.iter().zip(&base).map(|(tested, base)| {
            let added = tested.iter();
            let added = added.filter_map(|(number, ns)| Some((*number, ns - base.get(number)?)));
            added.collect()
        });
        centre(&values(&slopes(&depths, &added.collect::<Vec<_>>())))
    }
}

fn slopes(depths: &[f64], figures: &[ByLayout]) -> ByLayout {
    let numbers = figures.iter().take(1).flat_map(BTreeMap::keys);
    let slopes = numbers.filter_map(|number| {
        let of_layout = figures.iter().map(|times| times.get(number).copied());
        let line = median_line(depths, &of_layout.collect::<Option<Vec<f64>>>()?).ok()?;
        Some((*number, line.slopes.first()?.value))
    });
    slopes.collect()
}

fn values(by_layout: &ByLayout) -> Vec<f64> {
    by_layout.values().copied().collect()
}

/// Time of an operation on one kernel under one stack, in the metric's unit.
pub fn quiet(timed: &Timed) -> f64 {
    let rounds = quiet_rounds(timed).to_vec();
    standing_for(rounds, was_left_alone(timed)).unwrap_or(timed.estimate.median)
}

fn was_left_alone(timed: &Timed) -> bool {
    timed.disturbed == Some(false)
}

/// Undisturbed rounds differ only by their boot: their median is used, or else [`QUIET_ROUND`].
fn standing_for(mut rounds: Vec<f64>, were_left_alone: bool) -> Option<f64> {
    rounds.sort_unstable_by(f64::total_cmp);
    (!rounds.is_empty()).then(|| match were_left_alone {
        true => median_of_sorted(&rounds),
        false => quantile_of_sorted(&rounds, QUIET_ROUND),
    })
}

/// Older result files have only the rounds' medians.
fn quiet_rounds(timed: &Timed) -> &[f64] {
    if timed.quiet.is_empty() {
        &timed.rounds
    } else {
        &timed.quiet
    }
}

/// False alarms of intervals over layouts: in runs without a change, two at a time, stacks are
/// compared with themselves.
pub fn aa_layouts(runs: &[Document]) -> Vec<AaLayouts> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let drawn: Vec<Vec<Layouts<'_>>> = runs.iter().map(Layouts::in_run).collect();
    let all = Layouts::in_run(first).into_iter();
    let all = all.filter_map(|layouts| {
        let pairs = drawn.chunks_exact(2).filter_map(|pair| {
            let find = |run: &'_ [Layouts<'_>]| {
                let matches = |other: &Layouts<'_>| {
                    (other.kernel, other.filesystem) == (layouts.kernel, layouts.filesystem)
                };
                run.iter().position(matches)
            };
            Some((&pair[0][find(&pair[0])?], &pair[1][find(&pair[1])?]))
        });
        let intervals: Vec<Interval> = pairs.flat_map(|(a, b)| intervals(a, b)).collect();
        report(&layouts, first, &intervals)
    });
    all.collect()
}

struct Interval {
    operation: String,
    is_false: bool,
    half_width_ns: f64,
    ns: f64,
}

impl Interval {
    fn half_width(&self) -> f64 {
        self.half_width_ns / self.ns
    }
}

/// For every stack and operation, rounds of both runs are dealt alternately to two sides.
fn intervals(a: &Layouts<'_>, b: &Layouts<'_>) -> Vec<Interval> {
    let of_key = |key: &Key| {
        let both: [BTreeMap<u32, &Timed>; 2] = [a, b].map(|run| run.of_key(key).collect());
        let layouts: BTreeSet<u32> = both.iter().flat_map(BTreeMap::keys).copied().collect();
        let mut figures = Vec::new();
        let mut differences = Vec::new();
        for (at, layout) in layouts.into_iter().enumerate() {
            let runs = both.iter().filter_map(|run| run.get(&layout).copied());
            let runs: Vec<&Timed> = runs.collect();
            let rounds = runs.iter().flat_map(|timed| quiet_rounds(timed)).copied();
            let mut rounds: Vec<f64> = rounds.collect();
            let were_left_alone = runs.iter().all(|timed| was_left_alone(timed));
            // The quartile of more rounds is lower, so both sides get equally many.
            rounds.truncate(rounds.len() / 2 * 2);
            let name = |first| {
                let own = rounds.iter().skip(first).step_by(2).copied();
                standing_for(own.collect(), were_left_alone)
            };
            // The first side alternates between layouts, so that drift favours neither.
            let [first, second] = if at % 2 == 0 { [0, 1] } else { [1, 0] };
            if let (Some(a), Some(b)) = (name(first), name(second)) {
                figures.push(a);
                differences.push(b - a);
            }
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

fn report(layouts: &Layouts<'_>, run: &Document, intervals: &[Interval]) -> Option<AaLayouts> {
    let by_width = |a: &&Interval, b: &&Interval| a.half_width().total_cmp(&b.half_width());
    let widest = intervals.iter().max_by(by_width)?;
    let mut half_widths: Vec<f64> = intervals.iter().map(Interval::half_width).collect();
    half_widths.sort_unstable_by(f64::total_cmp);
    let getppid = layouts.keys.iter().filter(|key| key.benchmark() == GETPPID);
    let getppid = getppid.filter_map(|key| {
        let added = layouts.added(&run.baseline_of(key)?, key)?;
        Some(added.value.abs())
    });
    let rounds = layouts.cells.values().flat_map(BTreeMap::values);
    let rounds = rounds.map(|timed| quiet_rounds(timed).len()).max();
    let alarms = intervals.iter().filter(|interval| interval.is_false);
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Some(AaLayouts {
        kernel: layouts.kernel.to_owned(),
        filesystem: layouts.filesystem.to_owned(),
        layouts: small(layouts.count()),
        rounds: small(rounds.unwrap_or(0)),
        intervals: intervals.len() as u64,
        false_intervals: alarms.count() as u64,
        half_width_median: median_of_sorted(&half_widths),
        half_width_largest: widest.half_width(),
        widest: widest.operation.clone(),
        half_width_largest_ns: widest.half_width_ns,
        getppid_largest_ns: getppid.reduce(f64::max),
    })
}
