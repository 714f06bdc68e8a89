// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels in Debian's and rpm's packages. A kernel may be split over several packages.

mod deb;
mod rpm;
#[cfg(test)]
mod tests;
mod unpack;

use crate::arch::Arch;
use crate::decompress::{self, Format};
use crate::entry::{Origin, has_line};
use crate::error::Error;
use crate::{files, tar, wrapped};
use std::fs::{self, File};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use unpack::Unpacking;
pub(crate) use unpack::is_kept_module;

/// In bytes.
const PACKAGE_LIMIT: u64 = 2 << 30;
const ARCHIVE_LIMIT: u64 = 8 << 30;
const CONFIG_LIMIT: u64 = 4 << 20;
const MOST_PACKAGES: usize = 16;
const MOST_FILES: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Deb,
    Rpm,
}

/// How kernels are split over packages; `*` stands for the same text in all names.
struct Split {
    /// Names of packages with the image.
    images: &'static [&'static str],
    /// Names of packages with the rest, those with modules first.
    others: &'static [&'static str],
    /// The name of a package that only depends on others, and the name of one of these.
    empty: (&'static str, &'static str),
    fetch: &'static str,
}

/// Ubuntu's packages, and since Linux 7.2 Debian's.
const DEBS: Split = Split {
    images: &[
        "linux-image-*",
        "linux-binary-*",
        "linux-image-unsigned-*",
        "linux-binary-unsigned-*",
    ],
    others: &["linux-modules-*", "linux-modules-extra-*", "linux-base-*"],
    empty: ("linux-image-*", "linux-binary-*"),
    fetch: "apt-get",
};
const RPMS: Split = Split {
    images: &["*-core"],
    others: &["*-modules-core", "*-modules", "*-modules-extra"],
    empty: ("*", "*-core"),
    fetch: "dnf",
};

/// A package that was opened, but not unpacked.
#[derive(Debug)]
pub(crate) struct Package {
    pub path: PathBuf,
    pub name: String,
    /// Debian's, or rpm's with the release.
    pub version: String,
    arch: &'static Arch,
    kind: Kind,
    /// Bytes of the compressed archive.
    archive: Range<u64>,
}

/// A package's metadata.
struct Metadata {
    name: String,
    version: String,
    architecture: String,
    archive: Range<u64>,
}

/// An archive's member.
struct Member<'a> {
    path: &'a str,
    kind: tar::Kind,
    size: u64,
}

impl Package {
    /// `None` if the file is not a package.
    pub fn open(path: &Path) -> Result<Option<Package>, Error> {
        if !path.is_file() {
            return Ok(None);
        }
        let kind = match &*files::read_head(path, 8)? {
            b"!<arch>\n" => Kind::Deb,
            head if head.starts_with(&rpm::MAGIC) => Kind::Rpm,
            _ => return Ok(None),
        };
        let what = path.display().to_string();
        let mut file = File::open(path).map_err(Error::io("open", path))?;
        if file.metadata().map_err(Error::io("read", path))?.len() > PACKAGE_LIMIT {
            return Err(Error::damaged(&what, "it is too long for a package"));
        }
        let metadata = match kind {
            Kind::Deb => deb::metadata(&mut file),
            Kind::Rpm => rpm::metadata(&mut file),
        };
        let metadata = metadata.map_err(|error| failed(&what, error))?;
        if metadata.name.is_empty() || metadata.version.is_empty() {
            return Err(Error::damaged(what, "it names no package"));
        }
        let name_of = |arch: &Arch| match kind {
            Kind::Deb => arch.debian.name,
            Kind::Rpm => arch.name,
        };
        let mut archs = crate::arch::ALL.iter().copied();
        let Some(arch) = archs.find(|arch| name_of(arch) == metadata.architecture) else {
            let known: Vec<_> = crate::arch::ALL.iter().map(|arch| name_of(arch)).collect();
            let known = known.join(" or ");
            return Err(Error::unsupported(
                what,
                format!(
                    "it is for `{}`; only {known} kernels can be measured",
                    metadata.architecture
                ),
            ));
        };
        Ok(Some(Package {
            path: path.to_path_buf(),
            name: metadata.name,
            version: metadata.version,
            arch,
            kind,
            archive: metadata.archive,
        }))
    }

    /// Adds packages in the same directories that complete the kernel of `packages`.
    fn with_companions(mut packages: Vec<Package>) -> Vec<Package> {
        for at in 0..packages.len() {
            let package = &packages[at];
            let names = package.named(package.split().images, package.split().others);
            let Some(dir) = package.path.parent().filter(|_| !names.is_empty()) else {
                continue;
            };
            let entries = fs::read_dir(dir).into_iter().flatten();
            let is_named = |path: &PathBuf| {
                let file = path.file_name().unwrap_or_default().as_encoded_bytes();
                names.iter().any(|name| file.starts_with(name.as_bytes()))
            };
            let paths = entries.take(MOST_FILES).flatten().map(|entry| entry.path());
            // A damaged package counts as missing, because the kernel is incomplete without it.
            let found = paths
                .filter(is_named)
                .filter_map(|path| Package::open(&path).ok()?);
            let mut found: Vec<Package> = found
                .filter(|other| names.contains(&other.name) && package.is_built_with(other))
                .collect();
            found.sort_by(|a, b| a.path.cmp(&b.path));
            for other in found {
                if packages.iter().all(|package| package.name != other.name) {
                    packages.push(other);
                }
            }
        }
        packages
    }

    fn is_built_with(&self, other: &Package) -> bool {
        (self.kind, &self.version, self.arch) == (other.kind, &other.version, other.arch)
    }

    fn split(&self) -> &'static Split {
        match self.kind {
            Kind::Deb => &DEBS,
            Kind::Rpm => &RPMS,
        }
    }

    /// The names in `to` that belong to the same kernel as this package, whose name is in `from`.
    fn named(&self, from: &[&str], to: &[&str]) -> Vec<String> {
        let stem = from.iter().rev().find_map(|pattern| {
            let (before, after) = pattern.split_once('*')?;
            self.name.strip_prefix(before)?.strip_suffix(after)
        });
        let names = stem.map(|stem| to.iter().map(|name| name.replace('*', stem)));
        names.into_iter().flatten().collect()
    }

    /// The error that neither this package nor any given with it contains `part`.
    fn has_no(&self, part: &str, others: &[String]) -> Error {
        let named = |name: &String| match self.kind {
            Kind::Deb => name.clone(),
            Kind::Rpm => format!("{name}-{}.{}", self.version, self.arch),
        };
        let others: Vec<String> = others.iter().map(named).collect();
        Error::Unsupported {
            what: self.path.display().to_string(),
            reason: format!("the package {} contains no {part}", self.name),
            hint: others.first().map(|first| {
                let others = others.join(" or ");
                let fetch = self.split().fetch;
                format!("keep {others} in the same directory: {fetch} download {first}")
            }),
        }
    }

    fn read(
        &self,
        each: &mut dyn FnMut(&Member, &mut dyn Read) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let fail = |error| failed(&self.path.display().to_string(), error);
        let mut file = File::open(&self.path).map_err(Error::io("open", &self.path))?;
        let start = SeekFrom::Start(self.archive.start);
        file.seek(start).map_err(Error::io("read", &self.path))?;
        let archive = file.take(self.archive.end - self.archive.start);
        let archive = decompressor(archive).map_err(fail)?.take(ARCHIVE_LIMIT);
        match self.kind {
            Kind::Deb => tar::read(archive, fail, |entry, data| {
                let (path, kind, size) = (&*entry.path, entry.kind, entry.size);
                each(&Member { path, kind, size }, data).map(ControlFlow::Continue)
            }),
            Kind::Rpm => rpm::read(archive, fail, each),
        }
    }
}

fn decompressor<'a>(data: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut data = io::BufReader::new(data);
    match Format::detect(data.fill_buf()?) {
        None => Ok(Box::new(data)),
        Some(format) => decompress::reader(format, data),
    }
}

fn failed(what: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::Unsupported => Error::unsupported(what, error),
        io::ErrorKind::UnexpectedEof => Error::damaged(what, "it is truncated"),
        _ => Error::damaged(what, error),
    }
}

/// Opens the packages of one kernel, and those next to them that complete it; `None` if the only
/// file is not a package.
pub(crate) fn open(paths: &[PathBuf]) -> Result<Option<Vec<Package>>, Error> {
    if paths.is_empty() || paths.len() > MOST_PACKAGES {
        return Err(Error::usage(
            format!("expected 1 to {MOST_PACKAGES} files, not {}", paths.len()),
            "give one kernel at a time",
        ));
    }
    let mut packages = Vec::new();
    for path in paths {
        match Package::open(path)? {
            Some(package) => packages.push(package),
            None if paths.len() == 1 => return Ok(None),
            None => {
                return Err(Error::usage(
                    format!("{} is not a package", path.display()),
                    "give one kernel at a time, or several packages of one kernel",
                ));
            }
        }
    }
    Ok(Some(Package::with_companions(packages)))
}

/// Extracts `vmlinuz`, `config` and `modules/` of one kernel into the directory `into`. Also
/// returns [`Error::Damaged`] if a path leads out of the directory, or a link replaces a file.
pub(crate) fn unpack(packages: &[Package], into: &Path) -> Result<Origin, Error> {
    let mut unpacking = Unpacking::new(into);
    let vmlinuz = into.join("vmlinuz");
    let mut image = None;
    for package in packages {
        unpacking.add(package)?;
        if vmlinuz.exists() {
            image = image.or(Some(package));
        }
    }
    let Some(image) = image else {
        let first = &packages[0];
        let split = first.split();
        let mut names = first.named(split.others, &split.images[..split.images.len().min(2)]);
        if names.is_empty() {
            names = first.named(&[split.empty.0], &[split.empty.1]);
        }
        return Err(first.has_no("kernel image", &names));
    };
    let config = into.join("config");
    let may_have_modules =
        !config.exists() || { has_line(&files::read(&config, CONFIG_LIMIT)?, b"CONFIG_MODULES=y") };
    if may_have_modules && !unpacking.has_modules {
        let Split { images, others, .. } = image.split();
        return Err(image.has_no("modules", &image.named(images, &others[..1])));
    }
    if wrapped::is_wrapped(&vmlinuz)? {
        wrapped::unpack(&vmlinuz, into, &image.path)?;
    }
    Ok(Origin {
        version: Some(image.version.clone()),
        packages: { packages.iter() }
            .map(|package| package.name.clone())
            .collect(),
    })
}
