// SPDX-License-Identifier: GPL-2.0-or-later
//! Intervals as they come, in bounded memory.

use std::time::Duration;

use crate::Snapshot;
use model::Interval;

use crate::live::interval::interval;

/// Intervals that are kept: an hour of seconds. Of more, neighbours are joined.
pub const KEPT: usize = 3_600;

/// What was seen until now.
pub struct Recorder {
    before: Snapshot,
    since: Duration,
    intervals: Vec<Interval>,
}

impl Recorder {
    /// Begins with a first snapshot.
    pub fn new(first: Snapshot) -> Recorder {
        Recorder {
            before: first,
            since: Duration::ZERO,
            intervals: Vec::new(),
        }
    }

    /// Adds what came since the last one.
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

/// Each two neighbours as one.
pub fn joined(intervals: &[Interval]) -> Vec<Interval> {
    intervals.chunks(2).map(Interval::sum).collect()
}
