// SPDX-License-Identifier: GPL-2.0-or-later
//! What was measured of commits.
//!
//! ```text
//! measured/KEY/HASH.json     the run document of a commit
//! measured/KEY/HASH.outside  the instructions of its operations outside hooks, by function
//! measured/KEY/HASH.failed   why there is none
//! ```
//!
//! KEY stands for all that decides a commit's counts besides the commit: how it is built, what is
//! measured, and which lsmeter does it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use experiment::bisection::Commit;
use experiment::{DOCUMENT_LIMIT_BYTES, Document, Kind};
use sha2::{Digest, Sha256};

use crate::BisectError;

const FAILED: &str = "failed";
const DOCUMENT: &str = "json";
const OUTSIDE: &str = "outside";
/// Most of a reason that is read.
const REASON_LIMIT: u64 = 64 << 10;

/// Instructions outside hooks of each operation, by function. Operations are called as
/// [`outside_key`] says.
pub type Outside = BTreeMap<String, BTreeMap<String, u64>>;

/// What an operation is called in [`Outside`].
#[must_use]
pub fn outside_key(configuration: &str, operation: &str) -> String {
    format!("{configuration}\t{operation}")
}

/// What was measured of a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Its run document.
    pub document: Document,
    /// What it executed outside hooks.
    pub outside: Outside,
}

/// What is known of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// It was measured.
    Measured(Box<Measured>),
    /// It cannot be built or measured: why.
    Failed(String),
}

/// What was measured of commits in one way.
#[derive(Debug)]
pub struct Kept {
    dir: PathBuf,
}

impl Kept {
    /// Opens what is below `place`; `way` is all that decides counts besides the commit.
    ///
    /// # Errors
    /// If its directory cannot be made.
    pub fn open(place: &Path, way: &[String]) -> Result<Kept, BisectError> {
        let mut hash = Sha256::new();
        for part in way {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let key: String = hash
            .finalize()
            .iter()
            .take(8)
            .map(|b| format!("{b:02x}"))
            .collect();
        let dir = place.join("measured").join(key);
        fs::create_dir_all(&dir).map_err(BisectError::io("create", &dir))?;
        Ok(Kept { dir })
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file of a commit's run document.
    #[must_use]
    pub fn document(&self, commit: &Commit) -> PathBuf {
        self.file(commit, DOCUMENT)
    }

    fn file(&self, commit: &Commit, extension: &str) -> PathBuf {
        self.dir.join(&commit.hash).with_extension(extension)
    }

    /// Forgets all.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn forget(&self) -> Result<(), BisectError> {
        fs::remove_dir_all(&self.dir).map_err(BisectError::io("remove", &self.dir))?;
        fs::create_dir_all(&self.dir).map_err(BisectError::io("create", &self.dir))
    }

    /// What is known of a commit. What a killed lsmeter or another version left is as good as
    /// nothing.
    #[must_use]
    pub fn get(&self, commit: &Commit) -> Option<Record> {
        let read =
            |extension, limit| kernels::files::read(&self.file(commit, extension), limit).ok();
        if let Some(bytes) = read(DOCUMENT, DOCUMENT_LIMIT_BYTES) {
            let document = Document::parse_as(Kind::Run, &bytes).ok()?;
            let outside = read(OUTSIDE, DOCUMENT_LIMIT_BYTES);
            let outside = outside.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let outside = outside.unwrap_or_default();
            return Some(Record::Measured(Box::new(Measured { document, outside })));
        }
        let reason = read(FAILED, REASON_LIMIT)?;
        Some(Record::Failed(
            String::from_utf8_lossy(&reason).into_owned(),
        ))
    }

    /// Keeps it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&self, commit: &Commit, record: &Record) -> Result<(), BisectError> {
        match record {
            Record::Measured(measured) => {
                // The document last: with it all is there.
                let outside = serde_json::to_vec(&measured.outside).map_err(io::Error::other);
                let path = self.file(commit, OUTSIDE);
                let outside = outside.map_err(BisectError::io("write", &path))?;
                self.write(commit, OUTSIDE, |file| file.write_all(&outside))?;
                self.write(commit, DOCUMENT, |file| {
                    measured.document.write(file).map_err(io::Error::other)
                })
            }
            Record::Failed(reason) => {
                self.write(commit, FAILED, |file| file.write_all(reason.as_bytes()))
            }
        }
    }

    fn write(
        &self,
        commit: &Commit,
        extension: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), BisectError> {
        let path = self.file(commit, extension);
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
            fill(&mut file)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(BisectError::io("write", &path))
    }
}
