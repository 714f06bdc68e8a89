// SPDX-License-Identifier: GPL-2.0-or-later
//! Documents that are given by their files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use experiment::{DOCUMENT_LIMIT_BYTES, Document, DocumentError, Kind};

use crate::failure::usage;

/// Who writes documents of every kind.
pub const ANY: &str = "give a document that lsmeter wrote, with --output or --record";

/// What is in a file, as far as a document may be long. `hint` says what is to be given.
///
/// # Errors
/// If it cannot be read.
pub fn bytes(path: &Path, hint: &str) -> Result<Vec<u8>> {
    let read = || {
        let mut bytes = Vec::new();
        // One byte more than may be, so that the parser refuses what is too long.
        let mut file = File::open(path)?.take(DOCUMENT_LIMIT_BYTES + 1);
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read()
        .map_err(|error: io::Error| usage(format!("cannot read {}: {error}", path.display()), hint))
}

/// Reads one with `parse`, such as [`Document::parse`]. `hint` says what is to be given.
///
/// # Errors
/// If there is no such file, or it holds none.
pub fn read_as<T>(
    path: &Path,
    hint: &str,
    parse: impl FnOnce(&[u8]) -> Result<T, DocumentError>,
) -> Result<T> {
    parse(&bytes(path, hint)?).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads a document of measurements of this kind. `hint` says what is to be given.
///
/// # Errors
/// If there is no such file, or it holds none.
pub fn read_kind(path: &Path, kind: Kind, hint: &str) -> Result<Document> {
    read_as(path, hint, |bytes| Document::parse_as(kind, bytes))
}
