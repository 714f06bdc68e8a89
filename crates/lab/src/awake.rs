// SPDX-License-Identifier: GPL-2.0-or-later
//! Keeps a processor awake. After a virtual processor has slept, other guests usually disturb it
//! for up to half a second; a processor that always runs is rarely disturbed (`docs/time.md`).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

#[derive(Debug)]
pub(crate) struct Awake {
    processor: CpuSet,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Awake {
    /// Uses the last processor that this process may use, because interrupts go to the first.
    pub fn start() -> io::Result<Awake> {
        let allowed = sched_getaffinity(None)?;
        let last = (0..CpuSet::MAX_CPU).rfind(|number| allowed.is_set(*number));
        let mut processor = CpuSet::new();
        processor.set(last.ok_or(io::ErrorKind::NotFound)?);
        let is_over = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&is_over);
        let run = move || {
            // With any other priority, this thread would take time from the measured task.
            if sched_setaffinity(None, &processor).is_ok() && yield_to_all().is_ok() {
                while !is_stopped.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        };
        let thread = std::thread::Builder::new().name("awake".to_owned());
        Ok(Awake {
            processor,
            is_over,
            thread: Some(thread.spawn(run)?),
        })
    }

    pub fn take(&self, process: Pid) -> io::Result<()> {
        Ok(sched_setaffinity(Some(process), &self.processor)?)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// SCHED_IDLE: this thread runs only while its processor would otherwise be idle.
fn yield_to_all() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the system reads `parameters`, which outlives the call; 0 is this thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn fields_of_thread() -> Option<Vec<String>> {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let stats =
            tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok());
        let mut of_thread = stats.filter_map(|stat| {
            let (_, fields) = stat.split_once("(awake) ")?;
            Some(fields.split_whitespace().map(str::to_owned).collect())
        });
        of_thread.next()
    }

    #[test]
    fn it_runs_where_others_do_not_until_it_is_dropped() {
        let awake = Awake::start().unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        // proc_pid_stat(5): the state is the 3rd field, processor the 39th, policy the 41st.
        let idle = libc::SCHED_IDLE.to_string();
        let fields = loop {
            assert!(Instant::now() < deadline, "it never came to run");
            match fields_of_thread() {
                Some(fields) if fields[38] == idle => break fields,
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        assert_eq!(fields[0], "R");
        assert!(awake.processor.is_set(fields[36].parse().unwrap()));

        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        awake.take(Pid::from_child(&child)).unwrap();
        let bound = sched_getaffinity(Some(Pid::from_child(&child))).unwrap();
        assert_eq!((bound.count(), bound == awake.processor), (1, true));
        child.kill().unwrap();
        child.wait().unwrap();

        drop(awake);
        assert_eq!(fields_of_thread(), None);
    }
}
