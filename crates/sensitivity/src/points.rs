// SPDX-License-Identifier: GPL-2.0-or-later
//! Under which delays an operation runs: all hooks together, then each by itself.

use std::collections::BTreeMap;

use lab::sweep::{Delayed, Point};

use crate::delays::Delays;

/// Longest time, in ns, that the delays of one operation may take together: half a tick
/// of a kernel with 250 of them a second, so that most operations meet none.
const OPERATION_MAX_NS: u64 = 2_000_000;
/// Longest time, in ns, that the delays of all operations of a cell may take together.
const CELL_MAX_NS: u64 = 1_000_000_000;
/// The longest delay must not be shorter: a decision's wait ends up to a round of its
/// loop late, some 100 ns.
const LONGEST_MIN_NS: u32 = 2_000;
/// Parts of the longest delay under which single hooks run, besides 0.
const STEPS: u32 = 3;

/// Calls of each hook by one operation, without delays.
pub type HookCalls = BTreeMap<String, u64>;

/// What is done to one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPoints {
    /// In the order in which operations take turns.
    pub points: Vec<Point>,
    /// The delays that are swept: the user's, or shorter ones.
    pub delays: Delays,
}

/// Why an operation cannot be swept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it asks {calls} times: delays that a boot can wait for would be too short to be told \
     from the wait's own cost"
)]
pub struct TooMany {
    /// Calls of hooks by one operation.
    pub calls: u64,
}

/// What is known of an operation beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation<'a> {
    /// What it calls.
    pub calls: &'a HookCalls,
    /// It is many windows, each short.
    pub composite: bool,
    /// Times that each point's turn comes.
    pub repetitions: u32,
}

/// The points of an operation.
///
/// # Errors
/// [`TooMany`].
pub fn points(delays: &Delays, operation: &Operation<'_>) -> Result<CellPoints, TooMany> {
    let Operation {
        calls,
        composite,
        repetitions,
    } = *operation;
    let total: u64 = calls.values().sum();
    let max = u64::from(delays.max_ns()).max(1);
    let sum: u64 = delays.ns().iter().map(|&ns| u64::from(ns)).sum();
    // One hook after the other, and all of them together.
    let per_call = (sum + max * u64::from(STEPS + 1) / 2) * u64::from(repetitions);
    let mut shorten = (total.saturating_mul(per_call)).div_ceil(CELL_MAX_NS);
    // How many times too long the longest delay is, at so many calls.
    let too_long = |calls: u64| match composite {
        true => 1,
        false => calls.saturating_mul(max).div_ceil(OPERATION_MAX_NS),
    };
    let for_cell = shorten.max(1);
    shorten = for_cell.max(too_long(total));
    let shorten = u32::try_from(shorten.max(1)).map_err(|_| TooMany { calls: total })?;
    let delays = delays.shortened(shorten);
    if shorten > 1 && delays.max_ns() < LONGEST_MIN_NS {
        return Err(TooMany { calls: total });
    }
    let mut points: Vec<Point> = delays
        .ns()
        .iter()
        .map(|&delay_ns| Point {
            delayed: Delayed::All,
            delay_ns,
        })
        .collect();
    for (hook, &calls) in calls {
        // One hook by itself bears longer delays than all together.
        let longest = max / for_cell.max(too_long(calls)).max(1);
        points.extend((1..=STEPS).map(|step| Point {
            delayed: Delayed::Hook(hook.clone()),
            delay_ns: (longest * u64::from(step) / u64::from(STEPS)) as u32,
        }));
    }
    Ok(CellPoints { points, delays })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(n: u64) -> HookCalls {
        BTreeMap::from([("inode_permission".to_owned(), n)])
    }

    fn swept(calls: &HookCalls, composite: bool) -> Result<CellPoints, TooMany> {
        let operation = Operation {
            calls,
            composite,
            repetitions: 3,
        };
        points(&Delays::default(), &operation)
    }

    #[test]
    fn few_calls_take_the_delays_as_they_are() {
        let swept = swept(&calls(3), false).unwrap();
        assert_eq!(swept.delays, Delays::default());
        assert_eq!(swept.points.len(), 12 + 3);
        assert_eq!(swept.points[14].delay_ns, 110_000);
    }

    #[test]
    fn many_calls_take_shorter_ones_and_too_many_none() {
        let swept = swept(&calls(42), false).unwrap();
        assert_eq!(swept.delays.max_ns(), 110_000 / 3);
        let refused = swept(&calls(373_844), true).unwrap_err();
        assert!(refused.to_string().contains("373844"));
    }
}
