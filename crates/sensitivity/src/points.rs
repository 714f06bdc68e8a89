// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeMap;

use lab::sweep::{DELAY_MAX_NS, Delayed, Point};

use stats::SplitMix64;

use crate::delays::Delays;

/// The longest total delay, in ns, of an operation that creates processes. It is well below a tick
/// at 250 Hz, so that some operations are not interrupted.
const PROCESS_MAX_NS: u64 = 2_600_000;
/// Factor by which delays of operations that create processes are longer, within limits, because
/// their paths differ by thousands of instructions, which hide short delays.
const PROCESS_STRETCH: u64 = 8;
/// Longest total delay in ns of all operations of a cell.
const CELL_MAX_NS: u64 = 1_000_000_000;
/// The longest delay must have at least this many ns, because a wait ends up to one loop iteration
/// late, about 100 ns.
const LONGEST_MIN_NS: u32 = 2_000;
/// Nonzero delays for single hooks, in equal steps.
const STEPS: u32 = 3;
const SEED: u64 = 0x706f_696e_7473;

/// Hook calls per operation, without delays.
pub type HookCalls = BTreeMap<String, u64>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPoints {
    pub points: Vec<Point>,
}

impl CellPoints {
    /// Repeats points: those of all hooks together `rounds.0` times, of single hooks `rounds.1`
    /// times. Each round has its own order, so that periodic work (a page for the allocator) does
    /// not always meet the same delays.
    pub fn repeat(&mut self, rounds: (usize, usize)) {
        if rounds == (1, 1) {
            return;
        }
        let mut random = SplitMix64::new(SEED);
        let mut repeated = Vec::new();
        for round in 0..rounds.0.max(rounds.1) {
            let wanted = |point: &&Point| match point.delayed {
                Delayed::All => round < rounds.0,
                Delayed::Hook(_) => round < rounds.1,
            };
            let mut points: Vec<Point> = self.points.iter().filter(wanted).cloned().collect();
            shuffle(&mut points, &mut random);
            repeated.extend(points);
        }
        self.points = repeated;
    }

    pub fn hooks(&self) -> Vec<&String> {
        let mut hooks = Vec::new();
        for point in &self.points {
            if let Delayed::Hook(hook) = &point.delayed
                && !hooks.contains(&hook)
            {
                hooks.push(hook);
            }
        }
        hooks
    }

    /// A pseudorandom order, the same in each run.
    pub fn shuffle(&mut self) {
        shuffle(&mut self.points, &mut SplitMix64::new(SEED));
    }
}

fn shuffle(points: &mut [Point], random: &mut SplitMix64) {
    for last in (1..points.len()).rev() {
        points.swap(last, random.below(last + 1));
    }
}

/// Why an operation cannot be swept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it makes {calls} checks: the cost of waiting would hide delays that are short enough for \
     a boot"
)]
pub struct TooMany {
    pub calls: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation<'a> {
    pub calls: &'a HookCalls,
    /// Turns per point.
    pub repetitions: u32,
    pub processes: bool,
}

pub fn points(delays: &Delays, operation: &Operation<'_>) -> Result<CellPoints, TooMany> {
    let Operation {
        calls,
        repetitions,
        processes,
    } = *operation;
    let total: u64 = calls.values().sum();
    let max = u64::from(delays.max_ns()).max(1);
    let sum: u64 = delays.ns().iter().map(|&ns| u64::from(ns)).sum();
    // Each hook by itself, and all of them together.
    let per_call = (sum + max * u64::from(STEPS + 1) / 2) * u64::from(repetitions);
    let for_cell = max * CELL_MAX_NS / total.saturating_mul(per_call).max(1);
    let longest = match processes {
        true => (max * PROCESS_STRETCH)
            .min(PROCESS_MAX_NS / total.max(1))
            .min(DELAY_MAX_NS.into()),
        false => max,
    };
    let longest = longest.min(for_cell) as u32;
    if longest < LONGEST_MIN_NS.min(delays.max_ns()) {
        return Err(TooMany { calls: total });
    }
    // The user's delays, or shorter ones in proportion.
    let mut points: Vec<Point> = delays
        .scaled_to(longest)
        .ns()
        .iter()
        .map(|&delay_ns| Point {
            delayed: Delayed::All,
            delay_ns,
        })
        .collect();
    for hook in calls.keys() {
        points.extend((1..=STEPS).map(|step| Point {
            delayed: Delayed::Hook(hook.clone()),
            delay_ns: longest * step / STEPS,
        }));
    }
    // The number of points is odd, so that periodic work (a file system's batches) does not always
    // meet the same delays.
    if points.len().is_multiple_of(2) {
        points.push(Point {
            delayed: Delayed::All,
            delay_ns: 0,
        });
    }
    Ok(CellPoints { points })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The delays of an operation that calls one hook this many times.
    fn swept(calls: u64, processes: bool) -> Result<Vec<u32>, TooMany> {
        let operation = Operation {
            calls: &BTreeMap::from([("inode_permission".to_owned(), calls)]),
            repetitions: 3,
            processes,
        };
        let points = points(&"0..110us/10us".parse().unwrap(), &operation)?.points;
        Ok(points.into_iter().map(|point| point.delay_ns).collect())
    }

    #[test]
    fn operations_that_make_processes_take_longer_ones_below_a_tick() {
        assert_eq!(swept(2, true).unwrap()[..3], [0, 80_000, 160_000]);
        assert_eq!(swept(2, true).unwrap()[11], 880_000);
        assert_eq!(swept(42, true).unwrap()[11], 2_600_000 / 42);
    }

    #[test]
    fn few_calls_take_the_delays_as_they_are() {
        let few = swept(3, false).unwrap();
        assert_eq!((few[1], few[11]), (10_000, 110_000));
        assert_eq!((few.len(), few[14]), (12 + 3, 110_000));
    }

    #[test]
    fn many_calls_take_shorter_ones_and_too_many_none() {
        // 12 delays of 0 to 110 us and three of one hook, three times.
        assert_eq!(
            swept(3_108, false).unwrap()[11],
            (110_000 * 1_000_000_000 / (3_108 * 3 * 880_000u64)) as u32
        );
        let refused = swept(373_844, false).unwrap_err();
        assert!(refused.to_string().contains("373844"));
    }
}
