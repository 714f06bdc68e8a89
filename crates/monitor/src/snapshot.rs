// SPDX-License-Identifier: GPL-2.0-or-later
//! What was counted until a moment, and between two of them.

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

/// In which system call a hook was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SystemCall {
    /// One of x86-64, by its number.
    Number(u16),
    /// None: a thread of the kernel, a page fault, or an interrupt of the program itself.
    None,
    /// One of i386 or x32, one from 512 on, or one that came when all rows were taken.
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

/// Calls of a function, in one system call or in all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures {
    pub count: u64,
    /// Calls that returned an error; 0 when only counting.
    pub errors: u64,
    /// Time in all calls in ns, without what the monitor added. It can fall below 0,
    /// where calls are shorter than the calibration's spread. 0 when only counting.
    pub sum_ns: i64,
    /// Shortest call in ns. None without calls, when only counting, and in a difference.
    pub min_ns: Option<u64>,
    /// Longest call in ns, like `min_ns`.
    pub max_ns: Option<u64>,
    /// Times of all calls, if they are kept.
    pub histogram: Option<Histogram>,
}

impl Figures {
    /// Mean time of a call in ns; None without calls.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Adds calls of the same function elsewhere.
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

    /// Counters only grow, but one read before another may be behind it.
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

/// System calls as a whole, from entry to exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whole {
    pub count: u64,
    /// Time in all of them in ns, with what they waited and without what the monitor's
    /// programs on hooks added.
    pub sum_ns: i64,
}

/// What is known of one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFigures {
    pub probe: Arc<Probe>,
    /// By system call; those in which it was not called are left out.
    pub system_calls: BTreeMap<SystemCall, Figures>,
    /// Calls that returned an error, by errno; 0 stands for 134 and above. Empty when
    /// only counting. Some hooks return an error to say that they have nothing to say
    /// (`EOPNOTSUPP`, `ENOSYS`): a denial is `EACCES` or `EPERM`.
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

/// Calls that were seen, and that are in no figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lost {
    /// Too many tasks were in hooks at once.
    pub no_stack: u64,
    /// More than ten calls of one task were under way, one in the other.
    pub too_deep: u64,
    /// They never came to an end that was seen.
    pub abandoned: u64,
    /// On a processor that was not there at the start.
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

/// Everything that was counted from the start, or from another snapshot, to a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub taken: Instant,
    /// Time since the start, or since the other snapshot.
    pub elapsed: Duration,
    /// All probed functions, also those that were not called, always in the same order.
    pub hooks: Vec<HookFigures>,
    /// System calls as a whole, if they are timed; those that did not occur are left out.
    pub wholes: BTreeMap<SystemCall, Whole>,
    /// Calls that are in no figure.
    pub lost: Lost,
    /// Pairs of a function and a system call that have no row, since all were taken;
    /// they count as [`SystemCall::Other`].
    pub pairs_refused: u64,
}

impl Snapshot {
    /// What came after an earlier snapshot of the same monitor.
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
    /// The figures of the probe with this number, by system call.
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

    /// System calls as a whole, less what watching `hooks` added to them: `added_ns` for
    /// each of their calls.
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
