// SPDX-License-Identifier: GPL-2.0-or-later
//! A directory of run documents, with an index by which series over time are found.
//!
//! The documents are the truth: each is a file as `lsmeter run` wrote it. The index, a
//! file beside them, only spares reading them all again. It follows what is
//! put into the directory or taken out of it, and is made anew if it is missing, damaged
//! or of another version.

mod index;
mod names;
mod select;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use diagnostics::{Failure, Fault};
use experiment::{DOCUMENT_LIMIT_BYTES, Document, DocumentError, Kind};
use kernels::decompress::unpacked;
use kernels::scratch::replace;
use sha2::{Digest, Sha256};

use index::Index;
pub use select::Selection;

/// Most files of a history's directory.
const FILES_LIMIT: usize = 100_000;

/// An open history.
#[derive(Debug)]
pub struct Archive {
    directory: PathBuf,
    index: Index,
    left_out: Vec<LeftOut>,
}

/// A file in the directory that series leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub file: String,
    /// Why: it is damaged, or no run document.
    pub why: String,
}

/// What became of a document that was to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It is in the history now, in a file of this name.
    New(String),
    /// It was there before, in a file of this name.
    Before(String),
}

impl Archive {
    /// Opens the history in a directory, and makes that if it is not there.
    ///
    /// # Errors
    /// If the directory cannot be made or read. An index that cannot be written is kept in
    /// memory.
    pub fn create(directory: &Path) -> Result<Archive, Failure> {
        fs::create_dir_all(directory).map_err(unreadable(directory))?;
        Archive::open(directory)
    }

    /// Opens the history in a directory that is there, and reads what is new in it.
    ///
    /// # Errors
    /// As [`Archive::create`].
    pub fn open(directory: &Path) -> Result<Archive, Failure> {
        let mut archive = Archive {
            directory: directory.to_owned(),
            index: Index::open(directory),
            left_out: Vec::new(),
        };
        archive.follow()?;
        Ok(archive)
    }

    /// Files that are in the directory and in no series.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Copies a run document into the directory, byte for byte and unpacked, under a name that tells
    /// when it began and what it is called, and takes it into the index.
    ///
    /// # Errors
    /// If it cannot be read or written, is damaged, or no run document; `label` must be of
    /// letters, digits, `.`, `_`, `+` and `-`, at most 64.
    pub fn add(&mut self, document: &Path, label: Option<&str>) -> Result<Added, Failure> {
        if let Some(label) = label.filter(|label| !names::is_label(label)) {
            return Err(Failure::usage(
                format!("`{label}` is no label"),
                "letters, digits, `.`, `_`, `+` and `-`, at most 64: v6.12-rc1",
            ));
        }
        let bytes = read(document)?;
        let path = document.display();
        let a_run = "give a document that `lsmeter run --output FILE` wrote";
        let damaged = |error: DocumentError| {
            let hint = error.hint().unwrap_or_else(|| a_run.to_owned());
            Failure::usage(format!("{path}: {error}"), hint)
        };
        let run = run(&bytes).map_err(damaged)?.map_err(|kind| {
            let kind = Kind::title(Some(kind));
            let what = format!("{path} is a {kind}: a history is of run documents");
            Failure::usage(what, a_run)
        })?;
        let digest = hexadecimal(&Sha256::digest(&bytes));
        if let Some(file) = self.index.file_of(&digest) {
            return Ok(Added::Before(file.to_owned()));
        }
        let name = names::file_name(started(&run), label, &digest);
        let path = self.directory.join(&name);
        replace(&path, |file| file.write_all(&bytes)).map_err(|error| {
            Failure::environment(
                format!("{}: cannot be written: {error}", path.display()),
                "name a directory that you may write to: --dir DIR",
            )
        })?;
        self.follow()?;
        Ok(Added::New(name))
    }

    /// The series that are selected, and where they change.
    pub fn series(&self, selection: &Selection) -> experiment::History {
        select::history(&self.index, selection)
    }

    /// Takes into the index what has come into the directory, and out of it what has gone.
    fn follow(&mut self) -> Result<(), Failure> {
        let mut files = Vec::new();
        let unreadable = unreadable(&self.directory);
        for entry in fs::read_dir(&self.directory).map_err(&unreadable)? {
            let entry = entry.map_err(&unreadable)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let is_document = names::stem(&name).is_some() && !name.starts_with('.');
            let metadata = fs::metadata(entry.path());
            if let Ok(metadata) = metadata
                && is_document
                && metadata.is_file()
            {
                files.push((name, index::Stamp::of(&metadata)));
            }
            if files.len() > FILES_LIMIT {
                let path = self.directory.display();
                return Err(Failure::usage(
                    format!("{path} has more than {FILES_LIMIT} files"),
                    "name a directory that holds run documents and nothing else",
                ));
            }
        }
        files.sort();
        let load = |name: &str| read(&self.directory.join(name));
        self.left_out = self.index.follow(&self.directory, files, &load);
        Ok(())
    }
}

/// A whole document, unpacked if it is packed.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One byte too many is refused where documents are read.
    let limit = DOCUMENT_LIMIT_BYTES + 1;
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .and_then(|_| unpacked(bytes, limit))
        .map_err(unreadable(path))
}

/// For `map_err`: what cannot be read, or made where it is a directory.
fn unreadable(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| {
        let what = format!("{}: cannot be read: {error}", path.display());
        let hint = "name a directory that `lsmeter history add` made, or documents that are there";
        match error.kind() {
            io::ErrorKind::NotFound => Failure::usage(what, hint),
            _ => Failure::environment(what, hint),
        }
    }
}

/// The run document in these bytes, or what other one is there.
fn run(bytes: &[u8]) -> Result<Result<Document, Kind>, DocumentError> {
    match Kind::of(bytes)? {
        Kind::Run => Document::parse(bytes).map(Ok),
        other => Ok(Err(other)),
    }
}

/// When measuring began; empty if the document does not say it.
fn started(run: &Document) -> &str {
    run.started.as_deref().unwrap_or_default()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
