// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts at a point in time, and their differences.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use model::MonitorMode;

use crate::histogram::Histogram;
use crate::hooks::Probe;
use crate::layout::{
    BUCKETS, ERRNOS, KEY_NONE, KEYS, Layout, ROW_BUCKETS, ROW_COUNT, ROW_ERRORS, ROW_MAX, ROW_MIN,
    ROW_SUM, WHOLE_WORDS, shared,
};
use crate::object::Object;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SystemCall {
    /// An x86-64 number.
    Number(u16),
    /// Outside: a kernel thread, a page fault, or an interrupt.
    None,
    /// Of i386 or x32, from 512 on, or without a free row.
    Other,
}

impl SystemCall {
    fn of_key(key: usize) -> SystemCall {
        match key {
            KEY_NONE => SystemCall::None,
            0..KEY_NONE => SystemCall::Number(key as u16),
            _ => SystemCall::Other,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures {
    pub count: u64,
    /// Calls that returned an error; 0 in count mode.
    pub errors: u64,
    /// Total time in ns, without the monitor's cost. It can be negative for calls shorter than the
    /// calibration's spread. 0 in count mode.
    pub sum_ns: i64,
    /// In ns. None without calls, in count mode, and in a difference.
    pub min_ns: Option<u64>,
    /// In ns, like `min_ns`.
    pub max_ns: Option<u64>,
    pub histogram: Option<Histogram>,
}

impl Figures {
    /// In ns; None without calls.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    pub fn add(&mut self, other: &Figures) {
        self.count = self.count.wrapping_add(other.count);
        self.errors = self.errors.wrapping_add(other.errors);
        self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns);
        self.min_ns = self.min_ns.into_iter().chain(other.min_ns).min();
        self.max_ns = self.max_ns.into_iter().chain(other.max_ns).max();
        if let Some(theirs) = &other.histogram {
            self.histogram.get_or_insert_default().add(theirs);
        }
    }

    /// Counters only grow, but reads are not atomic: a later one may be smaller.
    fn since(&self, earlier: &Figures) -> Figures {
        if earlier.count == 0 {
            return self.clone();
        }
        let mut histogram = self.histogram.clone();
        if let (Some(mine), Some(theirs)) = (&mut histogram, &earlier.histogram) {
            mine.take_off(theirs);
        }
        Figures {
            count: self.count.saturating_sub(earlier.count),
            errors: self.errors.saturating_sub(earlier.errors),
            sum_ns: self.sum_ns.wrapping_sub(earlier.sum_ns),
            min_ns: None,
            max_ns: None,
            histogram,
        }
    }

    fn is_empty(&self) -> bool {
        self.count == 0 && self.errors == 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whole {
    pub count: u64,
    /// Total time in ns, including waiting, without the monitor's cost in hooks.
    pub sum_ns: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFigures {
    pub probe: Arc<Probe>,
    /// Only system calls in which it was called.
    pub system_calls: BTreeMap<SystemCall, Figures>,
    /// Calls that returned an error, by errno; 0 for 134 and above. Empty in count mode. Some hooks
    /// return `EOPNOTSUPP` or `ENOSYS` for "no opinion"; a denial is `EACCES` or `EPERM`.
    pub errnos: BTreeMap<u16, u64>,
}

impl HookFigures {
    #[must_use]
    pub fn total(&self) -> Figures {
        let mut total = Figures::default();
        for figures in self.system_calls.values() {
            total.add(figures);
        }
        total
    }
}

/// Seen calls that are not in any figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lost {
    /// Too many tasks were in hooks at once.
    pub no_stack: u64,
    /// More than ten nested calls of one task.
    pub too_deep: u64,
    /// Calls without a seen end.
    pub abandoned: u64,
    /// On a processor that was added after the start.
    pub no_processor: u64,
}

impl Lost {
    #[must_use]
    pub fn total(&self) -> u64 {
        let nested = self.no_stack.saturating_add(self.too_deep);
        let others = self.abandoned.saturating_add(self.no_processor);
        nested.saturating_add(others)
    }

    fn since(&self, earlier: &Lost) -> Lost {
        Lost {
            no_stack: self.no_stack.saturating_sub(earlier.no_stack),
            too_deep: self.too_deep.saturating_sub(earlier.too_deep),
            abandoned: self.abandoned.saturating_sub(earlier.abandoned),
            no_processor: self.no_processor.saturating_sub(earlier.no_processor),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub taken: Instant,
    pub elapsed: Duration,
    /// All probed functions, always in the same order.
    pub hooks: Vec<HookFigures>,
    /// Whole system calls, if they are timed; only those that occurred.
    pub wholes: BTreeMap<SystemCall, Whole>,
    pub lost: Lost,
    /// Pairs of a function and a system call without a row, which count as [`SystemCall::Other`].
    pub pairs_refused: u64,
}

impl Snapshot {
    #[must_use]
    pub fn since(&self, earlier: &Snapshot) -> Snapshot {
        let none = Figures::default();
        let hooks = self.hooks.iter().enumerate().map(|(at, hook)| {
            let before = earlier.hooks.get(at);
            let calls = hook.system_calls.iter().map(|(call, figures)| {
                let before = before.and_then(|before| before.system_calls.get(call));
                (*call, figures.since(before.unwrap_or(&none)))
            });
            let errnos = hook.errnos.iter().map(|(errno, count)| {
                let before = before.and_then(|before| before.errnos.get(errno));
                (*errno, count.saturating_sub(*before.unwrap_or(&0)))
            });
            HookFigures {
                probe: Arc::clone(&hook.probe),
                system_calls: calls.filter(|(_, calls)| !calls.is_empty()).collect(),
                errnos: errnos.filter(|(_, count)| *count > 0).collect(),
            }
        });
        let wholes = self.wholes.iter().map(|(call, whole)| {
            let before = earlier.wholes.get(call).copied().unwrap_or_default();
            let since = Whole {
                count: whole.count.saturating_sub(before.count),
                sum_ns: whole.sum_ns.saturating_sub(before.sum_ns),
            };
            (*call, since)
        });
        Snapshot {
            taken: self.taken,
            elapsed: self.taken.saturating_duration_since(earlier.taken),
            hooks: hooks.collect(),
            wholes: wholes.filter(|(_, whole)| whole.count > 0).collect(),
            lost: self.lost.since(&earlier.lost),
            pairs_refused: self.pairs_refused.saturating_sub(earlier.pairs_refused),
        }
    }
}

pub(crate) struct Reader<'a> {
    pub object: &'a Object,
    pub layout: &'a Layout,
    pub mode: MonitorMode,
}

impl Reader<'_> {
    pub fn system_calls(&self, probe: usize) -> BTreeMap<SystemCall, Figures> {
        let mut system_calls: BTreeMap<SystemCall, Figures> = BTreeMap::new();
        let rest = (1 + probe) * self.layout.row_words;
        let mut rest_is_used = false;
        let keys = &self.object.row_at()[probe * KEYS..(probe + 1) * KEYS];
        for (key, at) in keys.iter().enumerate() {
            let at = at.load(Ordering::Relaxed) as usize;
            if at == 0 {
                continue;
            }
            if at == rest {
                rest_is_used = true;
                continue;
            }
            if let Some(figures) = self.row(at) {
                let call = SystemCall::of_key(key);
                system_calls.entry(call).or_default().add(&figures);
            }
        }
        if rest_is_used && let Some(figures) = self.row(rest) {
            system_calls
                .entry(SystemCall::Other)
                .or_default()
                .add(&figures);
        }
        system_calls.retain(|_, figures| !figures.is_empty());
        system_calls
    }

    fn row(&self, at: usize) -> Option<Figures> {
        let Layout {
            row_words,
            rows,
            stride,
            cpus,
            ..
        } = *self.layout;
        if !at.is_multiple_of(row_words) || at >= rows * row_words {
            return None;
        }
        let mut sum = Figures::default();
        for cpu in 0..cpus {
            let start = cpu * stride / 8 + at;
            let row = self.object.rows().get(start..start + row_words)?;
            let word = |number: usize| row[number].load(Ordering::Relaxed);
            let mut figures = Figures {
                count: word(ROW_COUNT),
                ..Figures::default()
            };
            if self.mode == MonitorMode::Histogram {
                let mut histogram = Histogram::default();
                for bucket in 0..BUCKETS {
                    histogram.buckets[bucket] = word(ROW_BUCKETS + bucket);
                }
                figures.count = histogram.count();
                figures.histogram = Some(histogram);
            }
            if self.mode != MonitorMode::Count {
                figures.errors = word(ROW_ERRORS);
                figures.sum_ns = word(ROW_SUM).cast_signed();
                if figures.count > 0 {
                    figures.min_ns = Some(!word(ROW_MIN)).filter(|&ns| ns < u64::MAX);
                    figures.max_ns = Some(word(ROW_MAX));
                }
            }
            sum.add(&figures);
        }
        Some(sum)
    }

    pub fn errnos(&self, probe: usize) -> BTreeMap<u16, u64> {
        let table = &self.object.errors()[probe * ERRNOS..(probe + 1) * ERRNOS];
        (0u16..)
            .zip(table.iter().map(|count| count.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Whole system calls without the monitor's cost in `hooks`: `added_ns` per call.
    pub fn wholes(&self, hooks: &[HookFigures], added_ns: u32) -> BTreeMap<SystemCall, Whole> {
        let mut wholes: BTreeMap<SystemCall, Whole> = BTreeMap::new();
        if !self.layout.system_calls {
            return wholes;
        }
        let words = self.object.wholes();
        for (at, whole) in words.chunks_exact(WHOLE_WORDS).enumerate() {
            let count = whole[0].load(Ordering::Relaxed);
            if count > 0 {
                let sum = wholes.entry(SystemCall::of_key(at % KEYS)).or_default();
                sum.count = sum.count.wrapping_add(count);
                let sum_ns = whole[1].load(Ordering::Relaxed).cast_signed();
                sum.sum_ns = sum.sum_ns.wrapping_add(sum_ns);
            }
        }
        for (call, figures) in hooks.iter().flat_map(|hook| &hook.system_calls) {
            if let Some(whole) = wholes.get_mut(call) {
                let added_ns = figures.count.wrapping_mul(added_ns.into());
                whole.sum_ns = whole.sum_ns.wrapping_sub(added_ns.cast_signed());
            }
        }
        wholes
    }

    pub fn lost(&self) -> Lost {
        let word = |at: usize| self.object.shared()[at].load(Ordering::Relaxed);
        Lost {
            no_stack: word(shared::NO_STACK),
            too_deep: word(shared::TOO_DEEP),
            abandoned: word(shared::ABANDONED),
            no_processor: word(shared::NO_PROCESSOR),
        }
    }

    pub fn pairs_refused(&self) -> u64 {
        self.object.shared()[shared::ROWS_REFUSED].load(Ordering::Relaxed)
    }
}
