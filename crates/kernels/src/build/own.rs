// SPDX-License-Identifier: GPL-2.0-or-later

use super::{log, make, steps};
use crate::child::describe;
use crate::error::Error;
use crate::files;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// Lets the shell run a user's `command` in `dir`. Its output goes to `log` and, line by line, to
/// `line`. After [`Error::Interrupted`], all its processes are gone.
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
    let mut lines = log::first_error(&steps::log_end(log));
    if lines.is_empty() {
        lines.push("it printed nothing".to_owned());
    }
    let shown: String = command.chars().take(80).collect();
    Err(Error::Build {
        what: format!("`{shown}` {}", describe(status)),
        hint: format!("its complete output is in {}", log.display()),
        lines,
        log: log.to_path_buf(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn what_fails_is_told_by_its_first_error() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let failed = |command: &str| {
            let cancel = AtomicBool::new(false);
            build_by(command, dir.path(), &log, &cancel, &mut |_| {}).unwrap_err()
        };
        let error = failed("echo 'a.c:1: error: no'; exit 2").to_string();
        assert!(
            error.ends_with("exited with status 2: a.c:1: error: no"),
            "{error}"
        );
        let error = failed("false");
        assert!(error.to_string().ends_with("it printed nothing"), "{error}");
        assert!(error.hint().unwrap().contains("log"), "{error}");
    }

    #[test]
    fn the_user_ends_it() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let cancel = AtomicBool::new(false);
        let ended = build_by("echo; sleep 1000", dir.path(), &log, &cancel, &mut |_| {
            cancel.store(true, Ordering::Relaxed);
        });
        assert!(matches!(ended, Err(Error::Interrupted { .. })));
    }
}
