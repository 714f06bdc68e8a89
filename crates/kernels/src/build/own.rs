// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels that a command of the user's builds.

use super::{log, make, steps};
use crate::child::describe;
use crate::error::Error;
use crate::files;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// Has the shell run `command` in `dir`; what it prints goes to `log` and, line by line, to
/// `line`.
///
/// # Errors
/// [`Error::Build`] with the first lines of what failed; [`Error::Interrupted`] once `cancel` is
/// true: all that it started is gone; [`Error::Io`] if the log cannot be written.
pub fn build_by(
    command: &str,
    dir: &Path,
    log: &Path,
    cancel: &AtomicBool,
    line: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    files::write(log, b"")?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(dir);
    let status = make::run(shell, log, cancel, "the build", line)?;
    if status.success() {
        return Ok(());
    }
    let lines = log::first_error(&steps::log_end(log).unwrap_or_default());
    let shown: String = command.chars().take(80).collect();
    Err(Error::Build {
        what: format!("`{shown}` {}", describe(status)),
        hint: format!("all that it printed is in {}", log.display()),
        lines,
        log: log.to_path_buf(),
    })
}
