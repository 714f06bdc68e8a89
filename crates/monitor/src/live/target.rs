// SPDX-License-Identifier: GPL-2.0-or-later
//! A command that waits until it is watched.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};

use model::Failure;

use crate::MonitorError;

pub struct Target {
    name: String,
    pub process: u32,
    /// The process reads from the other end, and ends if this end is closed.
    go: Option<io::PipeWriter>,
    spawned: Option<JoinHandle<io::Result<Child>>>,
    child: Option<Child>,
}

impl Target {
    pub fn prepare(words: &[OsString]) -> Result<Target, MonitorError> {
        let name = words[0].to_string_lossy().into_owned();
        // Check this now, because attaching takes seconds.
        which::which(&words[0]).map_err(|_| cannot_execute(&name, &"there is no such program"))?;
        let pipe = || io::pipe().map_err(MonitorError::doing("cannot make a pipe"));
        let (go_read, go) = pipe()?;
        let (mut number_read, number) = pipe()?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        let others_go = go.as_raw_fd();
        let ready = move || -> io::Result<()> {
            // SAFETY: only this process has this copy, and nothing here uses it. If it stayed open,
            // the process would not notice that lsmeter has ended.
            unsafe { rustix::io::close(others_go) };
            let process = rustix::process::getpid().as_raw_nonzero().get();
            rustix::io::write(number.as_fd(), &process.to_ne_bytes())?;
            let mut byte = [0u8];
            match rustix::io::retry_on_intr(|| rustix::io::read(go_read.as_fd(), &mut byte))? {
                1 => Ok(()),
                // lsmeter has ended.
                _ => Err(io::ErrorKind::BrokenPipe.into()),
            }
        };
        // SAFETY: between fork and exec it only calls close, getpid, write and read, which are
        // async-signal-safe; nothing is allocated or locked.
        unsafe { command.pre_exec(ready) };
        // spawn() returns after execve.
        let spawned = thread::spawn(move || command.spawn());
        let mut bytes = [0u8; 4];
        let read = number_read.read_exact(&mut bytes);
        if read.is_err() {
            return Err(match spawned.join() {
                Ok(Err(error)) => MonitorError::doing(format!("starting {name}"))(error),
                _ => MonitorError::Lost { name },
            });
        }
        Ok(Target {
            name,
            process: u32::from_ne_bytes(bytes),
            go: Some(go),
            spawned: Some(spawned),
            child: None,
        })
    }

    pub fn begin(&mut self) -> Result<(), MonitorError> {
        if let Some(mut go) = self.go.take() {
            let doing = MonitorError::doing(format!("starting {}", self.name));
            go.write_all(&[1]).map_err(doing)?;
        }
        let Some(spawned) = self.spawned.take() else {
            return Ok(());
        };
        let child = spawned
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("its process has ended")));
        self.child = Some(child.map_err(|error| cannot_execute(&self.name, &error))?);
        Ok(())
    }

    /// Also true if its state cannot be read.
    pub fn has_ended(&mut self) -> bool {
        let child = self.child.as_mut();
        child.is_none_or(|child| !matches!(child.try_wait(), Ok(None)))
    }

    pub fn end(&mut self) -> Option<String> {
        match self.child.as_mut()?.try_wait() {
            Ok(Some(status)) if !status.success() => {
                Some(format!("the command ended with {status}"))
            }
            Ok(None) => Some(format!(
                "the command continues unwatched, as process {}",
                self.process
            )),
            _ => None,
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // The pipe is closed without writing a byte, so a waiting process ends.
        self.go = None;
        if let Some(spawned) = self.spawned.take() {
            let _ = spawned.join();
        }
    }
}

fn cannot_execute(name: &str, why: &dyn Display) -> MonitorError {
    let what = format!("cannot execute {name}: {why}");
    Failure::usage(what, "give a command in PATH, or the path of a program").into()
}
