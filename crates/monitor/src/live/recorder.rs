// SPDX-License-Identifier: GPL-2.0-or-later
//! Intervals in bounded memory.

use std::time::Duration;

use crate::Snapshot;
use model::Interval;

use crate::live::interval::interval;

/// One hour of seconds. Beyond it, neighbours are joined.
pub const KEPT: usize = 3_600;

pub struct Recorder {
    before: Snapshot,
    since: Duration,
    intervals: Vec<Interval>,
}

impl Recorder {
    pub fn new(first: Snapshot) -> Recorder {
        Recorder {
            before: first,
            since: Duration::ZERO,
            intervals: Vec::new(),
        }
    }

    pub fn take(&mut self, snapshot: Snapshot) -> &Interval {
        if self.intervals.len() >= KEPT {
            self.intervals = joined(&self.intervals);
        }
        let difference = snapshot.since(&self.before);
        let begin = self.since;
        self.since += difference.elapsed;
        self.before = snapshot;
        let at = self.intervals.len();
        self.intervals.push(interval(&difference, begin));
        &self.intervals[at]
    }

    pub fn into_intervals(self) -> Vec<Interval> {
        self.intervals
    }
}

pub fn joined(intervals: &[Interval]) -> Vec<Interval> {
    intervals.chunks(2).map(Interval::sum).collect()
}
