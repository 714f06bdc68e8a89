// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs a program that makes a file system. The caller can cancel it.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use kernels::child::die_with_parent;
use rustix::process::Signal;

use super::Error;
use crate::process::Process;

const PERIOD: Duration = Duration::from_millis(20);

/// Runs a program without input. Returns its exit status and the end of its error output.
pub(super) fn run(
    mut command: Command,
    program: &Path,
    tick: &mut dyn FnMut() -> Result<(), Error>,
) -> Result<(ExitStatus, String), Error> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    die_with_parent(&mut command, Signal::KILL);
    tick()?;
    let mut process = Process::start(command).map_err(Error::io("run", program))?;
    loop {
        process.wait_at_most(PERIOD);
        if let Some(status) = process.status() {
            process.end();
            return Ok((status, process.stderr()));
        }
        tick()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn whoever_waits_may_end_it() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let begun = Instant::now();
        let mut ticks = 0;
        let mut tick = || {
            ticks += 1;
            match ticks {
                3 => Err(Error::Interrupted { what: "it".into() }),
                _ => Ok(()),
            }
        };
        let ended = run(command, Path::new("sleep"), &mut tick);
        assert!(matches!(ended, Err(Error::Interrupted { .. })));
        assert!(begun.elapsed() < Duration::from_secs(300));
    }

    #[test]
    fn what_it_complains_of_is_told() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no room >&2; exit 3"]);
        let (status, text) = run(command, Path::new("sh"), &mut || Ok(())).unwrap();
        assert_eq!((status.code(), text.as_str()), (Some(3), "no room\n"));
    }
}
