// SPDX-License-Identifier: GPL-2.0-or-later
//! The journal as a file: finished cells are on disk before the next one begins.

use std::borrow::Borrow;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use model::journal::{Journal, JournalEntry, JournalHeader, is_begin};
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::LabError;

/// The journals of a command with several runs, one per run, always in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journals {
    /// The first; the others append a number to its name.
    pub first: PathBuf,
    pub resume: bool,
}

impl Journals {
    /// From 1: after `run.json.journal` comes `run.json.journal.2`. Resumes it only if it exists.
    pub fn number(&self, number: u32) -> Journals {
        let mut first = self.first.clone().into_os_string();
        if number > 1 {
            first.push(format!(".{number}"));
        }
        let first = PathBuf::from(first);
        Journals {
            resume: self.resume && first.exists(),
            first,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// No measurement: at most a header and part of a first measurement.
    Nothing,
    Cells,
    InUse,
}

/// A journal that cannot be read counts as having measurements.
pub fn left_in(path: &Path) -> Left {
    let Ok(file) = File::open(path) else {
        return Left::Cells;
    };
    if lock(&file).is_err() {
        return Left::InUse;
    }
    let mut reader = BufReader::new(file);
    let mut line = || {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map(|_| line)
    };
    let (Ok(header), Ok(first)) = (line(), line()) else {
        return Left::Cells;
    };
    match is_begin(&header) && !first.ends_with(b"\n") {
        true => Left::Nothing,
        false => Left::Cells,
    }
}

/// One lsmeter per journal. The lock ends with the process; file systems without locks are
/// accepted.
fn lock(file: &File) -> io::Result<()> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => {
            Err(io::Error::other("another lsmeter is writing it"))
        }
        _ => Ok(()),
    }
}

#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
}

impl JournalFile {
    /// Refuses an existing journal, which may have cells.
    pub fn begin(path: &Path, header: &JournalHeader) -> Result<JournalFile, LabError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .and_then(|file| lock(&file).map(|()| file))
            .map_err(LabError::io("create the journal", path))?;
        let mut journal = JournalFile {
            path: path.to_path_buf(),
            file,
        };
        journal.append(header.to_line())?;
        Ok(journal)
    }

    /// Returns the finished cells, and the file ready for more. A last line that a crash cut short
    /// is removed.
    pub fn resume<T: DeserializeOwned>(
        path: &Path,
        now: &JournalHeader,
    ) -> Result<(JournalFile, Journal<T>), LabError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .and_then(|file| lock(&file).map(|()| file))
            .map_err(LabError::io("open the journal", path))?;
        let journal = Journal::read(&mut file, now).map_err(|source| LabError::Journal {
            path: path.to_path_buf(),
            source,
        })?;
        file.set_len(journal.valid_bytes)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(LabError::io("cut the journal", path))?;
        let mut opened = JournalFile {
            path: path.to_path_buf(),
            file,
        };
        if journal.header.is_none() {
            opened.append(now.to_line())?;
        }
        Ok((opened, journal))
    }

    /// Replaces all cells. The old journal stays until the new one is on disk.
    pub fn replace<T: Serialize>(
        &mut self,
        header: &JournalHeader,
        entries: impl IntoIterator<Item = impl Borrow<JournalEntry<T>>>,
    ) -> Result<(), LabError> {
        // Named after the journal: removed with it.
        let mut new = self.path.clone().into_os_string();
        new.push(".1");
        let _ = std::fs::remove_file(&new);
        let mut file = JournalFile::begin(Path::new(&new), header)?;
        for entry in entries {
            file.add(entry.borrow())?;
        }
        let failed = LabError::io("replace the journal", &self.path);
        std::fs::rename(&new, &self.path).map_err(failed)?;
        self.file = file.file;
        Ok(())
    }

    pub fn add(&mut self, entry: &JournalEntry<impl Serialize>) -> Result<(), LabError> {
        self.append(entry.to_line())
    }

    fn append(&mut self, line: Result<String, serde_json::Error>) -> Result<(), LabError> {
        line.map_err(std::io::Error::other)
            .and_then(|line| self.file.write_all(line.as_bytes()))
            .and_then(|()| self.file.sync_data())
            .map_err(LabError::io("write the journal", &self.path))
    }
}
