// SPDX-License-Identifier: GPL-2.0-or-later
//! A child process with captured output that never outlives its owner.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kernels::child::describe;
use kernels::files::read_tail;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::protocol::printable;
use crate::session::Break;

const CONSOLE_LINES: usize = 6;

const TAIL_LIMIT_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Default)]
struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    fn follow(&self, mut output: impl Read + Send + 'static) -> JoinHandle<()> {
        let tail = self.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n) = output.read(&mut buffer) {
                if n == 0 {
                    break;
                }
                let mut kept = tail.0.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&buffer[..n]);
                let surplus = kept.len().saturating_sub(TAIL_LIMIT_BYTES);
                kept.drain(..surplus);
            }
        })
    }

    fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        printable(kept.make_contiguous()).replace('\u{fffd}', "")
    }
}

/// Killed and reaped when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    stdout: Tail,
    stderr: Tail,
    readers: Vec<JoinHandle<()>>,
    status: Option<ExitStatus>,
}

impl Process {
    /// Captures the outputs of `command` that are pipes.
    pub fn start(mut command: Command) -> io::Result<Process> {
        let mut child = command.spawn()?;
        let (stdout, stderr) = (Tail::default(), Tail::default());
        let mut readers = Vec::new();
        readers.extend(child.stdout.take().map(|output| stdout.follow(output)));
        readers.extend(child.stderr.take().map(|output| stderr.follow(output)));
        Ok(Process {
            child,
            stdout,
            stderr,
            readers,
            status: None,
        })
    }

    pub fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn status(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status
    }

    /// A guest may write without end. Errors are ignored; the disk's size is then the only limit.
    pub fn limit_files(&self, bytes: u64) {
        let limit = Rlimit {
            current: Some(bytes),
            maximum: Some(bytes),
        };
        let _ = prlimit(Some(self.id()), Resource::Fsize, limit);
    }

    pub fn terminate(&mut self) {
        if self.status().is_none() {
            // The process has not been reaped, so its number is not reused.
            let _ = kill_process(self.id(), Signal::TERM);
        }
    }

    pub fn wait_at_most(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while self.status().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills the process if it still runs; its outputs are complete afterwards.
    pub fn end(&mut self) {
        if self.status().is_none() {
            let _ = self.child.kill();
            self.status = self.child.wait().ok();
        }
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }

    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    pub fn stderr(&self) -> String {
        self.stderr.text()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

pub fn last_lines(text: &str, n: usize) -> Vec<&str> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(n)..].to_vec()
}

/// The reason after an unexpected exit: "QEMU exited with status 1".
pub(crate) fn end_of(name: &str, status: ExitStatus) -> Break {
    let reason = format!("{name} {}", describe(status));
    if status.signal() == Some(Signal::KILL.as_raw()) {
        Break::Killed(reason)
    } else {
        Break::Failed(reason)
    }
}

/// The last part of a file; empty if it cannot be read.
pub(crate) fn end_of_file(path: &Path) -> String {
    let kept = read_tail(path, TAIL_LIMIT_BYTES as u64).unwrap_or_default();
    printable(&kept).replace('\u{fffd}', "")
}

/// Appends the last lines of the console and of the process's errors; a panic becomes the reason.
pub(crate) fn explained(end: Break, console: &str, stderr: &str, name: &str) -> Break {
    end.map_reason(|reason| {
        let panic = console.lines().find_map(|line| {
            line.find("Kernel panic")
                .map(|at| line[at..].trim_end().to_owned())
        });
        let mut text = match panic {
            Some(panic) => format!("{panic} ({reason})"),
            None => reason,
        };
        for (source, output) in [("console", console), (name, stderr)] {
            for line in last_lines(output, CONSOLE_LINES) {
                text.push_str(&format!("\n{source}: {line}"));
            }
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = Process::start(command).unwrap();
        process.wait_at_most(Duration::from_secs(600));
        process
    }

    #[test]
    fn only_the_end_of_endless_output_is_kept() {
        let mut process = shell("yes 0123456789 | head -c 1000000; echo; echo last");
        process.end();
        assert!(process.stdout().len() <= TAIL_LIMIT_BYTES);
        assert_eq!(last_lines(&process.stdout(), 1), ["last"]);
    }

    #[test]
    fn terminal_controls_do_not_come_through() {
        let mut process = shell("printf 'a\\033[31mb\\a\\n'");
        process.end();
        assert_eq!(process.stdout(), "a[31mb\n");
    }
}
