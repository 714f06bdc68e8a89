// SPDX-License-Identifier: GPL-2.0-or-later
//! Snapshots as intervals of a result file.

use std::time::Duration;

use crate::{Figures, Histogram, HookFigures, Monitor, Snapshot, SystemCall};
use model::{
    Bucket, Calls, Interval, Monitoring, Percentiles, WatchedHook, WatchedSystemCall,
    WholeSystemCall,
};
use nix::errno::Errno;
use syscalls::Sysno;

pub fn interval(snapshot: &Snapshot, begin: Duration) -> Interval {
    let hooks = snapshot.hooks.iter().filter_map(watched_hook);
    let wholes = snapshot.wholes.iter();
    Interval {
        begin_s: begin.as_secs_f64(),
        seconds: snapshot.elapsed.as_secs_f64(),
        hooks: hooks.collect(),
        system_calls: wholes
            .map(|(&call, whole)| WholeSystemCall {
                system_call: system_call_name(call),
                count: whole.count,
                sum_ns: whole.sum_ns,
            })
            .collect(),
        lost: snapshot.lost.total(),
    }
}

fn watched_hook(hook: &HookFigures) -> Option<WatchedHook> {
    let total = hook.total();
    if total.count == 0 {
        return None;
    }
    let histogram = total.histogram.as_ref().map(buckets).unwrap_or_default();
    let timed = total.histogram.is_some() || total.sum_ns != 0 || total.max_ns.is_some();
    let calls = |figures: &Figures| Calls {
        count: figures.count,
        errors: figures.errors,
        sum_ns: timed.then_some(figures.sum_ns),
        min_ns: figures.min_ns,
        max_ns: figures.max_ns,
        percentiles_ns: figures
            .histogram
            .as_ref()
            .and_then(|histogram| Percentiles::of(&buckets(histogram))),
    };
    let system_calls = hook.system_calls.iter();
    Some(WatchedHook {
        hook: hook.probe.hook.clone(),
        function: hook.probe.function.name.clone(),
        module: hook.probe.module.clone(),
        calls: calls(&total),
        errnos: hook
            .errnos
            .iter()
            .map(|(&errno, &count)| (errno_name(errno), count))
            .collect(),
        histogram,
        system_calls: system_calls
            .map(|(&call, figures)| WatchedSystemCall {
                system_call: system_call_name(call),
                calls: calls(figures),
            })
            .collect(),
    })
}

fn buckets(histogram: &Histogram) -> Vec<Bucket> {
    let filled = histogram.buckets.iter().enumerate();
    filled
        .filter(|(_, count)| **count > 0)
        .map(|(bucket, &count)| {
            let (from_ns, to_ns) = crate::bounds_ns(bucket);
            Bucket {
                from_ns,
                to_ns,
                count,
            }
        })
        .collect()
}

/// `EACCES`; `other` for errors beyond the table.
fn errno_name(errno: u16) -> String {
    match Errno::from_raw(i32::from(errno)) {
        _ if errno == 0 => "other".to_owned(),
        Errno::UnknownErrno => format!("errno {errno}"),
        known => format!("{known:?}"),
    }
}

fn system_call_name(call: SystemCall) -> String {
    match call {
        SystemCall::None => "none".to_owned(),
        SystemCall::Other => "other".to_owned(),
        SystemCall::Number(number) => Sysno::new(usize::from(number)).map_or_else(
            || format!("system call {number}"),
            |known| known.name().to_owned(),
        ),
    }
}

pub fn monitoring(monitor: &Monitor, scope: String, active_lsms: Vec<String>) -> Monitoring {
    Monitoring {
        release: rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
        active_lsms,
        scope,
        mode: monitor.mode(),
        cost: monitor.calibration(),
        memory_bytes: monitor.memory_bytes() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_their_names() {
        assert_eq!(errno_name(13), "EACCES");
        assert_eq!(errno_name(95), "EOPNOTSUPP");
        assert_eq!(errno_name(0), "other");
        assert_eq!(errno_name(41), "errno 41");
        assert_eq!(system_call_name(SystemCall::Number(257)), "openat");
        assert_eq!(system_call_name(SystemCall::Number(511)), "system call 511");
        assert_eq!(system_call_name(SystemCall::None), "none");
    }
}
