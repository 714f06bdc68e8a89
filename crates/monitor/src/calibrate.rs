// SPDX-License-Identifier: GPL-2.0-or-later
//! Measures the programs' own cost on kernel functions that do nothing: `bpf_fentry_test1` to
//! `bpf_fentry_test4`, which it calls when it is requested to test-run a program. Nothing else
//! calls them, so the programs may stay attached.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

use model::{Failure, MonitorCost};

use crate::error::MonitorError;
use crate::kernel;

pub const FUNCTIONS: usize = 4;
const ROUNDS: usize = 501;
const WARM_UP: usize = 50;

/// The cost outside a call's time, in ns. An outer call's time excludes both.
pub fn around_ns(cost: &MonitorCost) -> u32 {
    cost.added_ns.saturating_sub(cost.within_ns)
}

pub(crate) fn median(values: &mut [i64]) -> i64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

pub type Noted<'a> = &'a dyn Fn() -> (u64, i64);

/// Measures the added cost of a probed call. `runner` is any loaded program; `attach` attaches the
/// programs to measure; `noted` reads their counters.
pub fn calibrate(
    runner: BorrowedFd<'_>,
    attach: &mut dyn FnMut() -> Result<Vec<OwnedFd>, MonitorError>,
    noted: Noted<'_>,
) -> Result<(MonitorCost, Vec<OwnedFd>), MonitorError> {
    let bare = rounds(runner, noted)?;
    let links = attach()?;
    let probed = rounds(runner, noted)?;
    if probed.calls == 0 {
        // With kernel.ftrace_enabled=0 (kernel/trace/ftrace.c: ftrace_startup_enable) programs
        // attach without an error, and all figures would be 0.
        return Err(Failure::environment(
            "the kernel does not run attached programs",
            "enable function tracing: sysctl kernel.ftrace_enabled=1",
        )
        .into());
    }
    let calls = FUNCTIONS as i64;
    let nanoseconds = |ns: i64| u32::try_from(ns.max(0)).unwrap_or(u32::MAX);
    let calibration = MonitorCost {
        added_ns: nanoseconds((probed.round_ns - bare.round_ns) / calls),
        within_ns: nanoseconds(probed.within_ns),
        rounds: ROUNDS as u32,
    };
    Ok((calibration, links))
}

struct Medians {
    calls: i64,
    round_ns: i64,
    within_ns: i64,
}

fn rounds(runner: BorrowedFd<'_>, noted: Noted<'_>) -> Result<Medians, MonitorError> {
    let call = || {
        let action = "make the kernel call its test functions for calibration";
        kernel::run_test_functions(runner).map_err(MonitorError::kernel(action))
    };
    for _ in 0..WARM_UP {
        call()?;
    }
    let (mut took, mut within) = (Vec::new(), Vec::new());
    let mut all = 0;
    for _ in 0..ROUNDS {
        let (calls, sum) = noted();
        let start = Instant::now();
        call()?;
        took.push(i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX));
        let (calls_after, sum_after) = noted();
        let calls = i64::try_from(calls_after.saturating_sub(calls)).unwrap_or(i64::MAX);
        all += calls;
        if calls > 0 {
            within.push(sum_after.wrapping_sub(sum) / calls);
        }
    }
    Ok(Medians {
        calls: all,
        round_ns: median(&mut took),
        within_ns: median(&mut within),
    })
}
