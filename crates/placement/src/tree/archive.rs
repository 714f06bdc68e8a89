// SPDX-License-Identifier: GPL-2.0-or-later
//! A tarball of a kernel's sources. What can be needed is kept in memory, nothing is
//! written; links in it are not followed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use liblzma::read::XzDecoder;
use liblzma::stream::Stream;

use super::{Entry, MAX_FILE, MAX_FILES, wanted};
use crate::error::PlacementError;

/// Most bytes that are kept of an archive.
const MAX_KEPT: u64 = 512 << 20;
/// Most bytes that an archive may unpack to; the sources of 7.2 have 1.6 GiB.
const MAX_UNPACKED: u64 = 8 << 30;
/// Most bytes that unpacking itself may take; `xz -9` asks for 65 MiB.
const MAX_UNPACKER: u64 = 256 << 20;
/// What may be needed of a tree.
const KEPT: [&str; 11] = [
    "arch/x86/",
    "block/",
    "fs/",
    "include/linux/",
    "include/net/",
    "io_uring/",
    "ipc/",
    "kernel/",
    "mm/",
    "net/",
    "security/",
];

#[derive(Debug)]
pub(super) struct Archive {
    files: BTreeMap<String, Vec<u8>>,
}

impl Archive {
    pub(super) fn open(path: &Path) -> Result<Self, PlacementError> {
        let unreadable = |source| PlacementError::Unreadable {
            path: path.to_path_buf(),
            source,
        };
        let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
        let mut magic = Vec::new();
        reader
            .by_ref()
            .take(6)
            .read_to_end(&mut magic)
            .map_err(unreadable)?;
        let whole = std::io::Cursor::new(magic.clone()).chain(reader);
        if magic.starts_with(b"\xfd7zXZ") {
            // As `xz` does, what is asked for must not be whatever the archive says.
            let stream = Stream::new_stream_decoder(MAX_UNPACKER, 0);
            let stream = stream.map_err(|error| unreadable(error.into()))?;
            Self::unpack(XzDecoder::new_stream(whole, stream), path)
        } else {
            Self::unpack(whole, path)
        }
    }

    fn unpack(reader: impl Read, path: &Path) -> Result<Self, PlacementError> {
        let bad = |error: std::io::Error| PlacementError::BadArchive {
            path: path.to_path_buf(),
            reason: error.to_string(),
        };
        let too_large = |what, limit| PlacementError::TooLarge {
            path: path.to_path_buf(),
            what,
            limit,
        };
        let mut archive = tar::Archive::new(reader.take(MAX_UNPACKED));
        let mut files = BTreeMap::new();
        let mut kept = 0u64;
        for item in archive.entries().map_err(bad)? {
            let mut item = item.map_err(bad)?;
            if !item.header().entry_type().is_file() || item.size() > MAX_FILE {
                continue;
            }
            let Some(name) = inner_name(&item.path_bytes()) else {
                continue;
            };
            if !is_kept(&name) {
                continue;
            }
            kept += item.size();
            if kept > MAX_KEPT {
                return Err(too_large("the size of its sources in bytes", MAX_KEPT));
            }
            if files.len() >= MAX_FILES {
                return Err(too_large("the number of files", MAX_FILES as u64));
            }
            let mut bytes = Vec::new();
            item.read_to_end(&mut bytes).map_err(bad)?;
            files.insert(name, bytes);
        }
        Ok(Self { files })
    }

    pub(super) fn from_files(mut files: BTreeMap<String, Vec<u8>>) -> Self {
        files.retain(|name, bytes| is_kept(name) && bytes.len() as u64 <= MAX_FILE);
        Self { files }
    }

    pub(super) fn list(&self, paths: &[String]) -> Vec<Entry> {
        let entries = self.files.iter().filter(|(path, _)| wanted(paths, path));
        entries
            .map(|(path, bytes)| Entry {
                path: path.clone(),
                size: bytes.len() as u64,
                stamp: stamp(bytes),
            })
            .collect()
    }

    pub(super) fn read(&self, archive: &Path, path: &str) -> Result<Vec<u8>, PlacementError> {
        self.files
            .get(path)
            .cloned()
            .ok_or_else(|| PlacementError::Unreadable {
                path: archive.join(path),
                source: std::io::Error::other("it is not in the archive"),
            })
    }
}

/// May a file be needed?
fn is_kept(name: &str) -> bool {
    let source = name.ends_with(".c") || name.ends_with(".h");
    name == "Makefile" || source && KEPT.iter().any(|top| name.starts_with(top))
}

fn stamp(bytes: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// The name below the archive's top directory, if it is a plain one.
fn inner_name(path: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(path).ok()?;
    let path = path.strip_prefix("./").unwrap_or(path);
    let (_, inner) = path.split_once('/')?;
    let plain = inner
        .split('/')
        .all(|part| !part.is_empty() && part != "." && part != "..");
    (plain && inner.len() < 512).then(|| inner.to_owned())
}
