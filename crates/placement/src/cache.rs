// SPDX-License-Identifier: GPL-2.0-or-later
//! What was found in a tree, kept between runs in one file. A cache that is of another
//! version, of another configuration, or damaged is as good as none.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::load::{Bodies, FileData, Loaded};
use crate::series::Series;
use crate::tree::Tree;

/// A hash of the crate's code and facts: whatever changes, what other code wrote is not read.
const CODE: &str = env!("PLACEMENT_CODE");
const MAGIC: &[u8; 8] = b"lsmplace";
/// Largest cache that is read, in bytes.
const MAX_CACHE: u64 = 1 << 30;
/// Files that are written and read together, so that all processors take part.
const CHUNK: usize = 256;

#[derive(Serialize, Deserialize)]
struct Header {
    code: String,
    /// Length of each chunk in bytes, and a checksum of it.
    chunks: Vec<(u64, [u8; 8])>,
}

/// Caches that are kept in a directory; one has some ten MiB.
const MOST: usize = 16;

/// Where a tree's cache lies in a directory. The revisions of a repository that are of one
/// series share one, since most files of one are as in another.
pub(crate) fn place(directory: &Path, tree: &Tree, config: &Config) -> PathBuf {
    let mut digest = Sha256::new();
    let path = std::fs::canonicalize(tree.path()).unwrap_or_else(|_| tree.path().to_path_buf());
    digest.update(path.as_os_str().as_encoded_bytes());
    if tree.is_revision() {
        digest.update(format!("{:?}", Series::of(tree.version())));
    }
    digest.update([u8::from(tree.is_revision())]);
    digest.update(config.fingerprint().as_bytes());
    let name: String = digest
        .finalize()
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    directory.join(format!("{name}.placement"))
}

/// Reads a cache; nothing if there is none of use.
pub(crate) fn read(place: &Path) -> Vec<(FileData, Bodies)> {
    try_read(place).unwrap_or_default()
}

fn try_read(place: &Path) -> Option<Vec<(FileData, Bodies)>> {
    let mut bytes = Vec::new();
    let file = File::open(place).ok()?;
    (&file).take(MAX_CACHE).read_to_end(&mut bytes).ok()?;
    // Only which gives way first depends on it.
    let _ = file.set_modified(SystemTime::now());
    let rest = bytes.strip_prefix(MAGIC)?;
    let (header, mut rest): (Header, &[u8]) = postcard::take_from_bytes(rest).ok()?;
    if header.code != CODE {
        return None;
    }
    let mut chunks = Vec::new();
    for (length, sum) in header.chunks {
        let (chunk, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        chunks.push((chunk, sum));
        rest = behind;
    }
    let files: Vec<Vec<(FileData, Bodies)>> = chunks
        .into_par_iter()
        .map(|(chunk, sum)| {
            if checksum(chunk) == sum {
                postcard::from_bytes(chunk).ok()
            } else {
                None
            }
        })
        .collect::<Option<_>>()?;
    Some(files.into_iter().flatten().collect())
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut sum = [0; 8];
    sum.copy_from_slice(&Sha256::digest(bytes)[..8]);
    sum
}

/// Writes a cache, beside the old one and then over it.
pub(crate) fn write(place: &Path, loaded: &Loaded) -> std::io::Result<()> {
    let files: Vec<_> = loaded.files.iter().zip(&loaded.bodies).collect();
    let chunks: Vec<Vec<u8>> = files
        .par_chunks(CHUNK)
        .map(postcard::to_stdvec)
        .collect::<Result<_, _>>()
        .map_err(std::io::Error::other)?;
    let header = Header {
        code: CODE.to_owned(),
        chunks: chunks
            .iter()
            .map(|chunk| (chunk.len() as u64, checksum(chunk)))
            .collect(),
    };
    let header = postcard::to_stdvec(&header).map_err(std::io::Error::other)?;
    if let Some(directory) = place.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let beside = place.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = File::create(&beside)?;
    let written = (|| {
        file.write_all(MAGIC)?;
        file.write_all(&header)?;
        chunks.iter().try_for_each(|chunk| file.write_all(chunk))
    })();
    written
        .and_then(|()| std::fs::rename(&beside, place))
        .inspect_err(|_| {
            let _ = std::fs::remove_file(&beside);
        })?;
    trim(place, MOST)
}

/// Removes those files beside one that end as it does and have not been used for longest,
/// beyond a number.
pub(crate) fn trim(like: &Path, most: usize) -> std::io::Result<()> {
    let Some(directory) = like.parent() else {
        return Ok(());
    };
    let mut all: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(directory)?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let ours = path.extension() == like.extension();
            let time = std::fs::metadata(&path).and_then(|data| data.modified());
            ours.then_some((time.ok()?, path))
        })
        .collect();
    all.sort();
    let beyond = all.len().saturating_sub(most);
    for (_, path) in all.into_iter().take(beyond) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}
