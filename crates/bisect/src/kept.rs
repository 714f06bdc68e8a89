// SPDX-License-Identifier: GPL-2.0-or-later
//! What was measured of commits.
//!
//! ```text
//! measured/KEY/HASH.json     the run document of a commit
//! measured/KEY/HASH.outside  the document's digest, and the instructions of its operations outside
//!                            hooks, by function
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
use kernels::{files, scratch};
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

#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub document: Document,
    pub outside: Outside,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Record {
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

    pub fn forget(&self) -> Result<(), BisectError> {
        fs::remove_dir_all(&self.dir).map_err(BisectError::io("remove", &self.dir))?;
        fs::create_dir_all(&self.dir).map_err(BisectError::io("create", &self.dir))
    }

    /// What is known of a commit. What a killed lsmeter or another version left, or what has
    /// changed since, is as good as nothing.
    #[must_use]
    pub fn get(&self, commit: &Commit) -> Option<Record> {
        let read = |extension, limit| files::read(&self.file(commit, extension), limit).ok();
        if let Some(bytes) = read(DOCUMENT, DOCUMENT_LIMIT_BYTES) {
            let document = Document::parse_as(Kind::Run, &bytes).ok()?;
            let outside = files::read_sealed(&self.file(commit, OUTSIDE), DOCUMENT_LIMIT_BYTES)?;
            let (digest, outside) = serde_json::from_slice::<(String, _)>(&outside).ok()?;
            if digest != files::digest(&bytes) {
                return None;
            }
            return Some(Record::Measured(Box::new(Measured { document, outside })));
        }
        let reason = read(FAILED, REASON_LIMIT)?;
        Some(Record::Failed(
            String::from_utf8_lossy(&reason).into_owned(),
        ))
    }

    pub fn put(&self, commit: &Commit, record: &Record) -> Result<(), BisectError> {
        let path = |extension| self.file(commit, extension);
        let (path, bytes) = match record {
            Record::Measured(measured) => {
                let path = path(DOCUMENT);
                let mut document = Vec::new();
                let written = measured.document.write(&mut document);
                written.map_err(|e| BisectError::io("write", &path)(io::Error::other(e)))?;
                let outside = (files::digest(&document), &measured.outside);
                let outside = serde_json::to_vec(&outside).map_err(io::Error::other);
                let outside = outside.map_err(BisectError::io("write", &path))?;
                let beside = self.file(commit, OUTSIDE);
                files::write_sealed(&beside, &outside)
                    .map_err(BisectError::io("write", &beside))?;
                (path, document)
            }
            Record::Failed(reason) => (path(FAILED), reason.as_bytes().to_vec()),
        };
        scratch::replace(&path, |file| file.write_all(&bytes))
            .map_err(BisectError::io("write", &path))
    }
}
