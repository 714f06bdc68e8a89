// SPDX-License-Identifier: GPL-2.0-or-later
//! Where the parts of an image lie: in a directory, or in a tar file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use kernels::decompress::{self, Format};
use kernels::tar::{self, Kind};

use crate::error::LabError;
use crate::root::tree::{BYTES_LIMIT, TARGET_LIMIT};
use crate::root::unpack::{Unpacker, damaged};
use crate::root::watch::Watch;

/// Most bytes of an archive of an image, and most parts: each layer is one.
const ARCHIVE_LIMIT: u64 = 2 * BYTES_LIMIT;
const PARTS_LIMIT: usize = 10_000;
/// Most links from one part to another that are followed.
const LINKS_LIMIT: usize = 4;
const MAGIC_BYTES: u64 = 6;

/// A tar file, compressed or not.
#[derive(Debug)]
pub(in crate::root) struct Archive {
    path: PathBuf,
    format: Option<Format>,
}

/// Parts by their names.
#[derive(Debug)]
pub(super) enum Store {
    Directory(PathBuf),
    /// Of a tar file that is not compressed.
    Archive {
        file: PathBuf,
        parts: BTreeMap<String, Part>,
    },
}

/// A reader of a part, and its length.
type Opened = (Box<dyn Read>, u64);

#[derive(Debug)]
pub(super) enum Part {
    /// Where it begins, and how long it is.
    Data(u64, u64),
    /// A link to another one, as its full name.
    Link(String),
}

impl Archive {
    pub fn open(path: &Path) -> Result<Archive, LabError> {
        let file = File::open(path).map_err(LabError::io("read", path))?;
        let mut magic = Vec::new();
        file.take(MAGIC_BYTES)
            .read_to_end(&mut magic)
            .map_err(LabError::io("read", path))?;
        Ok(Archive {
            path: path.to_path_buf(),
            format: Format::detect(&magic),
        })
    }

    fn title(&self) -> String {
        self.path.display().to_string()
    }

    fn reader(&self) -> Result<Box<dyn Read>, LabError> {
        let file = File::open(&self.path).map_err(LabError::io("read", &self.path))?;
        decompressed(file, self.format).map_err(|error| damaged(&self.title(), &error).into())
    }

    /// Unpacks it as a root.
    pub fn unpack(&self, unpacker: &mut Unpacker<'_, '_>) -> Result<(), LabError> {
        unpacker.unpack(self.reader()?, &self.title())
    }

    /// The parts of an image that it holds, if it does; decompressed in `scratch`.
    pub(super) fn store(
        &self,
        scratch: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Store>, LabError> {
        watch.begin("looking at the archive");
        let Some(parts) = self.parts(watch)? else {
            return Ok(None);
        };
        if self.format.is_none() {
            let file = self.path.clone();
            return Ok(Some(Store::Archive { file, parts }));
        }
        watch.begin("decompressing the image");
        let file = scratch.join("image");
        let mut out = File::create_new(&file).map_err(LabError::io("create", &file))?;
        let mut reader = watch.reader(self.reader()?, ARCHIVE_LIMIT);
        let mut buffer = vec![0; 128 << 10];
        loop {
            let count = reader.read(&mut buffer);
            let count = count.map_err(|error| damaged(&self.title(), &error))?;
            if count == 0 {
                return Ok(Some(Store::Archive { file, parts }));
            }
            watch.went_on(0, count as u64)?;
            io::Write::write_all(&mut out, &buffer[..count])
                .map_err(LabError::io("write", &file))?;
        }
    }

    /// The parts of an image; None as soon as something shows up that none has.
    fn parts(&self, watch: &mut Watch<'_>) -> Result<Option<BTreeMap<String, Part>>, LabError> {
        let mut parts = BTreeMap::new();
        let mut foreign = false;
        let fail = |error: io::Error| LabError::from(damaged(&self.title(), &error));
        let reader = watch.reader(self.reader()?, ARCHIVE_LIMIT);
        tar::read(reader, fail, |entry, _| {
            watch.went_on(1, entry.size)?;
            let name = entry.path.trim_end_matches('/');
            foreign = !(name.is_empty() || name == "." || is_part(name));
            foreign |= parts.len() == PARTS_LIMIT;
            if foreign {
                return Ok(ControlFlow::Break(()));
            }
            let part = match entry.kind {
                Kind::File => Part::Data(entry.position, entry.size),
                Kind::SymbolicLink => Part::Link(beside(name, &entry.link)),
                Kind::HardLink => Part::Link(beside("", &entry.link)),
                _ => return Ok(ControlFlow::Continue(())),
            };
            parts.insert(name.to_owned(), part);
            Ok(ControlFlow::Continue(()))
        })?;
        let of_an_image = ["oci-layout", "manifest.json"];
        let is_image = !foreign && of_an_image.iter().any(|name| parts.contains_key(*name));
        Ok(is_image.then_some(parts))
    }
}

/// Is it what an archive of an image holds? Blobs, lists of them, and of older ones directories
/// and files that are called by digests.
fn is_part(name: &str) -> bool {
    const KNOWN: [&str; 5] = [
        "blobs",
        "oci-layout",
        "index.json",
        "manifest.json",
        "repositories",
    ];
    let top = name.split('/').next().unwrap_or(name);
    let stem = top.split('.').next().unwrap_or(top);
    KNOWN.contains(&top) || stem.len() == 64 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where a link leads that lies at `name`.
fn beside(name: &str, link: &[u8]) -> String {
    let link = String::from_utf8_lossy(&link[..link.len().min(TARGET_LIMIT)]);
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A reader of what a compressed file holds.
pub(super) fn decompressed<'a>(
    file: impl Read + 'a,
    format: Option<Format>,
) -> io::Result<Box<dyn Read + 'a>> {
    let file = BufReader::with_capacity(128 << 10, file);
    match format {
        Some(format) => decompress::reader_of_all(format, file),
        None => Ok(Box::new(file)),
    }
}

impl Store {
    /// What a part is called in messages.
    pub fn title(&self, name: &str) -> String {
        match self {
            Store::Directory(path) => path.join(name).display().to_string(),
            Store::Archive { file, .. } => format!("{} in {}", name, file.display()),
        }
    }

    /// A reader of a part, and its length; None if it is not there. The name is not one that
    /// leads out of a directory.
    pub fn part(&self, name: &str) -> Result<Option<Opened>, LabError> {
        match self {
            Store::Directory(path) => {
                let path = path.join(name);
                // A pipe in its place is not waited for.
                let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
                let file = File::options().read(true).custom_flags(flags).open(&path);
                let file = match file {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    file => file.map_err(LabError::io("read", &path))?,
                };
                let found = file.metadata().map_err(LabError::io("read", &path))?;
                Ok(found
                    .is_file()
                    .then(|| (Box::new(file) as Box<dyn Read>, found.len())))
            }
            Store::Archive { file, parts } => {
                let mut part = parts.get(name);
                for _ in 0..LINKS_LIMIT {
                    if let Some(Part::Link(target)) = part {
                        part = parts.get(target);
                    }
                }
                let Some(Part::Data(position, size)) = part else {
                    return Ok(None);
                };
                let mut opened = File::open(file).map_err(LabError::io("read", file))?;
                opened
                    .seek(SeekFrom::Start(*position))
                    .map_err(LabError::io("read", file))?;
                Ok(Some((Box::new(opened.take(*size)), *size)))
            }
        }
    }
}
