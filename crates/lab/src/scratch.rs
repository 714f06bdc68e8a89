// SPDX-License-Identifier: GPL-2.0-or-later
//! Directories that are gone when lsmeter has ended, however it does.

use std::fs;
use std::path::Path;

/// Removes what earlier boots left behind whose lsmeter was killed.
pub fn remove_stale_scratch(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name
            .to_str()
            .and_then(|name| name.strip_prefix(SCRATCH_PREFIX))
            .and_then(|rest| rest.split('-').next())
            .and_then(|pid| pid.parse::<i32>().ok())
            .and_then(rustix::process::Pid::from_raw)
        else {
            continue;
        };
        if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

const SCRATCH_PREFIX: &str = "lsmeter-";

/// A directory for one boot, gone when dropped.
///
/// # Errors
/// The system's.
pub fn scratch() -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix(&format!("{SCRATCH_PREFIX}{}-", std::process::id()))
        .tempdir()
}
