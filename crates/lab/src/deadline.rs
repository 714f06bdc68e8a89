// SPDX-License-Identifier: GPL-2.0-or-later
//! Deadlines that stop while the awaited process has no processor.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Pid;

/// A limit on the time that a process runs or sleeps. Time that it spends waiting for a processor
/// does not count, because a guest makes progress slowly on a loaded machine.
#[derive(Debug)]
pub(crate) struct Deadline {
    process: Option<Pid>,
    limit: Duration,
    since: Instant,
    waited: Waited,
}

impl Deadline {
    pub fn new(process: Option<Pid>, limit: Duration) -> Deadline {
        Deadline {
            process,
            limit,
            since: Instant::now(),
            waited: Waited::read(process),
        }
    }

    pub fn restart(&mut self, limit: Duration) {
        *self = Deadline::new(self.process, limit);
    }

    pub fn is_over(&self) -> bool {
        let elapsed = self.since.elapsed();
        elapsed > self.limit && {
            let waited = Waited::read(self.process).since(&self.waited);
            elapsed.saturating_sub(waited) > self.limit
        }
    }
}

#[derive(Debug, Default)]
struct Waited(BTreeMap<String, Duration>);

impl Waited {
    /// Empty if the kernel does not report it.
    fn read(process: Option<Pid>) -> Waited {
        let tasks = process.map(|process| format!("/proc/{}/task", process.as_raw_nonzero()));
        let tasks = tasks.and_then(|tasks| fs::read_dir(tasks).ok());
        let threads = tasks.into_iter().flatten().flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            Some((task.file_name().to_string_lossy().into(), waited(&text)?))
        });
        Waited(threads.collect())
    }

    /// The time of the thread that waited longest, because a machine has one processor.
    fn since(&self, before: &Waited) -> Duration {
        let threads = self.0.iter();
        let waits = threads.map(|(thread, waited)| {
            waited.saturating_sub(before.0.get(thread).copied().unwrap_or_default())
        });
        waits.max().unwrap_or_default()
    }
}

/// `/proc/PID/task/TID/schedstat`: ns on a processor, ns waiting, turns
/// (Documentation/scheduler/sched-stats.rst).
fn waited(schedstat: &str) -> Option<Duration> {
    let ns = schedstat.split_whitespace().nth(1)?;
    ns.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waiting_for_a_processor_is_left_out() {
        assert_eq!(waited("12 3000 4\n"), Some(Duration::from_micros(3)));
        assert_eq!(waited(""), None);
        let threads = |waits: &[(&str, u64)]| {
            let waits = waits.iter();
            Waited(
                waits
                    .map(|(name, s)| ((*name).to_owned(), Duration::from_secs(*s)))
                    .collect(),
            )
        };
        let before = threads(&[("1", 50), ("2", 10)]);
        let now = threads(&[("1", 51), ("2", 90), ("3", 70)]);
        assert_eq!(now.since(&before), Duration::from_secs(80));
        assert_eq!(threads(&[]).since(&before), Duration::ZERO);
    }

    #[test]
    fn a_starved_process_has_time_and_a_sleeping_one_has_not() {
        let mut deadline = Deadline::new(Some(rustix::process::getpid()), Duration::ZERO);
        assert!(!deadline.waited.0.is_empty(), "this kernel has schedstat");
        std::thread::sleep(Duration::from_millis(2));
        assert!(
            Deadline {
                process: None,
                ..deadline
            }
            .is_over()
        );
        deadline = Deadline::new(None, Duration::from_secs(3_600));
        assert!(!deadline.is_over());
        deadline.restart(Duration::ZERO);
        std::thread::sleep(Duration::from_millis(2));
        assert!(deadline.is_over());
    }
}
