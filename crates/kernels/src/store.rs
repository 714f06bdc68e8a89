// SPDX-License-Identifier: GPL-2.0-or-later
//! The cached kernels.
//!
//! ```text
//! kernels/KEY/    kernel.json vmlinuz vmlinux config modules/; KEY: their SHA-256
//! names/NAME      the KEY of the kernel called NAME, with `@` for `/`
//! imported/DIGEST/  data derived from a kernel given by path: entry/, and its KEY in key; may be
//!                 removed at any time
//! apt/            the private apt's sources, lists and cache; apt-NAME/ of another
//!                 architecture's packages
//! tmp/            files being written
//! sources/ build/ built/  see `build`
//! ```

use crate::arch::Arch;
use crate::entry::{self, Kernel, Origin};
use crate::error::Error;
use crate::files::{self, Lock};
use crate::name::{DebianKernel, KernelName, check_build_name, debian_name};
use crate::packages;
use crate::scratch::Scratch;
use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchEvent {
    Waiting,
    Updating,
    Progress {
        what: String,
        /// 0 to 100.
        percent: u8,
    },
    Warning(String),
    Downloading(Vec<String>),
    /// A package that failed; others are tried.
    Skipped {
        packages: Vec<String>,
        reason: String,
    },
    Unpacking,
    /// The kernel's name.
    Cached(String),
}

#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    pub fn open(dir: &Path) -> Result<Store, Error> {
        files::create_dir(dir)?;
        let dir = dir.canonicalize().map_err(Error::io("open", dir))?;
        for part in ["kernels", "names", "imported", "tmp"] {
            files::create_dir(&dir.join(part))?;
        }
        Ok(Store { dir })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Finds a cached kernel or imports a path; never fetches. A Debian series means its newest
    /// cached kernel. Returns [`Error::Environment`] if its files changed.
    pub fn resolve(&self, name: &KernelName) -> Result<Kernel, Error> {
        let found = match name {
            KernelName::Path(path) => return self.import(path),
            KernelName::Build(build) => {
                let name = format!("build:{build}");
                self.names()?.contains(&name).then_some(name)
            }
            KernelName::Debian(debian) => self.newest(debian)?,
        };
        let Some(found) = found else {
            return Err(Error::NotCached {
                name: name.to_string(),
                hint: match name {
                    KernelName::Debian(_) => format!("lsmeter kernel fetch {name}"),
                    _ => "`lsmeter kernel list` lists the cached kernels, `lsmeter kernel add \
                          PATH` adds one"
                        .into(),
                },
            });
        };
        self.load_verified(&found)
    }

    /// All readable kernels, by name; see [`Store::broken`] for the others.
    pub fn list(&self) -> Result<Vec<Kernel>, Error> {
        let names = self.names()?;
        Ok(names
            .iter()
            .filter_map(|name| self.load(name).ok())
            .collect())
    }

    /// Damaged entries and their errors. They can be removed.
    pub fn broken(&self) -> Result<Vec<(String, Error)>, Error> {
        let names = self.names()?;
        let broken = |name: String| self.load(&name).err().map(|error| (name, error));
        Ok(names.into_iter().filter_map(broken).collect())
    }

    /// Removes a name, and the files unless another name uses them. A series means its only kernel.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let _lock = self.lock()?;
        let names = self.names()?;
        let of_series = || match name.parse() {
            Ok(KernelName::Debian(debian)) => {
                let mut found = names.iter().filter(|n| is_of(&debian, n));
                found.next().filter(|_| found.next().is_none()).cloned()
            }
            _ => None,
        };
        let exact = names.iter().find(|n| *n == name).cloned();
        let Some(name) = exact.or_else(of_series) else {
            return Err(Error::NotCached {
                name: name.to_string(),
                hint: "`lsmeter kernel list` lists the cached kernels".into(),
            });
        };
        let path = self.name_path(&name);
        let key = self.key(&name);
        fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        if let Ok(key) = key {
            self.remove_unnamed(&key)?;
        }
        match name.strip_prefix("build:") {
            Some(build) => self.remove_objects(build),
            None => Ok(()),
        }
    }

    pub(crate) fn install(
        &self,
        scratch: &Scratch,
        from: &Path,
        name: &str,
        origin: Origin,
    ) -> Result<Kernel, Error> {
        entry::complete(from, Path::new(entry::image_in(from)), origin)?;
        let key = entry::content_key(from)?;
        let _lock = self.lock()?;
        let target = self.dir.join("kernels").join(&key);
        if target.exists() && entry::load_verified(&target, &key, name).is_err() {
            self.discard(&target)?;
        }
        scratch.commit(from, &target)?;
        self.name_entry(&key, name)
    }

    pub(crate) fn bind(&self, key: &str, name: &str) -> Result<Kernel, Error> {
        let _lock = self.lock()?;
        self.name_entry(key, name)
    }

    /// Replaces the name's previous kernel. The caller must hold the lock.
    fn name_entry(&self, key: &str, name: &str) -> Result<Kernel, Error> {
        let old = self.key(name).ok();
        if old.as_deref() != Some(key) {
            let scratch = self.scratch()?;
            scratch.replace(key.as_bytes(), &self.name_path(name))?;
        }
        if let Some(old) = old.filter(|old| old != key) {
            self.remove_unnamed(&old)?;
        }
        self.load(name)
    }

    pub(crate) fn newest(&self, debian: &DebianKernel) -> Result<Option<String>, Error> {
        let names = self.names()?.into_iter().filter(|name| is_of(debian, name));
        Ok(names.max_by(|a, b| compare_names(a, b)))
    }

    pub(crate) fn load(&self, name: &str) -> Result<Kernel, Error> {
        let key = self.key(name)?;
        entry::load(&self.dir.join("kernels").join(key), name)
    }

    pub(crate) fn load_verified(&self, name: &str) -> Result<Kernel, Error> {
        let key = self.key(name)?;
        entry::load_verified(&self.dir.join("kernels").join(&key), &key, name)
    }

    pub(crate) fn scratch(&self) -> Result<Scratch, Error> {
        files::scratch(&self.dir.join("tmp"))
    }

    pub(crate) fn lock(&self) -> Result<Lock, Error> {
        Lock::take(&self.dir.join("lock"), &mut || {})
    }

    /// The names: Debian's by age, then the others.
    fn names(&self) -> Result<Vec<String>, Error> {
        let dir = self.dir.join("names");
        let entries = fs::read_dir(&dir).map_err(Error::io("list", &dir))?;
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .map(|file| file.replace(NAMES_SLASH, "/"))
            .filter(|name| is_name(name))
            .collect();
        names.sort_by(|a, b| compare_names(a, b));
        Ok(names)
    }

    fn name_path(&self, name: &str) -> PathBuf {
        self.dir.join("names").join(name.replace('/', NAMES_SLASH))
    }

    pub(crate) fn key(&self, name: &str) -> Result<String, Error> {
        read_key(&self.name_path(name))
    }

    fn remove_unnamed(&self, key: &str) -> Result<(), Error> {
        let names = self.names()?;
        if names
            .iter()
            .any(|name| self.key(name).is_ok_and(|k| k == key))
        {
            return Ok(());
        }
        self.discard(&self.dir.join("kernels").join(key))
    }

    /// Removes an entry. It is renamed first, so that others no longer see it, and then deleted.
    pub(crate) fn discard(&self, path: &Path) -> Result<(), Error> {
        let scratch = self.scratch()?;
        match fs::rename(path, scratch.path().join("removed")) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(Error::io("remove", path)(e)),
        }
    }
}

/// Replaces the `/` in a kernel's name in file names. Names do not contain this character.
const NAMES_SLASH: &str = "@";

/// Orders Debian's kernels by architecture (this machine's first) and age, then the others by name.
fn compare_names(a: &str, b: &str) -> Ordering {
    match (debian_of(a), debian_of(b)) {
        (Some((a, of_a)), Some((b, of_b))) => (of_b.is_native().cmp(&of_a.is_native()))
            .then_with(|| of_a.name.cmp(of_b.name))
            .then_with(|| packages::compare_abi(&a, &b)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

fn is_of(debian: &DebianKernel, name: &str) -> bool {
    debian_of(name).is_some_and(|(abi, arch)| arch == debian.arch() && debian.includes(&abi))
}

fn debian_of(name: &str) -> Option<(String, &'static Arch)> {
    let kernel = DebianKernel::parse(name.strip_prefix("debian:")?).ok()?;
    let abi = kernel.abi()?;
    (debian_name(abi, kernel.arch()) == name).then(|| (abi.to_owned(), kernel.arch()))
}

fn is_name(name: &str) -> bool {
    match name.split_once(':') {
        Some(("debian", _)) => debian_of(name).is_some(),
        Some(("build", build)) => check_build_name(build).is_ok(),
        _ => false,
    }
}

pub(crate) fn is_key(key: &str) -> bool {
    key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit())
}

pub(crate) fn read_key(path: &Path) -> Result<String, Error> {
    let key = String::from_utf8(files::read(path, 64)?).ok();
    key.filter(|key| is_key(key))
        .ok_or_else(|| Error::damaged(path.display(), "it contains no key"))
}
