// SPDX-License-Identifier: GPL-2.0-or-later
//! Sums of intervals, by the labels of a series.

use std::collections::BTreeMap;

use model::{Bucket, Calls, Interval, WatchedHook};

use super::label;

const FRAMEWORK: &str = "framework";

/// Buckets have bounds at powers of two ns, from this one on: less is below the clock's resolution.
const FIRST_POWER: u32 = 4;
/// The last bound, about a second. Equal buckets everywhere can be summed.
const LAST_POWER: u32 = 30;
const BOUNDS: usize = (LAST_POWER - FIRST_POWER + 1) as usize;

pub type Function = [String; 2];
pub type FunctionAnd = [String; 3];

#[derive(Debug, Default)]
pub struct Sums {
    pub calls: BTreeMap<FunctionAnd, u64>,
    pub time_ns: BTreeMap<FunctionAnd, u64>,
    pub errors: BTreeMap<FunctionAnd, u64>,
    pub durations: BTreeMap<Function, Durations>,
    /// Number of whole system calls, by name.
    pub whole_calls: BTreeMap<[String; 1], u64>,
    pub whole_ns: BTreeMap<[String; 1], u64>,
    pub lost: u64,
}

#[derive(Debug, Default)]
pub struct Durations {
    pub buckets: [u64; BOUNDS + 1],
    pub sum_ns: u64,
}

#[derive(Debug, Default)]
pub struct Highest {
    time_ns: BTreeMap<FunctionAnd, u64>,
    durations_ns: BTreeMap<Function, u64>,
    whole_ns: BTreeMap<[String; 1], u64>,
}

pub fn upper_bounds() -> impl Iterator<Item = f64> {
    (FIRST_POWER..=LAST_POWER)
        .map(|power| seconds(1 << power))
        .chain([f64::INFINITY])
}

pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Durations {
    /// The buckets' sum, so that they cannot contradict.
    pub fn count(&self) -> u64 {
        let buckets = self.buckets.iter();
        buckets.fold(0, |sum, &calls| sum.saturating_add(calls))
    }

    fn add(&mut self, bucket: &Bucket) {
        let bounds = FIRST_POWER..=LAST_POWER;
        let fits = |to_ns: u64| bounds.clone().position(|power| to_ns <= 1 << power);
        let at = bucket.to_ns.and_then(fits).unwrap_or(BOUNDS);
        // Buckets are added when they are written: their sum must not overflow.
        let calls = bucket.count.min(u64::MAX - self.count());
        self.buckets[at] += calls;
    }
}

impl Sums {
    pub fn of<'a>(
        intervals: impl IntoIterator<Item = &'a Interval>,
        highest: &mut Highest,
    ) -> Sums {
        let mut sums = Sums::default();
        let mut time_ns: BTreeMap<FunctionAnd, i64> = BTreeMap::new();
        let mut durations_ns: BTreeMap<Function, i64> = BTreeMap::new();
        let mut whole_ns: BTreeMap<[String; 1], i64> = BTreeMap::new();
        for interval in intervals {
            for whole in &interval.system_calls {
                let of = [label(&whole.system_call)];
                let sum_ns = whole_ns.entry(of.clone()).or_default();
                *sum_ns = sum_ns.saturating_add(whole.sum_ns);
                add(sums.whole_calls.entry(of).or_default(), whole.count);
            }
            add(&mut sums.lost, interval.lost);
            for hook in &interval.hooks {
                let of @ [name, module] = &function(hook);
                for call in &hook.system_calls {
                    let of = [name.clone(), module.clone(), label(&call.system_call)];
                    add_time(&mut time_ns, &of, &call.calls);
                    add(sums.calls.entry(of).or_default(), call.calls.count);
                }
                for (errno, count) in &hook.errnos {
                    let of = [name.clone(), module.clone(), label(errno)];
                    add(sums.errors.entry(of).or_default(), *count);
                }
                if !hook.histogram.is_empty() {
                    let durations = sums.durations.entry(of.clone()).or_default();
                    hook.histogram
                        .iter()
                        .for_each(|bucket| durations.add(bucket));
                    add_time(&mut durations_ns, of, &hook.calls);
                }
            }
        }
        sums.whole_ns = never_less(whole_ns, &mut highest.whole_ns);
        sums.time_ns = never_less(time_ns, &mut highest.time_ns);
        for (of, sum_ns) in never_less(durations_ns, &mut highest.durations_ns) {
            sums.durations.entry(of).or_default().sum_ns = sum_ns;
        }
        sums
    }
}

fn function(hook: &WatchedHook) -> Function {
    let module = hook.module.as_deref().unwrap_or(FRAMEWORK);
    [label(&hook.hook), label(module)]
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn add_time<K: Ord + Clone>(sums: &mut BTreeMap<K, i64>, of: &K, calls: &Calls) {
    if let Some(ns) = calls.sum_ns {
        let sum = sums.entry(of.clone()).or_default();
        *sum = sum.saturating_add(ns);
    }
}

/// The sums, but not less than before, and at least 0.
fn never_less<K: Ord + Clone>(
    sums: BTreeMap<K, i64>,
    highest: &mut BTreeMap<K, u64>,
) -> BTreeMap<K, u64> {
    let raised = sums.into_iter().map(|(of, sum)| {
        let sum = u64::try_from(sum).unwrap_or(0);
        let highest = highest.entry(of.clone()).or_default();
        *highest = (*highest).max(sum);
        (of, *highest)
    });
    raised.collect()
}
