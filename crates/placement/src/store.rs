// SPDX-License-Identifier: GPL-2.0-or-later
//! Files that are kept in a cache directory for the next run.

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kernels::scratch::Scratch;
use sha2::{Digest, Sha256};

/// The first bytes of the SHA-256 of some data.
pub(crate) fn checksum<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    let digest = Sha256::digest(bytes);
    std::array::from_fn(|at| digest[at])
}

/// The file in a directory that is named after a hash.
pub(crate) fn place(directory: &Path, hash: Sha256, extension: &str) -> PathBuf {
    let bytes = hash.finalize();
    let name: String = bytes.iter().take(12).map(|b| format!("{b:02x}")).collect();
    directory.join(format!("{name}.{extension}"))
}

/// Marks a file as used now, so that it is removed later than others.
pub(crate) fn touch(file: &File) {
    // If it fails, the file is only removed sooner.
    let _ = file.set_modified(SystemTime::now());
}

/// Replaces a file at once, and removes all but the `most` files of its extension that were
/// used last.
pub(crate) fn replace(
    place: &Path,
    most: usize,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    let directory = place.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(directory)?;
    // Not synced: what is damaged is made again.
    let scratch = Scratch::new_in(directory)?;
    let made = scratch.path().join("file");
    let mut file = BufWriter::new(File::create(&made)?);
    write(&mut file)?;
    file.flush()?;
    std::fs::rename(&made, place)?;
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
