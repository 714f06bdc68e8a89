// SPDX-License-Identifier: GPL-2.0-or-later
//! What was found in a tree, kept between runs in one file. A cache of another version or
//! configuration, or a damaged one, is not used.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::load::{Bodies, FileData, Loaded};
use crate::series::Series;
use crate::store::{self, checksum};
use crate::tree::Tree;

/// A hash of the crate's code and facts: what other code wrote is not read.
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

/// Where a tree's cache lies in a directory. The revisions of one series in a repository
/// share a cache, since most of their files are the same.
pub(crate) fn place(directory: &Path, tree: &Tree, config: &Config) -> PathBuf {
    let mut hash = Sha256::new();
    let path = std::fs::canonicalize(tree.path()).unwrap_or_else(|_| tree.path().to_path_buf());
    hash.update(path.as_os_str().as_encoded_bytes());
    if tree.is_revision() {
        hash.update(format!("{:?}", Series::of(tree.version())));
    }
    hash.update([u8::from(tree.is_revision())]);
    hash.update(config.fingerprint().as_bytes());
    store::place(directory, hash, "placement")
}

/// Reads a cache; nothing if there is none that can be used.
pub(crate) fn read(place: &Path) -> Vec<(FileData, Bodies)> {
    try_read(place).unwrap_or_default()
}

fn try_read(place: &Path) -> Option<Vec<(FileData, Bodies)>> {
    let mut bytes = Vec::new();
    let file = File::open(place).ok()?;
    (&file).take(MAX_CACHE).read_to_end(&mut bytes).ok()?;
    store::touch(&file);
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
            postcard::from_bytes(chunk)
                .ok()
                .filter(|_| checksum(chunk) == sum)
        })
        .collect::<Option<_>>()?;
    Some(files.into_iter().flatten().collect())
}

pub(crate) fn write(place: &Path, loaded: &Loaded) -> std::io::Result<()> {
    let files: Vec<_> = loaded.files.iter().zip(&loaded.bodies).collect();
    let chunks: Vec<Vec<u8>> = files
        .par_chunks(CHUNK)
        .map(postcard::to_stdvec)
        .collect::<Result<_, _>>()
        .map_err(std::io::Error::other)?;
    let sum = |chunk: &Vec<u8>| (chunk.len() as u64, checksum(chunk));
    let header = Header {
        code: CODE.to_owned(),
        chunks: chunks.iter().map(sum).collect(),
    };
    let header = postcard::to_stdvec(&header).map_err(std::io::Error::other)?;
    store::replace(place, MOST, |file| {
        file.write_all(MAGIC)?;
        file.write_all(&header)?;
        chunks.iter().try_for_each(|chunk| file.write_all(chunk))
    })
}
