// SPDX-License-Identifier: GPL-2.0-or-later
//! What was unpacked of a tarball, kept for the next time: unpacking is nearly all that
//! reading one takes. A file for each tarball, by its path, size and time of change; the
//! least recently used are removed. Its list of files is read first, and of the rest only
//! what is asked for. What does not match its checksum is not used.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::archive::{is_kept, is_plain};
use super::{MAX_FILE, MAX_FILES};
use crate::store::{self, checksum};

/// A hash of the crate's code: what is kept of a tarball can change with it.
const CODE: &str = env!("PLACEMENT_CODE");
const MAGIC: &[u8; 8] = b"lsmsrcs2";
/// Tarballs that are kept; one of 6.12 takes 150 MiB.
const MOST: usize = 4;
/// Longest list of files that is read, in bytes; that of 6.12 has 0.5 MiB.
const MAX_LIST: u64 = 64 << 20;
/// Magic, length and checksum of the list.
const HEAD: u64 = 8 + 8 + 32;

pub(super) type Sum = [u8; 8];

/// Contents by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

#[derive(Serialize, Deserialize)]
struct Item {
    name: String,
    size: u64,
    sum: Sum,
}

/// Where one file's contents are.
#[derive(Debug)]
pub(super) struct Part {
    offset: u64,
    pub(super) size: u64,
    pub(super) sum: Sum,
}

/// What is kept of one tarball.
#[derive(Debug)]
pub(super) struct Kept {
    file: File,
    pub(super) parts: BTreeMap<String, Part>,
}

/// Where a tarball's files are kept in a directory; `None` if it cannot be told from others.
pub(super) fn place(directory: &Path, archive: &Path) -> Option<PathBuf> {
    let path = std::fs::canonicalize(archive).ok()?;
    let metadata = std::fs::metadata(&path).ok()?;
    let mut digest = Sha256::new();
    digest.update(CODE.as_bytes());
    digest.update(metadata.ino().to_le_bytes());
    digest.update(metadata.len().to_le_bytes());
    // The time of change of the inode, too: that of the contents can be set.
    for (seconds, nanoseconds) in [
        (metadata.mtime(), metadata.mtime_nsec()),
        (metadata.ctime(), metadata.ctime_nsec()),
    ] {
        digest.update(seconds.to_le_bytes());
        digest.update(nanoseconds.to_le_bytes());
    }
    digest.update(path.as_os_str().as_encoded_bytes());
    Some(store::place(directory, digest, "sources"))
}

/// Opens what is kept in a place, which from now on counts as the last one used. `None` if
/// nothing is kept, or if it is damaged.
pub(super) fn open(place: &Path) -> Option<Kept> {
    let mut file = File::open(place).ok()?;
    let whole = file.metadata().ok()?.len();
    let (mut magic, mut length, mut checksum) = ([0; 8], [0; 8], [0; 32]);
    for part in [&mut magic[..], &mut length, &mut checksum] {
        file.read_exact(part).ok()?;
    }
    let length = u64::from_le_bytes(length);
    if magic != *MAGIC || length > MAX_LIST.min(whole) {
        return None;
    }
    let mut list = Vec::new();
    (&file).take(length).read_to_end(&mut list).ok()?;
    if Sha256::digest(&list)[..] != checksum {
        return None;
    }
    let items: Vec<Item> = postcard::from_bytes(&list).ok()?;
    let mut offset = HEAD + length;
    let mut parts = BTreeMap::new();
    for Item { name, size, sum } in items {
        if !is_plain(&name) || !is_kept(&name) || size > MAX_FILE || parts.len() >= MAX_FILES {
            return None;
        }
        parts.insert(name, Part { offset, size, sum });
        offset = offset.checked_add(size)?;
    }
    if offset != whole {
        return None;
    }
    store::touch(&file);
    Some(Kept { file, parts })
}

impl Kept {
    /// The contents of a file; `None` if they are not what was written.
    pub(super) fn read(&self, part: &Part) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(part.size).ok()?];
        self.file.read_exact_at(&mut bytes, part.offset).ok()?;
        (checksum(&bytes) == part.sum).then_some(bytes)
    }
}

/// Keeps files, and removes those of the tarballs that have not been used for longest.
pub(super) fn write(place: &Path, files: &Files) -> std::io::Result<()> {
    let items: Vec<Item> = files
        .iter()
        .map(|(name, contents)| Item {
            name: name.clone(),
            size: contents.len() as u64,
            sum: checksum(contents),
        })
        .collect();
    let list = postcard::to_stdvec(&items).map_err(std::io::Error::other)?;
    store::replace(place, MOST, |file| {
        file.write_all(MAGIC)?;
        file.write_all(&(list.len() as u64).to_le_bytes())?;
        file.write_all(&Sha256::digest(&list))?;
        file.write_all(&list)?;
        files
            .values()
            .try_for_each(|contents| file.write_all(contents))
    })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn files() -> Files {
        let names = ["Makefile", "fs/namei.c", "security/security.c"];
        let contents = |name: &str| name.repeat(3).into_bytes();
        let all = names.map(|name| (name.to_owned(), contents(name)));
        all.into()
    }

    /// Everything that is kept in a place; None if any of it is damaged.
    fn read(place: &Path) -> Option<Files> {
        let kept = open(place)?;
        let of = |(name, part): (&String, &Part)| Some((name.clone(), kept.read(part)?));
        kept.parts.iter().map(of).collect()
    }

    #[test]
    fn what_is_kept_is_read_back_and_damage_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("some/a.sources");
        assert_eq!(read(&place), None);
        write(&place, &files()).unwrap();
        assert_eq!(read(&place), Some(files()));
        let whole = std::fs::read(&place).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&place, &whole[..cut]).unwrap();
            assert!(open(&place).is_none(), "{cut}");
            let mut other = whole.clone();
            other[cut] ^= 1;
            std::fs::write(&place, &other).unwrap();
            assert_eq!(read(&place), None, "{cut}");
        }
        std::fs::write(&place, [whole, vec![0]].concat()).unwrap();
        assert!(open(&place).is_none());
    }

    #[test]
    fn a_list_that_lies_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("a.sources");
        let written = |items: &[Item]| {
            let list = postcard::to_stdvec(items).unwrap();
            let length = (list.len() as u64).to_le_bytes();
            let sum = Sha256::digest(&list);
            let bytes = [MAGIC, &length[..], &sum, &list, b"x"].concat();
            std::fs::write(&place, bytes).unwrap();
            open(&place).is_some()
        };
        let item = |name: &str, size| Item {
            name: name.to_owned(),
            size,
            sum: checksum(b"x"),
        };
        assert!(written(&[item("fs/a.c", 1)]));
        for (name, size) in [
            ("../fs/a.c", 1),
            ("fs/../a.c", 1),
            ("README", 1),
            ("fs/a.c", 2),
            ("fs/a.c", u64::MAX),
        ] {
            assert!(!written(&[item(name, size)]), "{name} {size}");
        }
        assert!(!written(&[item("fs/a.c", 1), item("fs/b.c", u64::MAX)]));
    }

    #[test]
    fn the_least_recently_used_give_way() {
        let directory = tempfile::tempdir().unwrap();
        let place = |n: usize| directory.path().join(format!("{n}.sources"));
        for n in 0..MOST + 2 {
            write(&place(n), &files()).unwrap();
            let long_ago = SystemTime::now() - std::time::Duration::from_secs(1000 - n as u64);
            let file = File::options().write(true).open(place(n)).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        let there = (0..MOST + 2).filter(|&n| place(n).exists());
        assert_eq!(there.collect::<Vec<_>>(), [2, 3, 4, 5]);
        // What is read is used.
        assert!(read(&place(2)).is_some());
        write(&place(9), &files()).unwrap();
        assert!(place(2).exists() && !place(3).exists());
    }
}
