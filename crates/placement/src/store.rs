// SPDX-License-Identifier: GPL-2.0-or-later
//! Cached scans of trees and unpacked tarballs. Files from another version of the code, and damaged
//! files, are ignored.

use std::fs::File;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kernels::files::{read_sealed, write_sealed};
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::load::{Bodies, FileData, Loaded};
use crate::series::Series;
use crate::tree::Tree;

/// Hash of this crate's code and facts.
const CODE: &str = env!("PLACEMENT_CODE");
/// In bytes.
const LIMIT: u64 = 1 << 30;
/// The number of cached trees per directory; each takes about ten MiB.
const MOST_TREES: usize = 16;

pub(crate) fn checksum<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    let digest = Sha256::digest(bytes);
    std::array::from_fn(|at| digest[at])
}

pub(crate) fn place(directory: &Path, parts: &[&[u8]], extension: &str) -> PathBuf {
    let mut hash = Sha256::new_with_prefix(CODE);
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let name: String = (hash.finalize().iter().take(12))
        .map(|byte| format!("{byte:02x}"))
        .collect();
    directory.join(format!("{name}.{extension}"))
}

/// Reads a file, and marks it as the most recently used.
pub(crate) fn read(place: &Path) -> Option<Vec<u8>> {
    let bytes = read_sealed(place, LIMIT)?;
    // If this fails, the file is only removed sooner.
    let _ = File::open(place).and_then(|file| file.set_modified(SystemTime::now()));
    Some(bytes)
}

/// Writes a file, and keeps only the `most` most recently used files with this extension.
pub(crate) fn write(place: &Path, most: usize, bytes: &[u8]) -> Result<()> {
    let directory = place.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(directory)?;
    write_sealed(place, bytes)?;
    let mut all: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(directory)?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let ours = path.extension() == place.extension();
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

/// Revisions of one series in a repository share a cache, because most of their files are the same.
pub(crate) fn place_of_tree(directory: &Path, tree: &Tree, config: &Config) -> PathBuf {
    let path = std::fs::canonicalize(tree.path()).unwrap_or_else(|_| tree.path().to_path_buf());
    let series = tree
        .is_revision()
        .then(|| format!("{:?}", Series::parse(tree.version())));
    let config = config.fingerprint();
    let parts = [
        path.as_os_str().as_encoded_bytes(),
        series.as_deref().unwrap_or_default().as_bytes(),
        config.as_bytes(),
    ];
    place(directory, &parts, "placement")
}

pub(crate) fn read_tree(place: &Path) -> Vec<(FileData, Bodies)> {
    let files = read(place).and_then(|bytes| postcard::from_bytes(&bytes).ok());
    files.unwrap_or_default()
}

pub(crate) fn write_tree(place: &Path, loaded: &Loaded) -> Result<()> {
    let files: Vec<_> = loaded.files.iter().zip(&loaded.bodies).collect();
    let bytes = postcard::to_stdvec(&files).map_err(std::io::Error::other)?;
    write(place, MOST_TREES, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_give_way() {
        const MOST: usize = 4;
        let directory = tempfile::tempdir().unwrap();
        let place = |n: usize| directory.path().join(format!("some/{n}.sources"));
        for n in 0..MOST + 2 {
            write(&place(n), MOST, b"data").unwrap();
            let long_ago = SystemTime::now() - std::time::Duration::from_secs(1000 - n as u64);
            let file = File::options().write(true).open(place(n)).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        let there = (0..MOST + 2).filter(|&n| place(n).exists());
        assert_eq!(there.collect::<Vec<_>>(), [2, 3, 4, 5]);
        assert_eq!(read(&place(2)).unwrap(), b"data");
        write(&place(9), MOST, b"data").unwrap();
        assert!(place(2).exists() && !place(3).exists());
    }
}
