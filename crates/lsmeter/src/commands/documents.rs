// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads result files.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use kernels::decompress;
use model::{DOCUMENT_LIMIT_BYTES, Document, DocumentError, Kind};

use crate::failure::usage;

pub const ANY: &str = "give a result file that lsmeter wrote with --output or --record";

/// Contents of a file, decompressed (xz, gzip, zstd), up to the maximum length of a result file.
/// `hint` describes the expected file.
pub fn bytes(path: &Path, hint: &str) -> Result<Vec<u8>> {
    let limit = DOCUMENT_LIMIT_BYTES + 1;
    let read = at_most(path, limit).and_then(|bytes| decompress::unpacked(bytes, limit));
    read.map_err(|error| unreadable(path, error, hint))
}

/// Text of a file of at most `limit` bytes that passes `check`.
pub fn text(
    path: &Path,
    limit: u64,
    hint: &str,
    check: impl FnOnce(&str) -> Result<(), String>,
) -> Result<String> {
    let read = || -> Result<String, String> {
        let bytes = at_most(path, limit + 1).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > limit {
            return Err("it is too large".to_owned());
        }
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text")?;
        check(&text)?;
        Ok(text)
    };
    read().map_err(|why| unreadable(path, why, hint))
}

/// Does not rely on the file's length, because devices have none.
fn at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub fn unreadable(path: &Path, why: impl Display, hint: &str) -> anyhow::Error {
    usage(format!("cannot read {}: {why}", path.display()), hint)
}

pub fn read_as<T>(
    path: &Path,
    hint: &str,
    parse: impl FnOnce(&[u8]) -> Result<T, DocumentError>,
) -> Result<T> {
    parse(&bytes(path, hint)?).with_context(|| format!("cannot read {}", path.display()))
}

pub fn read_kind(path: &Path, kind: Kind, hint: &str) -> Result<Document> {
    read_as(path, hint, |bytes| Document::parse_as(kind, bytes))
}
