// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs the agent as a process on this machine, to measure time on real hardware without root.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::Failure;
use rustix::process::Signal;

use crate::error::LabError;
use crate::process::{Process, end_of, last_lines};
use crate::session::{AgentEvent, Break, Patience, Session};
use kernels::child::die_with_parent;

/// The agent may have to remove the tree walk's 19,255 files from a slow disk.
const LEAVE: Duration = Duration::from_secs(60);

/// A memfd, which does not need a directory that allows execution.
fn agent_file(agent: &[u8]) -> std::io::Result<File> {
    let fd = rustix::fs::memfd_create("lsmeter-agent", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(fd);
    file.write_all(agent)?;
    Ok(file)
}

pub fn measure(
    agent: &[u8],
    directives: &str,
    cells: &[u32],
    patience: Patience,
    cancel: &AtomicBool,
    listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
) -> Result<String, Break> {
    let failed = |error: std::io::Error| Break::Failed(format!("cannot start the agent: {error}"));
    let program = agent_file(agent).map_err(failed)?;
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let output = theirs.try_clone().map_err(failed)?;
    let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
    command
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(OwnedFd::from(output)))
        .stderr(Stdio::piped());
    die_with_parent(&mut command, Signal::TERM);
    let mut process = Process::start(command).map_err(failed)?;
    let session = Session {
        port: OwnedFd::from(ours).into(),
        cells,
        patience,
        process: Some(process.id()),
        cancel,
    };
    let outcome = session.run(
        Some(directives),
        &mut || process.status().map(|status| end_of("the agent", status)),
        listener,
    );
    // The agent removes its directory before it exits; it is killed only if it hangs.
    if outcome.is_err() {
        process.terminate();
    }
    process.wait_at_most(LEAVE);
    process.end();
    outcome.map_err(|end| {
        end.map_reason(|mut reason| {
            for line in last_lines(&process.stderr(), 4) {
                reason.push_str(&format!("\nagent: {line}"));
            }
            reason
        })
    })
}

pub fn check_directory(dir: &Path) -> Result<(), LabError> {
    // The error's own text contains the name of a temporary file, which is useless to a user.
    let refused = match tempfile::tempfile_in(dir) {
        _ if !dir.is_dir() => "no such directory".to_owned(),
        Err(error) => error.kind().to_string(),
        Ok(_) => return Ok(()),
    };
    let what = format!("{}: {refused}", dir.display());
    Err(Failure::usage(what, "name a directory that you may write to with --dir").into())
}
