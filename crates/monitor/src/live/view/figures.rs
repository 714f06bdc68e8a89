// SPDX-License-Identifier: GPL-2.0-or-later
//! The last reading in sanitised form, and earlier rates.

use std::collections::{BTreeMap, HashMap, VecDeque};

use model::{Interval, WatchedHook, printable};

use super::Reading;

/// A kernel has about 300 hooks, and modules for each.
const FUNCTIONS_LIMIT: usize = 8_192;
/// Whole system calls; also system calls, errors and buckets of one function.
const PARTS_LIMIT: usize = 1_024;
const SECONDS_MIN: f64 = 1e-6;
const NAME_LIMIT: usize = 64;
pub const RATES: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    function: String,
    module: Option<String>,
}

impl Key {
    pub fn new(hook: &WatchedHook) -> Key {
        Key {
            function: hook.function.clone(),
            module: hook.module.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Since {
    #[default]
    Start,
    LastReading,
}

#[derive(Debug, Clone, Copy)]
pub struct Figure<'a> {
    pub total: &'a WatchedHook,
    pub hook: Option<&'a WatchedHook>,
    pub interval: &'a Interval,
}

#[derive(Debug, Clone, Default)]
pub struct Figures {
    pub total: Interval,
    last: Interval,
    place_in_last: HashMap<Key, usize>,
    rates: HashMap<Key, VecDeque<f64>>,
    pub left_off: usize,
}

impl Figures {
    pub fn update(&mut self, reading: Reading) {
        self.left_off = reading.total.hooks.len().saturating_sub(FUNCTIONS_LIMIT);
        self.total = harmless(reading.total);
        self.last = harmless(reading.since_last);
        let last = self.last.hooks.iter().enumerate();
        self.place_in_last = last.map(|(place, hook)| (Key::new(hook), place)).collect();
        if self.last.seconds <= 0.0 {
            return;
        }
        // Only functions that are shown have rates, so that a hostile source cannot increase their
        // number without limit.
        let mut before = std::mem::take(&mut self.rates);
        for hook in &self.total.hooks {
            let key = Key::new(hook);
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

    pub fn rates(&self, key: &Key) -> Option<&VecDeque<f64>> {
        self.rates.get(key)
    }

    pub fn figure<'a>(&'a self, total: &'a WatchedHook, since: Since) -> Figure<'a> {
        let (hook, interval) = match since {
            Since::Start => (Some(total), &self.total),
            Since::LastReading => {
                let place = self.place_in_last.get(&Key::new(total));
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
    pub fn calls(&self) -> u64 {
        self.hook.map_or(0, |hook| hook.calls.count)
    }

    /// Calls per second; None in an empty interval.
    pub fn rate(&self) -> Option<f64> {
        let seconds = self.interval.seconds;
        (seconds > 0.0).then(|| self.calls() as f64 / seconds)
    }

    /// Share of one processor's time.
    pub fn share(&self) -> Option<f64> {
        let sum_ns = match self.hook {
            Some(hook) => hook.calls.sum_ns?,
            None => 0,
        };
        let seconds = self.interval.seconds;
        (seconds > 0.0).then(|| sum_ns.max(0) as f64 / (seconds * 1e9))
    }
}

/// Limits the interval's size and removes control characters.
fn harmless(mut interval: Interval) -> Interval {
    // Without a time there are no rates.
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
        let all = std::mem::take(&mut hook.errnos).into_iter();
        for (name, count) in all.take(PARTS_LIMIT) {
            // Sanitised names may be equal.
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
