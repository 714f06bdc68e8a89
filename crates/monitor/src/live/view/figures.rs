// SPDX-License-Identifier: GPL-2.0-or-later
//! What there is to show: the last reading made harmless, and the rates before it.

use std::collections::{BTreeMap, HashMap, VecDeque};

use model::{Interval, WatchedHook, printable};

use super::source::Reading;

/// Functions that are shown. A kernel has some 300 hooks, and modules for each.
const FUNCTIONS_LIMIT: usize = 8_192;
/// System calls as a whole; system calls, errors and buckets of a function that are shown.
const PARTS_LIMIT: usize = 1_024;
/// The shortest time that there can be rates of.
const SECONDS_MIN: f64 = 1e-6;
/// Characters of a name that are shown.
const NAME_LIMIT: usize = 64;
/// Rates that are kept of a function.
pub const RATES: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    function: String,
    module: Option<String>,
}

impl Key {
    /// Of which function.
    pub fn of(hook: &WatchedHook) -> Key {
        Key {
            function: hook.function.clone(),
            module: hook.module.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    Start,
    /// Since the reading before the last.
    LastReading,
}

#[derive(Debug, Clone, Copy)]
pub struct Figure<'a> {
    /// Which it is, and its calls since the start.
    pub total: &'a WatchedHook,
    /// Its calls in the time that is shown; None without any.
    pub hook: Option<&'a WatchedHook>,
    /// That time, and all that was called in it.
    pub interval: &'a Interval,
}

/// All that can be shown.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    pub total: Interval,
    last: Interval,
    place_in_last: HashMap<Key, usize>,
    rates: HashMap<Key, VecDeque<f64>>,
    /// Functions that are too many to be shown.
    pub left_off: usize,
}

impl Figures {
    pub fn update(&mut self, reading: Reading) {
        self.left_off = reading.total.hooks.len().saturating_sub(FUNCTIONS_LIMIT);
        self.total = harmless(reading.total);
        self.last = harmless(reading.since_last);
        let last = self.last.hooks.iter().enumerate();
        self.place_in_last = last.map(|(place, hook)| (Key::of(hook), place)).collect();
        if self.last.seconds <= 0.0 {
            return;
        }
        // Only functions that are shown have rates, so that a hostile source cannot
        // make them more and more.
        let mut before = std::mem::take(&mut self.rates);
        for hook in &self.total.hooks {
            let key = Key::of(hook);
            let place = self.place_in_last.get(&key);
            let calls = place.map_or(0, |&place| self.last.hooks[place].calls.count);
            let mut rates = before.remove(&key).unwrap_or_default();
            if rates.len() >= RATES {
                rates.pop_front();
            }
            rates.push_back(calls as f64 / self.last.seconds);
            self.rates.insert(key, rates);
        }
    }

    /// A function's rates, the oldest first.
    pub fn rates(&self, key: &Key) -> Option<&VecDeque<f64>> {
        self.rates.get(key)
    }

    /// What is shown of one of the functions in [`Figures::total`].
    pub fn figure<'a>(&'a self, total: &'a WatchedHook, since: Since) -> Figure<'a> {
        let (hook, interval) = match since {
            Since::Start => (Some(total), &self.total),
            Since::LastReading => {
                let place = self.place_in_last.get(&Key::of(total));
                let hook = place.map(|&place| &self.last.hooks[place]);
                (hook, &self.last)
            }
        };
        Figure {
            total,
            hook,
            interval,
        }
    }
}

impl Figure<'_> {
    /// Calls in the time that is shown.
    pub fn calls(&self) -> u64 {
        self.hook.map_or(0, |hook| hook.calls.count)
    }

    /// Calls in a second; None where no time has passed.
    pub fn rate(&self) -> Option<f64> {
        let seconds = self.interval.seconds;
        (seconds > 0.0).then(|| self.calls() as f64 / seconds)
    }

    /// The part of one processor's time that its calls took.
    pub fn share(&self) -> Option<f64> {
        let sum_ns = match self.hook {
            Some(hook) => hook.calls.sum_ns?,
            None => 0,
        };
        let seconds = self.interval.seconds;
        (seconds > 0.0).then(|| sum_ns.max(0) as f64 / (seconds * 1e9))
    }
}

/// An interval that can be shown: bounded, and without characters that do harm.
fn harmless(mut interval: Interval) -> Interval {
    // Rates of no time at all would mean nothing.
    if !(interval.seconds.is_finite() && interval.seconds >= SECONDS_MIN) {
        interval.seconds = 0.0;
    }
    interval.hooks.truncate(FUNCTIONS_LIMIT);
    for hook in &mut interval.hooks {
        hook.hook = printable(&hook.hook, NAME_LIMIT);
        hook.function = printable(&hook.function, NAME_LIMIT);
        hook.module = hook.module.take().map(|name| printable(&name, NAME_LIMIT));
        hook.system_calls.truncate(PARTS_LIMIT);
        for call in &mut hook.system_calls {
            call.system_call = printable(&call.system_call, NAME_LIMIT);
        }
        hook.histogram.truncate(PARTS_LIMIT);
        let mut errnos = BTreeMap::new();
        for (name, count) in std::mem::take(&mut hook.errnos)
            .into_iter()
            .take(PARTS_LIMIT)
        {
            // Names that only differed in what does harm.
            let sum: &mut u64 = errnos.entry(printable(&name, NAME_LIMIT)).or_default();
            *sum = sum.saturating_add(count);
        }
        hook.errnos = errnos;
    }
    interval.system_calls.truncate(PARTS_LIMIT);
    for whole in &mut interval.system_calls {
        whole.system_call = printable(&whole.system_call, NAME_LIMIT);
    }
    interval
}
