// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording as a source for the live view: one interval per reading.

use std::time::Duration;

use model::Interval;

use crate::live::view::{Reading, Source};

/// Limits of an interval's display time, in seconds.
const INTERVALS_S: [f64; 2] = [0.1, 1.0];

#[derive(Debug)]
pub struct Replay {
    intervals: std::vec::IntoIter<Interval>,
    total: Interval,
}

impl Replay {
    pub fn new(intervals: Vec<Interval>) -> Replay {
        Replay {
            intervals: intervals.into_iter(),
            total: Interval::default(),
        }
    }

    /// Display time of an interval: the first one's length, within `INTERVALS_S`.
    pub fn pace(&self) -> Duration {
        let [shortest, longest] = INTERVALS_S;
        let first = self.intervals.as_slice().first();
        let seconds = first.map_or(0.0, |interval| interval.seconds);
        Duration::from_secs_f64(seconds.max(shortest).min(longest))
    }
}

impl Source for Replay {
    fn read(&mut self) -> Reading {
        let since_last = self.intervals.next().unwrap_or_default();
        self.total = Interval::sum([&self.total, &since_last]);
        Reading {
            total: self.total.clone(),
            since_last,
        }
    }

    fn ended(&mut self) -> bool {
        self.intervals.len() <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_adds_up_and_ends() {
        let interval = |begin_s| Interval {
            begin_s,
            seconds: 0.5,
            hooks: Vec::new(),
            lost: 2,
            ..Interval::default()
        };
        let mut replay = Replay::new(vec![interval(0.0), interval(0.5)]);
        assert_eq!(replay.pace(), Duration::from_millis(500));
        assert!(!replay.ended());
        assert_eq!(replay.read().total, interval(0.0));
        assert!(replay.ended());
        let last = replay.read();
        assert_eq!(last.since_last, interval(0.5));
        assert_eq!((last.total.seconds, last.total.lost), (1.0, 4));
        assert_eq!(replay.read().since_last, Interval::default());
    }
}
