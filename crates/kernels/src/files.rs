// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads files, and writes them completely or not at all.

use crate::error::Error;
use crate::scratch::Scratch;
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let out = read_head(path, limit + 1)?;
    if out.len() as u64 > limit {
        let reason = format!("it is longer than {limit} bytes");
        return Err(Error::damaged(path.display(), reason));
    }
    Ok(out)
}

pub(crate) fn read_head(path: &Path, length: u64) -> Result<Vec<u8>, Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut out = Vec::new();
    file.take(length)
        .read_to_end(&mut out)
        .map_err(Error::io("read", path))?;
    Ok(out)
}

/// The last `length` bytes.
pub fn read_tail(path: &Path, length: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(length);
    file.seek(SeekFrom::Start(start))?;
    let mut out = Vec::new();
    file.take(length).read_to_end(&mut out)?;
    Ok(out)
}

/// The canonical path of an existing file; `kind` and `hint` are for errors.
pub(crate) fn find(path: &Path, kind: &str, hint: &str) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => {
            Error::usage(format!("{}: no such {kind}", path.display()), hint)
        }
        _ => Error::io("find", path)(e),
    })
}

pub fn digest(data: &[u8]) -> String {
    hex(&Sha256::digest(data))
}

pub fn digest_file(path: &Path) -> Result<String, Error> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(count) => hash.update(&buffer[..count]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io("read", path)(e)),
        }
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub(crate) fn create_dir(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::io("create", path))
}

pub(crate) fn write(path: &Path, data: &[u8]) -> Result<(), Error> {
    let mut file = File::create(path).map_err(Error::io("create", path))?;
    file.write_all(data)
        .and_then(|()| file.sync_all())
        .map_err(Error::io("write", path))
}

pub fn write_sealed(path: &Path, data: &[u8]) -> io::Result<()> {
    crate::scratch::replace(path, |file| {
        file.write_all(digest(data).as_bytes())?;
        file.write_all(data)
    })
}

/// Reads what [`write_sealed`] wrote. `None` if missing, unreadable, longer than `limit` bytes or
/// changed: the data can be made again.
pub fn read_sealed(path: &Path, limit: u64) -> Option<Vec<u8>> {
    const SEAL: usize = 64;
    let mut sealed = read(path, limit.saturating_add(SEAL as u64)).ok()?;
    let data = (sealed.len() >= SEAL).then(|| sealed.split_off(SEAL))?;
    (sealed == digest(&data).as_bytes()).then_some(data)
}

pub(crate) fn sync_tree(dir: &Path) -> Result<(), Error> {
    for path in walk(dir)? {
        sync(&path)?;
    }
    sync(dir)
}

pub(crate) fn sync(path: &Path) -> Result<(), Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    file.sync_all().map_err(Error::io("sync", path))
}

/// Regular files and directories below `dir`, sorted; links are neither followed nor listed.
pub(crate) fn walk(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    const MOST: usize = 1_000_000;
    let mut out = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(dir) = pending.pop() {
        let entries = fs::read_dir(&dir).map_err(Error::io("list", &dir))?;
        for entry in entries {
            let entry = entry.map_err(Error::io("list", &dir))?;
            let kind = entry.file_type().map_err(Error::io("list", &dir))?;
            if kind.is_dir() {
                pending.push(entry.path());
            }
            if kind.is_dir() || kind.is_file() {
                out.push(entry.path());
            }
            if out.len() > MOST {
                return Err(Error::damaged(dir.display(), "it has too many files"));
            }
        }
    }
    out.sort();
    Ok(out)
}

/// A scratch directory of the store; creates `parent` if needed.
pub(crate) fn scratch(parent: &Path) -> Result<Scratch, Error> {
    create_dir(parent)?;
    Scratch::new_in(parent).map_err(|error| match is_refused(&error) {
        true => Error::Environment {
            what: format!(
                "cannot write to the cache {}: {}",
                parent.display(),
                error.kind()
            ),
            hint: "set XDG_CACHE_HOME to a directory that you may write to".into(),
        },
        false => Error::io("create a directory in", parent)(error),
    })
}

fn is_refused(error: &io::Error) -> bool {
    let refusals = [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ];
    refusals.contains(&error.kind())
}

impl Scratch {
    pub(crate) fn subdirectory(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path().join(name);
        create_dir(&path)?;
        Ok(path)
    }

    /// Syncs the directory `from` and renames it to `to`. An existing `to` stays: its name implies
    /// the same content.
    pub(crate) fn commit(&self, from: &Path, to: &Path) -> Result<(), Error> {
        sync_tree(from)?;
        match fs::rename(from, to) {
            Ok(()) => {}
            Err(_) if to.is_dir() => return Ok(()),
            Err(e) => return Err(Error::io("create", to)(e)),
        }
        to.parent().map_or(Ok(()), sync)
    }

    pub(crate) fn replace(&self, data: &[u8], to: &Path) -> Result<(), Error> {
        let from = self.path().join("replacement");
        write(&from, data)?;
        fs::rename(&from, to).map_err(Error::io("create", to))?;
        to.parent().map_or(Ok(()), sync)
    }
}

/// An exclusive lock, held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// `waiting` is called once if another holds the lock.
    pub fn take(path: &Path, waiting: &mut dyn FnMut()) -> Result<Lock, Error> {
        let file = open_lock(path).map_err(Error::io("create", path))?;
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => waiting(),
            Err(TryLockError::Error(e)) => return Err(Error::io("lock", path)(e)),
        }
        loop {
            match file.lock() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                locked => {
                    locked.map_err(Error::io("lock", path))?;
                    return Ok(Lock { _file: file });
                }
            }
        }
    }
}

/// Another user's lock file can be locked, but not written to.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    match options.append(true).create(true).open(path) {
        Err(e) if is_refused(&e) => File::open(path),
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path().join("tmp");
        fs::create_dir_all(parent.join("1-unrelated")).unwrap();
        let scratch = scratch(&parent).unwrap();
        let kept = scratch.path().join("entry");
        fs::create_dir(&kept).unwrap();
        write(&kept.join("file"), b"x").unwrap();
        let target = dir.path().join("entry");
        scratch.commit(&kept, &target).unwrap();
        drop(scratch);
        assert!(target.join("file").exists());
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 1);
    }

    #[test]
    fn a_lock_excludes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = Lock::take(&path, &mut || panic!("nobody holds it")).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let other = std::thread::spawn({
            let path = path.clone();
            move || Lock::take(&path, &mut || sender.send(()).unwrap()).map(|_| ())
        });
        receiver.recv().unwrap();
        drop(first);
        other.join().unwrap().unwrap();
    }

    #[test]
    fn lengths_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write(&path, &[0; 100]).unwrap();
        assert_eq!(read(&path, 100).unwrap().len(), 100);
        assert!(read(&path, 99).is_err());
        assert_eq!(digest_file(&path).unwrap(), digest(&[0; 100]));
    }
}
