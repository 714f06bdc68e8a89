// SPDX-License-Identifier: GPL-2.0-or-later
//! A tarball of a kernel's sources. What can be needed is held in memory, or kept beside
//! what was found in other trees; links in it are not followed.

use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kernels::tar::{self, Kind};
use liblzma::stream::{MtStreamBuilder, Stream};

use super::kept::{self, Files, Kept};
use super::{Entry, MAX_FILE, MAX_FILES, unreadable, wanted};
use crate::error::PlacementError;
use crate::store::checksum;

/// Most bytes that are kept of an archive.
const MAX_KEPT: u64 = 512 << 20;
/// Most bytes that an archive may unpack to; the sources of 7.2 have 1.6 GiB.
const MAX_UNPACKED: u64 = 8 << 30;
/// Most bytes that unpacking itself may take; `xz -9` asks for 65 MiB.
const MAX_UNPACKER: u64 = 256 << 20;
/// Most threads that unpack.
const MAX_UNPACKERS: usize = 4;
/// What may be needed of a tree, besides what is of this machine's architecture.
const KEPT: [&str; 10] = [
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
pub(super) enum Archive {
    Memory(Files),
    /// In a file beside; the tarball is read again if that is damaged.
    Kept {
        kept: Kept,
        archive: PathBuf,
        place: PathBuf,
        again: OnceLock<Option<Files>>,
    },
}

impl Archive {
    pub(super) fn open(path: &Path) -> Result<Self, PlacementError> {
        unpacked(path).map(Self::Memory)
    }

    /// Opens a tarball, or what was unpacked of it before. `unpacking` is called before it
    /// is unpacked; the result is kept in the directory.
    pub(super) fn open_kept(
        path: &Path,
        directory: &Path,
        unpacking: impl FnOnce(),
    ) -> Result<Self, PlacementError> {
        let place = kept::place(directory, path);
        let from_place = || {
            let place = place.as_deref()?;
            Some(Self::Kept {
                kept: kept::open(place)?,
                archive: path.to_path_buf(),
                place: place.to_path_buf(),
                again: OnceLock::new(),
            })
        };
        if let Some(archive) = from_place() {
            return Ok(archive);
        }
        unpacking();
        let files = unpacked(path)?;
        if let Some(place) = &place {
            // If it cannot be written, it is only slower the next time.
            let _ = kept::write(place, &files);
        }
        Ok(from_place().unwrap_or(Self::Memory(files)))
    }

    pub(super) fn from_files(mut files: Files) -> Self {
        files.retain(|name, bytes| is_kept(name) && bytes.len() as u64 <= MAX_FILE);
        Self::Memory(files)
    }

    pub(super) fn list(&self, paths: &[String]) -> Vec<Entry> {
        let entry = |path: &String, size, sum| Entry {
            path: path.clone(),
            size,
            stamp: u64::from_le_bytes(sum),
        };
        match self {
            Self::Memory(files) => {
                let files = files.iter().filter(|(path, _)| wanted(paths, path));
                files
                    .map(|(path, bytes)| entry(path, bytes.len() as u64, checksum(bytes)))
                    .collect()
            }
            Self::Kept { kept, .. } => {
                let parts = kept.parts.iter().filter(|(path, _)| wanted(paths, path));
                parts
                    .map(|(path, part)| entry(path, part.size, part.sum))
                    .collect()
            }
        }
    }

    pub(super) fn read(&self, archive: &Path, path: &str) -> Result<Vec<u8>, PlacementError> {
        let bytes = match self {
            Self::Memory(files) => files.get(path).cloned(),
            Self::Kept {
                kept,
                archive,
                place,
                again,
            } => {
                let part = kept.parts.get(path);
                let damaged = || {
                    let files = again.get_or_init(|| unpacked_anew(archive, place));
                    files.as_ref()?.get(path).cloned()
                };
                part.and_then(|part| kept.read(part).or_else(damaged))
            }
        };
        let missing = || std::io::Error::other("it is not in the archive");
        bytes.ok_or_else(|| unreadable(&archive.join(path))(missing()))
    }
}

/// Unpacks a tarball again in place of what is kept of it, which is damaged.
fn unpacked_anew(archive: &Path, place: &Path) -> Option<Files> {
    let _ = std::fs::remove_file(place);
    let files = unpacked(archive).ok()?;
    let _ = kept::write(place, &files);
    Some(files)
}

/// The files of a tarball that an analysis can need.
fn unpacked(path: &Path) -> Result<Files, PlacementError> {
    let unreadable = unreadable(path);
    let mut reader = BufReader::new(File::open(path).map_err(&unreadable)?);
    let mut magic = Vec::new();
    let start = reader.by_ref().take(6).read_to_end(&mut magic);
    start.map_err(&unreadable)?;
    let whole = std::io::Cursor::new(magic.clone()).chain(reader);
    if magic.starts_with(b"\xfd7zXZ") {
        let stream = decoder().map_err(|error| unreadable(error.into()))?;
        // Threads wait for blocks of MiB: small pieces would only wake them.
        let whole = BufReader::with_capacity(1 << 20, whole);
        unpack(liblzma::bufread::XzDecoder::new_stream(whole, stream), path)
    } else {
        unpack(whole, path)
    }
}

/// Decodes blocks on all processors, as far as the limit allows. As with `xz`, what is
/// asked for must not be whatever the archive says.
fn decoder() -> Result<Stream, liblzma::stream::Error> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    MtStreamBuilder::new()
        .threads(u32::try_from(processors.min(MAX_UNPACKERS)).unwrap_or(1))
        .memlimit_threading(MAX_UNPACKER)
        .memlimit_stop(MAX_UNPACKER)
        .decoder()
}

fn unpack(reader: impl Read, path: &Path) -> Result<Files, PlacementError> {
    let bad = |error: std::io::Error| PlacementError::BadArchive {
        path: path.to_path_buf(),
        reason: error.to_string(),
    };
    let too_large = |what, limit| PlacementError::TooLarge {
        path: path.to_path_buf(),
        what,
        limit,
    };
    let mut files = Files::new();
    let mut kept = 0u64;
    tar::read(reader.take(MAX_UNPACKED), bad, |entry, data| {
        // Below the archive's top directory.
        let (_, name) = entry.path.split_once('/').unwrap_or_default();
        let readable = entry.kind == Kind::File && entry.size <= MAX_FILE;
        if !(readable && is_plain(name) && is_kept(name)) {
            return Ok(ControlFlow::Continue(()));
        }
        kept += entry.size;
        if kept > MAX_KEPT {
            return Err(too_large("the size of its sources in bytes", MAX_KEPT));
        }
        if files.len() >= MAX_FILES {
            return Err(too_large("the number of files", MAX_FILES as u64));
        }
        let mut bytes = Vec::new();
        data.read_to_end(&mut bytes).map_err(bad)?;
        files.insert(name.to_owned(), bytes);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(files)
}

/// Can an analysis need this file?
pub(super) fn is_kept(name: &str) -> bool {
    let source = name.ends_with(".c") || name.ends_with(".h");
    let of_arch = kernels::arch::ALL.iter().map(|arch| arch.source.directory);
    let mut tops = KEPT.into_iter().chain(of_arch);
    name == "Makefile" || source && tops.any(|top| name.starts_with(top))
}

/// Is it a name that leads nowhere else?
pub(super) fn is_plain(name: &str) -> bool {
    let mut parts = name.split('/');
    name.len() < 512 && parts.all(|part| !part.is_empty() && part != "." && part != "..")
}
