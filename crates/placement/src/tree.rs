// SPDX-License-Identifier: GPL-2.0-or-later

mod archive;
mod directory;
mod git;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Failure;

use crate::error::{not_a_tree, unreadable};
use crate::store::checksum;

/// In bytes. The longest in fs, mm, kernel and security of 6.12 has 650 KiB.
pub(crate) const MAX_FILE: u64 = 4 << 20;
pub(crate) const MAX_FILES: usize = 200_000;
const MAX_DEPTH: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Relative to the top of the tree, with `/`.
    pub(crate) path: String,
    pub(crate) size: u64,
    /// Time of change or content hash.
    pub(crate) stamp: u64,
}

#[derive(Debug)]
pub struct Tree {
    path: PathBuf,
    revision: Option<String>,
    version: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Directory,
    Archive(archive::Files),
    Git(git::Repository),
}

impl Tree {
    /// Opens a directory or a tarball (`.tar.xz`, `.tar`), which is unpacked into memory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Failure> {
        let path = path.as_ref().to_path_buf();
        let metadata = std::fs::metadata(&path).map_err(unreadable(&path))?;
        let source = if metadata.is_dir() {
            Source::Directory
        } else {
            Source::Archive(archive::unpacked(&path)?)
        };
        Self::checked(path, None, source)
    }

    /// Like [`Tree::open`], but `directory` caches the last four tarballs by size and times.
    /// `unpacking` is called before a tarball is unpacked. Cache write errors are ignored.
    pub fn open_kept(
        path: impl AsRef<Path>,
        directory: impl AsRef<Path>,
        unpacking: impl FnOnce(),
    ) -> Result<Self, Failure> {
        let path = path.as_ref();
        if !path.is_file() {
            return Self::open(path);
        }
        let archive = archive::open_kept(path, directory.as_ref(), unpacking)?;
        Self::checked(path.to_path_buf(), None, Source::Archive(archive))
    }

    pub fn open_revision(path: impl AsRef<Path>, revision: &str) -> Result<Self, Failure> {
        let path = path.as_ref().to_path_buf();
        let source = Source::Git(git::Repository::open(&path, revision)?);
        Self::checked(path, Some(revision.to_owned()), source)
    }

    /// A tree of files in memory, by path. As for a tarball, files that are too long or never
    /// needed are left out.
    pub fn from_files(
        name: impl Into<PathBuf>,
        mut files: BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, Failure> {
        files.retain(|name, bytes| archive::is_kept(name) && bytes.len() as u64 <= MAX_FILE);
        Self::checked(name.into(), None, Source::Archive(files))
    }

    fn checked(path: PathBuf, revision: Option<String>, source: Source) -> Result<Self, Failure> {
        let mut tree = Self {
            path,
            revision,
            version: String::new(),
            source,
        };
        let no_tree = |reason: &str| not_a_tree(&tree.path, reason);
        let Ok(makefile) = tree.read("Makefile") else {
            return Err(no_tree("it has no Makefile"));
        };
        let Some(version) = version(&String::from_utf8_lossy(&makefile)) else {
            return Err(no_tree(
                "its Makefile has no VERSION, PATCHLEVEL and SUBLEVEL",
            ));
        };
        for file in ["security/security.c", "fs/namei.c"] {
            if tree.read(file).is_err() {
                return Err(no_tree(&format!("it has no {file}")));
            }
        }
        tree.version = version;
        Ok(tree)
    }

    /// The version in its Makefile: `6.12.117`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The path, with `@` and the revision if any.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.revision {
            Some(revision) => format!("{}@{revision}", self.path.display()),
            None => self.path.display().to_string(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_revision(&self) -> bool {
        self.revision.is_some()
    }

    /// The sources (`.c`, `.h`) under the given paths, as [`is_under`] reads them, sorted.
    pub(crate) fn list(&self, paths: &[String]) -> Result<Vec<Entry>, Failure> {
        let mut found = match &self.source {
            Source::Directory => directory::list(&self.path, paths)?,
            Source::Archive(files) => files
                .iter()
                .filter(|(path, _)| wanted(paths, path))
                .map(|(path, bytes)| Entry {
                    path: path.clone(),
                    size: bytes.len() as u64,
                    stamp: u64::from_le_bytes(checksum(bytes)),
                })
                .collect(),
            Source::Git(repository) => repository.list(paths),
        };
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found.dedup_by(|a, b| a.path == b.path);
        found.retain(|entry| entry.size <= MAX_FILE);
        Ok(found)
    }

    /// At most [`MAX_FILE`] bytes.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
        match &self.source {
            Source::Directory => directory::read(&self.path, path),
            Source::Archive(files) => files.get(path).cloned().ok_or_else(|| {
                let missing = std::io::Error::other("it is not in the archive");
                unreadable(&self.path.join(path))(missing)
            }),
            Source::Git(repository) => repository.read(path),
        }
    }
}

fn wanted(paths: &[String], path: &str) -> bool {
    (path.ends_with(".c") || path.ends_with(".h")) && is_under(paths, path)
}

/// `mm/` means everything below mm, `fs/*` the files directly in fs, and any other text a file.
pub(crate) fn is_under(paths: &[String], path: &str) -> bool {
    paths.iter().any(|wanted| match wanted.strip_suffix('*') {
        Some(directory) => path
            .strip_prefix(directory)
            .is_some_and(|rest| !rest.contains('/')),
        None => path == wanted || (wanted.ends_with('/') && path.starts_with(wanted.as_str())),
    })
}

fn version(makefile: &str) -> Option<String> {
    let value = |name: &str| {
        makefile.lines().take(100).find_map(|line| {
            let value = line.strip_prefix(name)?.trim_start().strip_prefix('=')?;
            Some(value.trim())
        })
    };
    let digits = |v: &&str| !v.is_empty() && v.len() < 8 && v.bytes().all(|b| b.is_ascii_digit());
    let number = |name| value(name).filter(digits);
    let (major, minor) = (number("VERSION")?, number("PATCHLEVEL")?);
    let sub = number("SUBLEVEL")?;
    let extra = value("EXTRAVERSION").unwrap_or_default();
    let extra: String = extra
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-+.~_".contains(*c))
        .take(32)
        .collect();
    Some(format!("{major}.{minor}.{sub}{extra}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let makefile = "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 0\nEXTRAVERSION = -rc1\n";
        assert_eq!(version(makefile).as_deref(), Some("6.12.0-rc1"));
        assert_eq!(version("VERSION = x\nPATCHLEVEL = 1\nSUBLEVEL = 2\n"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn paths() {
        let paths = ["fs/*".to_owned(), "mm/".to_owned(), "a/b.c".to_owned()];
        assert!(wanted(&paths, "fs/namei.c") && !wanted(&paths, "fs/ext4/inode.c"));
        assert!(
            wanted(&paths, "mm/x/y.h") && wanted(&paths, "a/b.c") && !wanted(&paths, "mm/Kconfig")
        );
    }
}
