// SPDX-License-Identifier: GPL-2.0-or-later
//! A tarball of a kernel's sources. The files that are needed are kept in memory or in the cache.
//! Links are not followed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kernels::tar::{self, Kind};
use liblzma::stream::{MtStreamBuilder, Stream};

use super::{MAX_FILE, MAX_FILES};
use model::Failure;

use crate::error::{bad_archive, too_large, unreadable};
use crate::store;

/// The largest number of bytes that are kept from an archive.
const MAX_KEPT: u64 = 512 << 20;
/// The sources of 7.2 have 1.6 GiB.
const MAX_UNPACKED: u64 = 8 << 30;
/// Decoder memory in bytes; `xz -9` needs 65 MiB.
const MAX_UNPACKER: u64 = 256 << 20;
const MAX_UNPACKERS: usize = 4;
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

/// A cached tarball of 6.12 takes 150 MiB.
const MOST: usize = 4;

pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// Calls `unpacking` before unpacking, and caches the result.
pub(super) fn open_kept(
    path: &Path,
    directory: &Path,
    unpacking: impl FnOnce(),
) -> Result<Files, Failure> {
    let place = place(directory, path);
    if let Some(files) = place.as_deref().and_then(kept) {
        return Ok(files);
    }
    unpacking();
    let files = unpacked(path)?;
    if let Some(place) = &place {
        // Without the cache the next run is only slower.
        let _ = keep(place, &files);
    }
    Ok(files)
}

/// `None` if the tarball cannot be identified.
fn place(directory: &Path, archive: &Path) -> Option<PathBuf> {
    let path = std::fs::canonicalize(archive).ok()?;
    let data = std::fs::metadata(&path).ok()?;
    // Includes the inode's change time, because the modification time can be set.
    let modified = (data.mtime(), data.mtime_nsec());
    let changed = (data.ctime(), data.ctime_nsec());
    let about = format!("{} {} {modified:?} {changed:?}", data.ino(), data.len());
    let parts = [about.as_bytes(), path.as_os_str().as_encoded_bytes()];
    Some(store::place(directory, &parts, "sources"))
}

/// A list of names and lengths, then the contents.
fn kept(place: &Path) -> Option<Files> {
    let bytes = store::read(place)?;
    let (list, mut rest): (Vec<(String, usize)>, &[u8]) = postcard::take_from_bytes(&bytes).ok()?;
    let mut files = Files::new();
    for (name, length) in list {
        let contents = rest.split_off(..length)?;
        files.insert(name, contents.to_vec());
    }
    Some(files)
}

fn keep(place: &Path, files: &Files) -> std::io::Result<()> {
    let list: Vec<_> = (files.iter())
        .map(|(name, contents)| (name, contents.len()))
        .collect();
    let mut bytes = postcard::to_stdvec(&list).map_err(std::io::Error::other)?;
    files.values().for_each(|contents| bytes.extend(contents));
    store::write(place, MOST, &bytes)
}

pub(super) fn unpacked(path: &Path) -> Result<Files, Failure> {
    let unreadable = unreadable(path);
    let mut reader = BufReader::new(File::open(path).map_err(&unreadable)?);
    let mut magic = Vec::new();
    let start = reader.by_ref().take(6).read_to_end(&mut magic);
    start.map_err(&unreadable)?;
    let whole = std::io::Cursor::new(magic.clone()).chain(reader);
    if magic.starts_with(b"\xfd7zXZ") {
        let stream = decoder().map_err(|error| unreadable(error.into()))?;
        // Decoder threads wait for large blocks, so small pieces would only wake them in vain.
        let whole = BufReader::with_capacity(1 << 20, whole);
        unpack(liblzma::bufread::XzDecoder::new_stream(whole, stream), path)
    } else {
        unpack(whole, path)
    }
}

/// A decoder that is multithreaded within the memory limit. As in `xz`, the archive does not
/// determine how much memory is used.
fn decoder() -> Result<Stream, liblzma::stream::Error> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    MtStreamBuilder::new()
        .threads(u32::try_from(processors.min(MAX_UNPACKERS)).unwrap_or(1))
        .memlimit_threading(MAX_UNPACKER)
        .memlimit_stop(MAX_UNPACKER)
        .decoder()
}

fn unpack(reader: impl Read, path: &Path) -> Result<Files, Failure> {
    let bad = |error: std::io::Error| bad_archive(path, error);
    let mut files = Files::new();
    let mut kept = 0u64;
    tar::read(reader.take(MAX_UNPACKED), bad, |entry, data| {
        let (_, name) = entry.path.split_once('/').unwrap_or_default();
        let readable = entry.kind == Kind::Regular && entry.size <= MAX_FILE;
        if !(readable && is_plain(name) && is_kept(name)) {
            return Ok(ControlFlow::Continue(()));
        }
        kept += entry.size;
        if kept > MAX_KEPT {
            let what = "the size of its sources in bytes";
            return Err(too_large(path, what, MAX_KEPT));
        }
        if files.len() >= MAX_FILES {
            return Err(too_large(path, "the number of files", MAX_FILES as u64));
        }
        let mut bytes = Vec::new();
        data.read_to_end(&mut bytes).map_err(bad)?;
        files.insert(name.to_owned(), bytes);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(files)
}

pub(super) fn is_kept(name: &str) -> bool {
    let source = name.ends_with(".c") || name.ends_with(".h");
    let of_arch = kernels::arch::ALL.iter().map(|arch| arch.source.directory);
    let mut tops = KEPT.into_iter().chain(of_arch);
    name == "Makefile" || source && tops.any(|top| name.starts_with(top))
}

fn is_plain(name: &str) -> bool {
    let mut parts = name.split('/');
    name.len() < 512 && parts.all(|part| !part.is_empty() && part != "." && part != "..")
}
