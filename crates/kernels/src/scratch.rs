// SPDX-License-Identifier: GPL-2.0-or-later
//! Directories that are removed after lsmeter ends, even if it is killed.
//!
//! Each has a marker file, which names the directory, and which the owner keeps locked (flock). A
//! later lsmeter removes a directory only if its marker names this very directory and is not
//! locked. Names or process ids would not be enough: users may choose the same name, and containers
//! have separate process ids.

use rustix::fs::{Mode, OFlags, open};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Prefix of the names; in the user's own directories, they are hidden.
const PREFIX: &str = "lsmeter-";
const HIDDEN_PREFIX: &str = ".lsmeter-";
const MARKER: &str = ".lsmeter-scratch";
const MARKER_LIMIT: u64 = 1024;

/// Removed on drop; after a kill, by the next lsmeter that makes one in the same parent.
#[derive(Debug)]
pub struct Scratch {
    // The order of fields matters: the lock is held until the directory is gone.
    dir: tempfile::TempDir,
    _lock: Option<File>,
}

impl Scratch {
    pub fn new() -> io::Result<Scratch> {
        Scratch::make(&std::env::temp_dir(), PREFIX)
    }

    pub fn new_in(parent: &Path) -> io::Result<Scratch> {
        Scratch::make(parent, HIDDEN_PREFIX)
    }

    fn make(parent: &Path, prefix: &str) -> io::Result<Scratch> {
        remove_stale_once(parent);
        let dir = tempfile::Builder::new().prefix(prefix).tempdir_in(parent)?;
        let lock = mark(dir.path())?;
        Ok(Scratch { dir, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Writes a file completely or not at all, with the permissions that the umask allows.
pub fn replace<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let scratch = Scratch::new_in(parent)?;
    let made = scratch.path().join("file");
    let mut file = File::create_new(&made)?;
    fill(&mut file)?;
    file.sync_all()?;
    fs::rename(&made, path)?;
    // Not every writable directory can be synced; the file is complete either way.
    let _ = File::open(parent).and_then(|parent| parent.sync_all());
    Ok(())
}

/// Writes and locks the marker of `dir`. `None` if files cannot be locked: without a marker, the
/// directory is never removed as stale.
fn mark(dir: &Path) -> io::Result<Option<File>> {
    let unmarked = dir.join("marker");
    let mut file = File::create_new(&unmarked)?;
    file.write_all(&marker(dir)?)?;
    if file.try_lock().is_err() {
        fs::remove_file(&unmarked)?;
        return Ok(None);
    }
    // The marker is locked before the rename, so that nobody finds it unlocked.
    fs::rename(&unmarked, dir.join(MARKER))?;
    Ok(Some(file))
}

/// Contents of a marker. Copied or renamed directories differ from it and belong to the user.
fn marker(dir: &Path) -> io::Result<Vec<u8>> {
    let name = dir.file_name().unwrap_or_default();
    let inode = fs::symlink_metadata(dir)?.ino();
    let mut text = format!("lsmeter removes this directory: {inode} ").into_bytes();
    text.extend(name.as_encoded_bytes());
    Ok(text)
}

/// Removes directories of killed processes in `parent`, once for each parent.
fn remove_stale_once(parent: &Path) {
    static DONE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !done.iter().any(|known| known == parent) {
        remove_stale(parent);
        done.push(parent.to_path_buf());
    }
}

fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if [PREFIX, HIDDEN_PREFIX]
            .map(str::as_bytes)
            .iter()
            .any(|p| name.starts_with(p))
            && let Some(_lock) = take_over(&entry.path())
        {
            // On failure the next lsmeter tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Locks a directory that this user's lsmeter left behind.
fn take_over(dir: &Path) -> Option<File> {
    let own = rustix::process::geteuid().as_raw();
    let about = fs::symlink_metadata(dir).ok()?;
    if !about.is_dir() || about.uid() != own {
        return None;
    }
    // A file of another kind must not block or redirect lsmeter.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(dir.join(MARKER), flags, Mode::empty()).ok()?);
    let about = file.metadata().ok()?;
    if !about.is_file() || about.uid() != own {
        return None;
    }
    file.try_lock().ok()?;
    let mut text = Vec::new();
    (&file).take(MARKER_LIMIT).read_to_end(&mut text).ok()?;
    (text == marker(dir).ok()?).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn left_behind(parent: &Path) -> PathBuf {
        let Scratch { dir, _lock } = Scratch::new_in(parent).unwrap();
        let path = dir.keep();
        fs::write(path.join("file"), "x").unwrap();
        path
    }

    #[test]
    fn only_what_a_killed_one_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let running = Scratch::new_in(parent).unwrap();
        let left = left_behind(parent);
        let renamed = left_behind(parent);
        let kept = parent.join("lsmeter-results");
        fs::rename(&renamed, &kept).unwrap();
        let copied = parent.join("lsmeter-copy");
        fs::create_dir(&copied).unwrap();
        fs::copy(left.join(MARKER), copied.join(MARKER)).unwrap();
        let own = parent.join("lsmeter-2026-11-29");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("results.json"), "precious").unwrap();
        std::os::unix::fs::symlink(&left, parent.join("lsmeter-link")).unwrap();
        fs::write(parent.join(".lsmeter-file"), "").unwrap();

        remove_stale(parent);
        assert!(!left.exists());
        for kept in [running.path(), &kept, &copied, &own.join("results.json")] {
            assert!(kept.exists(), "{}", kept.display());
        }
        drop(running);
        let rest = [
            ".lsmeter-file",
            "lsmeter-2026-11-29",
            "lsmeter-copy",
            "lsmeter-link",
            "lsmeter-results",
        ];
        assert_eq!(names(parent), rest);
    }
}
