// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs make. Writes a log, reports progress, and ends all processes when interrupted.

use crate::child::die_with_parent;
use crate::error::Error;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Longer lines are cut for parsing only; the log has complete lines.
const LINE_LIMIT: u64 = 64 << 10;
/// A build with a warning per file writes 5 MiB.
const LOG_LIMIT: u64 = 256 << 20;
/// Time for make to remove half-written objects.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `command` in its own process group. Appends its output to `log` and passes it to `line`.
/// After [`Error::Interrupted`], all its processes are gone.
pub(super) fn run(
    mut command: Command,
    log: &Path,
    cancel: &AtomicBool,
    doing: &str,
    line: &mut dyn FnMut(&str),
) -> Result<ExitStatus, Error> {
    let program = command.get_program().to_owned();
    let program = Path::new(&program);
    let mut log_file = File::options()
        .create(true)
        .append(true)
        .open(log)
        .map_err(Error::io("open", log))?;
    let (reader, writer) = io::pipe().map_err(Error::io("make a pipe for", program))?;
    let second = writer.try_clone();
    let second = second.map_err(Error::io("make a pipe for", program))?;
    command.stdin(Stdio::null()).stdout(writer).stderr(second);
    die_with_parent(&mut command, Signal::TERM);
    let hint = format!("install the package {}", program.display());
    let child = command.spawn().map_err(Error::run(program, hint))?;
    // The pipe ends when the last process that can write to it has.
    drop(command);
    let mut group = Group(child);
    let (sender, lines) = mpsc::sync_channel(1024);
    let reading = std::thread::spawn(move || follow(reader, &sender));
    let mut written = 0;
    let mut failed = None;
    let cancelled = loop {
        if cancel.load(Ordering::Relaxed) {
            break true;
        }
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(bytes) => {
                written += bytes.len() as u64;
                if written <= LOG_LIMIT
                    && let Err(e) = log_file.write_all(&bytes)
                {
                    failed.get_or_insert(e);
                }
                line(String::from_utf8_lossy(&bytes).trim_end_matches('\n'));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break false,
        }
    };
    if cancelled {
        // Remaining writers must not wait for a reader.
        drop(lines);
        group.end();
        let _ = reading.join();
        return Err(Error::Interrupted { what: doing.into() });
    }
    let _ = reading.join();
    let status = group.0.wait().map_err(Error::io("wait for", program))?;
    match failed {
        Some(e) => Err(Error::io("write", log)(e)),
        None => Ok(status),
    }
}

/// At most 64 KiB of output; `None` if the command cannot be run or fails.
pub(super) fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    let length = output.stdout.len().min(64 << 10);
    Some(String::from_utf8_lossy(&output.stdout[..length]).into_owned())
}

fn follow(reader: impl Read, sender: &mpsc::SyncSender<Vec<u8>>) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut bytes = Vec::new();
        match (&mut reader).take(LINE_LIMIT).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if sender.send(bytes).is_err() {
            // Nobody reads the rest, but the writer must be able to end.
            let _ = io::copy(&mut reader, &mut io::sink());
            break;
        }
    }
}

/// A child and its process group, killed on drop.
struct Group(Child);

impl Group {
    /// SIGTERM first, SIGKILL after a timeout.
    fn end(&mut self) {
        // The leader has not been reaped, so the number still belongs to the group.
        let group = Pid::from_child(&self.0);
        let _ = kill_process_group(group, Signal::TERM);
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Members may outlive the leader; the number is not reused while they exist.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.0.wait();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::describe;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_is_kept_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let mut lines = Vec::new();
        let status = run(
            shell("echo one; echo two >&2; printf three; exit 3"),
            &log,
            &AtomicBool::new(false),
            "",
            &mut |line| lines.push(line.to_owned()),
        );
        assert_eq!(describe(status.unwrap()), "exited with status 3");
        assert_eq!(lines, ["one", "two", "three"]);
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "one\ntwo\nthree");
    }

    #[test]
    fn a_program_that_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let command = Command::new("no-such-program");
        let cancel = AtomicBool::new(false);
        let error = run(command, &dir.path().join("log"), &cancel, "", &mut |_| {}).unwrap_err();
        assert!(error.hint().unwrap().contains("no-such-program"));
    }
}
