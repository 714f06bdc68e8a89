// SPDX-License-Identifier: GPL-2.0-or-later
//! Snapshots as intervals of a result file.

use std::time::Duration;

use crate::layout::{KEY_NONE, KEYS, bounds_ns};
use crate::{Figures, HookFigures, Monitor, Snapshot};
use model::{
    Bucket, Calls, Interval, Monitoring, Percentiles, WatchedHook, WatchedSystemCall,
    WholeSystemCall,
};
use nix::errno::Errno;
use syscalls::Sysno;

pub fn interval(snapshot: &Snapshot, begin: Duration) -> Interval {
    let hooks = snapshot.hooks.iter().filter_map(watched_hook);
    let wholes = snapshot
        .wholes
        .iter()
        .map(|(&call, whole)| WholeSystemCall {
            system_call: system_call_name(call),
            count: whole.count,
            sum_ns: whole.sum_ns,
        });
    Interval {
        begin_s: begin.as_secs_f64(),
        seconds: snapshot.elapsed.as_secs_f64(),
        hooks: hooks.collect(),
        system_calls: wholes.collect(),
        lost: snapshot.lost_calls(),
    }
}

fn watched_hook(hook: &HookFigures) -> Option<WatchedHook> {
    let total = hook.total();
    if total.count == 0 {
        return None;
    }
    let timed = !total.buckets.is_empty() || total.sum_ns != 0 || total.max_ns.is_some();
    let calls = |figures: &Figures| Calls {
        count: figures.count,
        errors: figures.errors,
        sum_ns: timed.then_some(figures.sum_ns),
        min_ns: figures.min_ns,
        max_ns: figures.max_ns,
        percentiles_ns: Percentiles::from_histogram(&buckets(figures)),
    };
    let errnos = hook.errnos.iter();
    let system_calls = hook.system_calls.iter();
    let system_calls = system_calls.map(|(&call, figures)| WatchedSystemCall {
        system_call: system_call_name(call),
        calls: calls(figures),
    });
    Some(WatchedHook {
        hook: hook.probe.hook.clone(),
        function: hook.probe.function.name.clone(),
        module: hook.probe.module.clone(),
        calls: calls(&total),
        errnos: errnos
            .map(|(&errno, &count)| (errno_name(errno), count))
            .collect(),
        histogram: buckets(&total),
        system_calls: system_calls.collect(),
    })
}

fn buckets(figures: &Figures) -> Vec<Bucket> {
    let filled = figures.buckets.iter().enumerate();
    filled
        .filter(|(_, count)| **count > 0)
        .map(|(bucket, &count)| {
            let (from_ns, to_ns) = bounds_ns(bucket);
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

fn system_call_name(key: u16) -> String {
    match usize::from(key) {
        KEY_NONE => "none".to_owned(),
        number if number < KEYS - 1 => Sysno::new(number).map_or_else(
            || format!("system call {number}"),
            |known| known.name().to_owned(),
        ),
        _ => "other".to_owned(),
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
        mode: monitor.mode,
        cost: monitor.cost,
        memory_bytes: monitor.memory_bytes as u64,
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
        assert_eq!(system_call_name(257), "openat");
        assert_eq!(system_call_name(511), "system call 511");
        assert_eq!(system_call_name(512), "none");
        assert_eq!(system_call_name(513), "other");
    }
}
