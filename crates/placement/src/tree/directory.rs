// SPDX-License-Identifier: GPL-2.0-or-later
//! Symbolic links are not followed: they can form loops or lead out of the tree.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::{Entry, MAX_DEPTH, MAX_FILE, MAX_FILES, wanted};
use model::Failure;

use crate::error::{too_large, unreadable};

pub(super) fn list(top: &Path, paths: &[String]) -> Result<Vec<Entry>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if let Some(directory) = path.strip_suffix("/*") {
            walk(top, directory, paths, 1, &mut found)?;
        } else if let Some(directory) = path.strip_suffix('/') {
            walk(top, directory, paths, MAX_DEPTH, &mut found)?;
        } else if let Some(entry) = entry(top, path) {
            found.push(entry);
        }
    }
    Ok(found)
}

fn entry(top: &Path, path: &str) -> Option<Entry> {
    let metadata = std::fs::symlink_metadata(top.join(path)).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH);
    let changed = changed.unwrap_or_default();
    metadata.is_file().then(|| Entry {
        path: path.to_owned(),
        size: metadata.len(),
        stamp: u64::try_from(changed.as_nanos()).unwrap_or(u64::MAX),
    })
}

fn walk(
    top: &Path,
    directory: &str,
    paths: &[String],
    depth: usize,
    found: &mut Vec<Entry>,
) -> Result<(), Failure> {
    let place = top.join(directory);
    let is_directory = std::fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_dir());
    let Ok(entries) = std::fs::read_dir(&place) else {
        return Ok(());
    };
    if !is_directory {
        return Ok(());
    }
    for item in entries.flatten() {
        let (Ok(kind), Ok(name)) = (item.file_type(), item.file_name().into_string()) else {
            continue;
        };
        let path = format!("{directory}/{name}");
        if kind.is_dir() && depth > 1 {
            walk(top, &path, paths, depth - 1, found)?;
        } else if kind.is_file() && wanted(paths, &path) {
            if found.len() >= MAX_FILES {
                return Err(too_large(top, "the number of files", MAX_FILES as u64));
            }
            found.extend(entry(top, &path));
        }
    }
    Ok(())
}

pub(super) fn read(top: &Path, path: &str) -> Result<Vec<u8>, Failure> {
    let place = top.join(path);
    contents(&place).map_err(unreadable(&place))
}

fn contents(place: &Path) -> std::io::Result<Vec<u8>> {
    if !std::fs::symlink_metadata(place)?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(place)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}
