// SPDX-License-Identifier: GPL-2.0-or-later
//! Earlier measurements, by machine and directives.
//!
//! An entry contains the agent's frames and the plugin's records, which are evaluated at each use.
//! The entries of one machine are in one directory, which is locked while in use, and removed as a
//! unit.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use kernels::Store;
use kernels::files::{digest, read_sealed, write_sealed};
use model::Failure;
use rustix::fs::{Access, FlockOperation, flock};

/// The maximum size of an entry, both compressed and uncompressed.
const LIMIT_BYTES: usize = 256 << 20;
const UNUSED: Duration = Duration::from_secs(60 * 24 * 3600);
const DEFAULT_BYTES: u64 = 5 << 30;
/// Less free space than this is reported. A run of the preset quick writes about this much.
const SPACE_BYTES: u64 = 16 << 20;
/// A digest in hexadecimal.
const KEY_CHARS: usize = 64;
const SIZE: &str = "LSMETER_CACHE_SIZE";
/// The file of a machine's agent output until it was ready.
pub const READY: &str = "ready";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    Use,
    /// Measure, and fail if the result differs from what is cached.
    Verify,
    /// Measure, as if there were no cache.
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The agent's frames.
    pub frames: Vec<u8>,
    /// The plugin's file; empty for a machine.
    pub records: Vec<u8>,
}

#[derive(Debug, Clone)]
pub struct Cache {
    dir: PathBuf,
}

/// The entries of one machine.
#[derive(Debug)]
pub struct Entries {
    dir: PathBuf,
    machine: String,
    _lock: File,
}

impl Cache {
    pub fn new(store: &Store) -> Cache {
        let dir = store.dir().join("measurements");
        Cache { dir }
    }

    /// None if the directory cannot be made, locked or trusted; nothing is cached then.
    pub fn machine(&self, key: &str) -> Option<Entries> {
        private(&self.dir)?;
        let dir = self.dir.join(key);
        // Another lsmeter may remove it before it is locked.
        for _ in 0..3 {
            private(&dir)?;
            let lock = File::open(&dir).ok()?;
            flock(&lock, FlockOperation::LockShared).ok()?;
            if is_at(&lock, &dir) {
                let _ = lock.set_modified(SystemTime::now());
                let machine = key.to_owned();
                return Some(Entries {
                    dir,
                    machine,
                    _lock: lock,
                });
            }
        }
        None
    }

    /// The reason why nothing can be cached, if there is one.
    pub fn doubt(&self) -> Option<String> {
        let usable = private(&self.dir).is_some()
            && rustix::fs::access(&self.dir, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        let dir = self.dir.display();
        if !usable {
            return Some(format!(
                "{dir} is not a directory that only you may write to"
            ));
        }
        let space = rustix::fs::statvfs(&self.dir).ok()?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        (free < SPACE_BYTES).then(|| format!("{dir} has only {} KiB of space left", free >> 10))
    }

    /// The last use, size in bytes, and directory of each machine; the most recently used first.
    fn machines(&self) -> Vec<(SystemTime, u64, PathBuf)> {
        let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
        let measure = |machine: fs::DirEntry| {
            // Ignores directories that are not machines.
            let name = machine.file_name();
            let is_key = name.len() == KEY_CHARS
                && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit);
            let found = machine
                .metadata()
                .ok()
                .filter(|found| is_key && found.is_dir())?;
            let sizes =
                entries(&machine.path()).filter_map(|file| Some(file.metadata().ok()?.len()));
            Some((found.modified().ok()?, sizes.sum(), machine.path()))
        };
        let mut all: Vec<_> = entries(&self.dir).filter_map(measure).collect();
        all.sort();
        all.reverse();
        all
    }

    /// Number of machines, and bytes of all entries.
    pub fn size(&self) -> (usize, u64) {
        let all = self.machines();
        (all.len(), all.iter().map(|(_, bytes, _)| bytes).sum())
    }

    /// Removes machines that have not been used for a long time, and the oldest ones beyond `limit`
    /// bytes, except those in use.
    pub fn trim(&self, limit: u64) {
        let mut total = 0;
        for (used, bytes, dir) in self.machines() {
            total += bytes;
            let age = SystemTime::now().duration_since(used).unwrap_or_default();
            if total > limit || age > UNUSED {
                // The next run tries again to remove the rest.
                remove(&dir);
            }
        }
    }

    /// Removes all machines except those in use, and returns the number of these.
    pub fn clear(&self) -> usize {
        let machines = self.machines().into_iter();
        machines.filter(|(.., dir)| !remove(dir)).count()
    }
}

/// False if the machine is in use.
fn remove(dir: &Path) -> bool {
    let Ok(lock) = File::open(dir) else {
        return false;
    };
    flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
        && is_at(&lock, dir)
        && fs::remove_dir_all(dir).is_ok()
}

/// Whether this name still refers to the open directory.
fn is_at(open: &File, dir: &Path) -> bool {
    let inode =
        |metadata: io::Result<fs::Metadata>| metadata.map(|found| (found.dev(), found.ino())).ok();
    inode(open.metadata()).is_some_and(|own| inode(fs::metadata(dir)) == Some(own))
}

impl Entries {
    /// Prevents the use of entries that were copied from other machines.
    fn title(&self, name: &str) -> String {
        format!("{} {name}\n", self.machine)
    }

    pub fn read(&self, name: &str) -> Option<Entry> {
        let sealed = read_sealed(&self.dir.join(name), LIMIT_BYTES as u64)?;
        let packed = sealed.strip_prefix(self.title(name).as_bytes())?;
        let (frames_len, packed) = packed.split_first_chunk()?;
        let (bytes, _) = packed.split_first_chunk()?;
        if u32::from_le_bytes(*bytes) as usize > LIMIT_BYTES {
            return None;
        }
        let mut frames = lz4_flex::decompress_size_prepended(packed).ok()?;
        let frames_len = u32::from_le_bytes(*frames_len) as usize;
        let records = (frames_len <= frames.len()).then(|| frames.split_off(frames_len))?;
        Some(Entry { frames, records })
    }

    /// An entry that is too large or cannot be written is measured again each time.
    pub fn write(&self, name: &str, entry: &Entry) {
        let all = [&entry.frames[..], &entry.records].concat();
        if all.len() > LIMIT_BYTES {
            return;
        }
        let mut sealed = self.title(name).into_bytes();
        sealed.extend((entry.frames.len() as u32).to_le_bytes());
        sealed.extend(lz4_flex::compress_prepend_size(&all));
        let _ = write_sealed(&self.dir.join(name), &sealed);
    }
}

pub fn name_of(directives: &str) -> String {
    digest(directives.as_bytes())
}

/// Makes a directory that only this user may write to; None if one with other permissions exists.
fn private(dir: &Path) -> Option<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.ok()?;
    let found = fs::metadata(dir).ok()?;
    let own = found.uid() == rustix::process::geteuid().as_raw();
    (found.is_dir() && own && found.mode() & 0o022 == 0).then_some(())
}

/// From `LSMETER_CACHE_SIZE`: bytes, or with K, M, G or T.
pub fn limit() -> Result<u64, Failure> {
    let text = std::env::var_os(SIZE).unwrap_or_default();
    let text = text.to_string_lossy();
    if text.is_empty() {
        return Ok(DEFAULT_BYTES);
    }
    size(&text).ok_or_else(|| {
        Failure::usage(
            format!("invalid size: {SIZE}={text}"),
            format!("give bytes, or a number with K, M, G or T, for example {SIZE}=5G"),
        )
    })
}

fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'T']);
    let power = match &text[digits.len()..] {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << (10 * power))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Entry {
        Entry {
            frames: text.as_bytes().to_vec(),
            records: vec![7; 1000],
        }
    }

    fn key(name: &str) -> String {
        digest(name.as_bytes())
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(&Store::open(dir.path()).unwrap());
        (dir, cache)
    }

    #[test]
    fn what_was_changed_is_not_read() {
        let (_dir, cache) = cache();
        let machine = cache.machine(&key("a")).unwrap();
        let path = machine.dir.join("one");
        machine.write("one", &entry("said"));
        assert_eq!(machine.read("one"), Some(entry("said")));
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(machine.read("one"), None, "bit in byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(machine.read("one"), None, "{at} bytes");
        }
        fs::write(&path, &whole).unwrap();
        let other = cache.machine(&key("b")).unwrap();
        fs::copy(&path, other.dir.join("one")).unwrap();
        fs::copy(&path, machine.dir.join("two")).unwrap();
        assert_eq!((other.read("one"), machine.read("two")), (None, None));
        assert_eq!(machine.read("one"), Some(entry("said")));
        let mode = fs::metadata(&cache.dir).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn the_oldest_that_is_not_in_use_goes_first() {
        let (_dir, cache) = cache();
        let used = cache.machine(&key("used")).unwrap();
        used.write("one", &entry("said"));
        for (name, days) in [("old", 61), ("new", 1), ("newer", 0)] {
            let machine = cache.machine(&key(name)).unwrap();
            machine.write("one", &entry("said"));
            let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
            machine._lock.set_modified(then).unwrap();
        }
        used._lock.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        // Unknown owner.
        fs::create_dir(cache.dir.join("precious")).unwrap();
        let left = |names: &[&str]| {
            let is = |name: &&&str| cache.dir.join(key(name)).exists();
            assert_eq!(cache.size().0, names.len());
            assert_eq!(names.iter().filter(is).count(), names.len());
            assert!(cache.dir.join("precious").exists());
        };
        cache.trim(DEFAULT_BYTES);
        left(&["new", "newer", "used"]);
        cache.trim(cache.size().1 / 2);
        left(&["newer", "used"]);
        assert_eq!(cache.clear(), 1);
        left(&["used"]);
        drop(used);
        cache.trim(0);
        left(&[]);
    }

    #[test]
    fn sizes_are_read() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1024", Some(1024)),
            ("5G", Some(5 << 30)),
            ("2T", Some(2 << 40)),
            ("", None),
            ("G", None),
            ("5GiB", None),
            ("5GG", None),
            ("-1", None),
            ("99999999999T", None),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
    }
}
