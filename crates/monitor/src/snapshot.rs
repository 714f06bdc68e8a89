// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts at a point in time, and their differences.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use model::MonitorMode;

use crate::hooks::Probe;
use crate::layout::{
    BUCKETS, ERRNOS, KEYS, LOST, Layout, ROW_BUCKETS, ROW_COUNT, ROW_ERRORS, ROW_MAX, ROW_MIN,
    ROW_SUM, WHOLE_WORDS, shared,
};
use crate::object::Object;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures {
    pub count: u64,
    /// Calls that returned an error; 0 in count mode.
    pub errors: u64,
    /// Total time in ns, without the monitor's cost. It can be negative for calls that are shorter
    /// than the variation of the calibration. 0 in count mode.
    pub sum_ns: i64,
    /// In ns. None if there are no calls, in count mode, and in a difference.
    pub min_ns: Option<u64>,
    /// In ns, like `min_ns`.
    pub max_ns: Option<u64>,
    /// Calls by time ([`crate::layout::bounds_ns`]); empty unless in histogram mode.
    pub buckets: Vec<u64>,
}

impl Figures {
    pub fn add(&mut self, other: &Figures) {
        self.count = self.count.wrapping_add(other.count);
        self.errors = self.errors.wrapping_add(other.errors);
        self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns);
        self.min_ns = self.min_ns.into_iter().chain(other.min_ns).min();
        self.max_ns = self.max_ns.into_iter().chain(other.max_ns).max();
        if self.buckets.is_empty() {
            self.buckets.clone_from(&other.buckets);
            return;
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine = mine.wrapping_add(*theirs);
        }
    }

    /// Counters only grow, but reads are not atomic, so a later value may be smaller.
    fn since(&self, earlier: &Figures) -> Figures {
        let mut since = self.clone();
        if earlier.count == 0 {
            return since;
        }
        since.count = self.count.saturating_sub(earlier.count);
        since.errors = self.errors.saturating_sub(earlier.errors);
        since.sum_ns = self.sum_ns.wrapping_sub(earlier.sum_ns);
        (since.min_ns, since.max_ns) = (None, None);
        for (mine, theirs) in since.buckets.iter_mut().zip(&earlier.buckets) {
            *mine = mine.saturating_sub(*theirs);
        }
        since
    }
}

/// Figures by [`Snapshot`]'s keys of system calls; only those that occurred.
pub type BySystemCall = BTreeMap<u16, Figures>;

fn since(now: &BySystemCall, earlier: Option<&BySystemCall>) -> BySystemCall {
    let none = Figures::default();
    let calls = now.iter().map(|(call, figures)| {
        let before = earlier.and_then(|earlier| earlier.get(call));
        (*call, figures.since(before.unwrap_or(&none)))
    });
    calls.filter(|(_, figures)| occurred(figures)).collect()
}

fn occurred(figures: &Figures) -> bool {
    figures.count > 0 || figures.errors > 0
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFigures {
    pub probe: Arc<Probe>,
    /// Only system calls in which the function was called.
    pub system_calls: BySystemCall,
    /// Calls that returned an error, by errno; 0 for 134 and above. Empty in count mode. Some hooks
    /// return `EOPNOTSUPP` or `ENOSYS` for "no opinion"; a denial is `EACCES` or `EPERM`.
    pub errnos: BTreeMap<u16, u64>,
}

impl HookFigures {
    pub fn total(&self) -> Figures {
        let mut total = Figures::default();
        for figures in self.system_calls.values() {
            total.add(figures);
        }
        total
    }
}

/// System calls have the keys of [`crate::layout`]: x86-64 numbers, `KEY_NONE` outside of system
/// calls (a kernel thread, a page fault, an interrupt), and one more for all others: of i386 or x32,
/// from 512 on, or without a free row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub taken: Instant,
    pub elapsed: Duration,
    /// All probed functions, always in the same order.
    pub hooks: Vec<HookFigures>,
    /// Counts and sums of whole system calls, including waits but without the monitor's cost in
    /// hooks, if they are timed.
    pub wholes: BySystemCall,
    /// Calls that were seen but are not in any figure, by their reasons in [`LOST`].
    pub lost: [u64; LOST.len()],
    /// Pairs of a function and a system call without a row, which count as other system calls.
    pub pairs_refused: u64,
}

impl Snapshot {
    pub fn lost_calls(&self) -> u64 {
        self.lost.into_iter().fold(0, u64::saturating_add)
    }

    pub fn since(&self, earlier: &Snapshot) -> Snapshot {
        let hooks = self.hooks.iter().enumerate().map(|(at, hook)| {
            let before = earlier.hooks.get(at);
            let errnos = hook.errnos.iter().map(|(errno, count)| {
                let before = before.and_then(|before| before.errnos.get(errno));
                (*errno, count.saturating_sub(*before.unwrap_or(&0)))
            });
            HookFigures {
                probe: Arc::clone(&hook.probe),
                system_calls: since(&hook.system_calls, before.map(|hook| &hook.system_calls)),
                errnos: errnos.filter(|(_, count)| *count > 0).collect(),
            }
        });
        let mut lost = self.lost;
        for (calls, before) in lost.iter_mut().zip(earlier.lost) {
            *calls = calls.saturating_sub(before);
        }
        Snapshot {
            taken: self.taken,
            elapsed: self.taken.saturating_duration_since(earlier.taken),
            hooks: hooks.collect(),
            wholes: since(&self.wholes, Some(&earlier.wholes)),
            lost,
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
    pub fn system_calls(&self, probe: usize) -> BySystemCall {
        // Several calls may share the row of all others.
        let rest = (1 + probe) * self.layout.row_words;
        let mut rows: BTreeMap<usize, u16> = BTreeMap::new();
        let keys = &self.object.row_at()[probe * KEYS..(probe + 1) * KEYS];
        for (key, at) in (0..).zip(keys) {
            match at.load(Ordering::Relaxed) as usize {
                0 => {}
                at => _ = rows.insert(at, if at == rest { KEYS as u16 - 1 } else { key }),
            }
        }
        let mut system_calls = BySystemCall::new();
        for (at, call) in rows {
            if let Some(figures) = self.row(at).filter(occurred) {
                system_calls.entry(call).or_default().add(&figures);
            }
        }
        system_calls
    }

    fn row(&self, at: usize) -> Option<Figures> {
        let row_words = self.layout.row_words;
        if !at.is_multiple_of(row_words) || at >= self.layout.rows * row_words {
            return None;
        }
        let mut sum = Figures::default();
        for cpu in 0..self.layout.cpus {
            let start = cpu * self.layout.stride / 8 + at;
            let rows = self.object.words(".bss.rows");
            let row = rows.get(start..start + row_words)?;
            let word = |number: usize| row[number].load(Ordering::Relaxed);
            let mut figures = Figures {
                count: word(ROW_COUNT),
                ..Figures::default()
            };
            if self.mode == MonitorMode::Histogram {
                figures.buckets = (ROW_BUCKETS..).take(BUCKETS).map(word).collect();
                figures.count = figures.buckets.iter().copied().fold(0, u64::saturating_add);
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
        let table = &self.object.words(".bss.errors")[probe * ERRNOS..(probe + 1) * ERRNOS];
        (0u16..)
            .zip(table.iter().map(|count| count.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Whole system calls without the monitor's cost in `hooks`: `added_ns` per call.
    pub fn wholes(&self, hooks: &[HookFigures], added_ns: u32) -> BySystemCall {
        let mut wholes = BySystemCall::new();
        if !self.layout.system_calls {
            return wholes;
        }
        let words = self.object.words(".bss.wholes");
        for (at, whole) in words.chunks_exact(WHOLE_WORDS).enumerate() {
            let count = whole[0].load(Ordering::Relaxed);
            if count > 0 {
                let sum = wholes.entry((at % KEYS) as u16).or_default();
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

    pub fn lost(&self) -> [u64; LOST.len()] {
        LOST.map(|(word, _)| self.object.shared()[word].load(Ordering::Relaxed))
    }

    pub fn pairs_refused(&self) -> u64 {
        self.object.shared()[shared::ROWS_REFUSED].load(Ordering::Relaxed)
    }
}
