// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls of hooks: on a live machine over time, and in one operation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start, in seconds after the start of the recording.
    pub begin_s: f64,
    pub seconds: f64,
    pub hooks: Vec<WatchedHook>,
    /// System calls as a whole, if timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system_calls: Vec<WholeSystemCall>,
    /// Number of lost calls, which no value includes.
    #[serde(default)]
    pub lost: u64,
}

/// A system call from entry to exit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WholeSystemCall {
    pub system_call: String,
    pub count: u64,
    /// Total time in ns, waiting included, without the overhead of watching hooks.
    pub sum_ns: i64,
}

/// Calls of a function: a hook's, or a module's implementation.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedHook {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// The function: `security_inode_permission`, `selinux_inode_permission`.
    pub function: String,
    /// Module of the function; None for the framework.
    pub module: Option<String>,
    #[serde(flatten)]
    pub calls: Calls,
    /// Calls that returned an error, by its name: `EACCES`. `EACCES` and `EPERM` are denials; with
    /// other errors a module may only abstain.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errnos: BTreeMap<String, u64>,
    /// Durations of all calls in powers of two; empty buckets are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<Bucket>,
    /// The calls by system call.
    pub system_calls: Vec<WatchedSystemCall>,
}

/// Calls of a function in one system call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedSystemCall {
    /// The system call: `openat`; `none` outside system calls, `other` if not distinguished.
    pub system_call: String,
    #[serde(flatten)]
    pub calls: Calls,
}

/// Calls and their duration. No times if calls were only counted.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calls {
    pub count: u64,
    /// Calls that returned an error.
    #[serde(default)]
    pub errors: u64,
    /// Total time in ns, without the overhead of watching. Negative if the calls were shorter than
    /// the variation of that overhead.
    pub sum_ns: Option<i64>,
    /// Shortest since the start, in ns.
    pub min_ns: Option<u64>,
    /// Longest since the start, in ns.
    pub max_ns: Option<u64>,
    /// 50th, 90th and 99th percentile in ns, accurate to the histogram's bucket (a factor of two).
    pub percentiles_ns: Option<Percentiles>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// Median, in ns.
    pub p50: f64,
    /// 90th, in ns.
    pub p90: f64,
    /// 99th, in ns.
    pub p99: f64,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// Lower end in ns, inclusive.
    pub from_ns: u64,
    /// Upper end in ns, exclusive; None for the last possible bucket.
    pub to_ns: Option<u64>,
    pub count: u64,
}

impl Percentiles {
    /// None for an empty histogram. The bucket of a percentile is exact. Within it, times are
    /// assumed uniform on a logarithmic scale, so the error is below a factor of two. In a bucket
    /// that begins at 0 or has no end, the percentile is the bucket's start.
    pub fn from_histogram(histogram: &[Bucket]) -> Option<Percentiles> {
        let count: u128 = histogram.iter().map(|b| u128::from(b.count)).sum();
        (count > 0).then(|| {
            let at = |share: f64| percentile_ns(histogram, share * count as f64);
            Percentiles {
                p50: at(0.5),
                p90: at(0.9),
                p99: at(0.99),
            }
        })
    }
}

fn percentile_ns(histogram: &[Bucket], rank: f64) -> f64 {
    let mut before = 0.0;
    let mut last = 0.0;
    for bucket in histogram.iter().filter(|bucket| bucket.count > 0) {
        let calls = bucket.count as f64;
        let within = ((rank - before) / calls).clamp(0.0, 1.0);
        let from = bucket.from_ns as f64;
        last = match bucket.to_ns {
            Some(to) if bucket.from_ns > 0 => from * (to as f64 / from).powf(within),
            _ => from,
        };
        before += calls;
        if before >= rank {
            break;
        }
    }
    last
}

impl Calls {
    /// Adds calls of the same function at another time or place. Percentiles cannot be added and
    /// are dropped.
    pub fn add(&mut self, other: &Calls) {
        if self.count == 0 {
            self.clone_from(other);
            self.percentiles_ns = None;
            return;
        }
        // The times are known for all calls or for none.
        let both = self.min_ns.zip(other.min_ns);
        self.min_ns = both.map(|(mine, theirs)| mine.min(theirs));
        let both = self.max_ns.zip(other.max_ns);
        self.max_ns = both.map(|(mine, theirs)| mine.max(theirs));
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.sum_ns = match (self.sum_ns, other.sum_ns) {
            (Some(mine), Some(theirs)) => Some(mine.saturating_add(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.percentiles_ns = None;
    }

    pub fn mean_ns(&self) -> Option<f64> {
        let sum_ns = self.sum_ns?;
        (self.count > 0).then(|| sum_ns as f64 / self.count as f64)
    }
}

impl Interval {
    pub fn sum<'a>(intervals: impl IntoIterator<Item = &'a Interval>) -> Interval {
        let mut hooks: BTreeMap<(&str, &str), WatchedHook> = BTreeMap::new();
        let mut wholes: BTreeMap<&str, WholeSystemCall> = BTreeMap::new();
        let mut begin_s = None;
        let mut seconds = 0.0;
        let mut lost: u64 = 0;
        for interval in intervals {
            begin_s.get_or_insert(interval.begin_s);
            seconds += interval.seconds;
            lost = lost.saturating_add(interval.lost);
            for hook in &interval.hooks {
                hooks
                    .entry((&hook.hook, &hook.function))
                    .and_modify(|sum| sum.add(hook))
                    .or_insert_with(|| hook.clone());
            }
            for whole in &interval.system_calls {
                wholes
                    .entry(&whole.system_call)
                    .and_modify(|sum| {
                        sum.count = sum.count.saturating_add(whole.count);
                        sum.sum_ns = sum.sum_ns.saturating_add(whole.sum_ns);
                    })
                    .or_insert_with(|| whole.clone());
            }
        }
        Interval {
            begin_s: begin_s.unwrap_or(0.0),
            seconds,
            hooks: hooks.into_values().collect(),
            system_calls: wholes.into_values().collect(),
            lost,
        }
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        if !(self.seconds.is_finite() && self.seconds >= 0.0) {
            return Some("its duration is not positive".to_owned());
        }
        self.hooks.iter().find_map(WatchedHook::contradiction)
    }

    /// None if not timed, or if the time is 0.
    pub fn whole(&self, system_call: &str) -> Option<&WholeSystemCall> {
        let mut wholes = self.system_calls.iter();
        wholes.find(|whole| whole.system_call == system_call && whole.sum_ns > 0)
    }

    /// Fraction of a system call's time that is spent in a function; None if not timed. It is above
    /// 1 if calls did not end in this interval.
    pub fn share_of_system_call(&self, call: &WatchedSystemCall) -> Option<f64> {
        self.share_of_system_calls([call])
    }

    /// Fraction of the time of all these system calls, as in
    /// [`share_of_system_call`](Interval::share_of_system_call). For a hook, these are the system
    /// calls that called it.
    pub fn share_of_system_calls<'a>(
        &self,
        calls: impl IntoIterator<Item = &'a WatchedSystemCall>,
    ) -> Option<f64> {
        let (own_ns, whole_ns) = calls
            .into_iter()
            .filter_map(|call| {
                let whole = self.whole(&call.system_call)?;
                Some((call.calls.sum_ns?.max(0) as f64, whole.sum_ns as f64))
            })
            .fold((0.0, 0.0), |sum, call| (sum.0 + call.0, sum.1 + call.1));
        (whole_ns > 0.0).then(|| own_ns / whole_ns)
    }
}

impl WatchedHook {
    pub fn denials(&self) -> u64 {
        ["EACCES", "EPERM"]
            .into_iter()
            .filter_map(|errno| self.errnos.get(errno))
            .fold(0, |sum, &count| sum.saturating_add(count))
    }

    fn add(&mut self, other: &WatchedHook) {
        self.calls.add(&other.calls);
        for (errno, count) in &other.errnos {
            let mine = self.errnos.entry(errno.clone()).or_default();
            *mine = mine.saturating_add(*count);
        }
        for theirs in &other.histogram {
            match self
                .histogram
                .iter_mut()
                .find(|mine| mine.from_ns == theirs.from_ns)
            {
                Some(mine) => mine.count = mine.count.saturating_add(theirs.count),
                None => self.histogram.push(*theirs),
            }
        }
        self.histogram.sort_by_key(|bucket| bucket.from_ns);
        self.calls.percentiles_ns = Percentiles::from_histogram(&self.histogram);
        for theirs in &other.system_calls {
            let mut mine = self.system_calls.iter_mut();
            match mine.find(|mine| mine.system_call == theirs.system_call) {
                Some(mine) => mine.calls.add(&theirs.calls),
                None => self.system_calls.push(theirs.clone()),
            }
        }
    }

    fn contradiction(&self) -> Option<String> {
        let inner = self.system_calls.iter();
        let sum: u128 = inner.map(|call| u128::from(call.calls.count)).sum();
        (sum != u128::from(self.calls.count)).then(|| {
            format!(
                "{} was called {} times in total, but {sum} times in system calls",
                self.function, self.calls.count
            )
        })
    }
}
