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
use model::Failure;

use crate::error::LabError;
use crate::root::tree::BYTES_LIMIT;
use crate::root::unpack::{Unpacker, damaged};
use crate::root::watch::Watch;

/// Most bytes of an archive of an image, and most parts: each layer is one.
const ARCHIVE_LIMIT: u64 = 2 * BYTES_LIMIT;
const PARTS_LIMIT: usize = 10_000;
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
        parts: Parts,
    },
}

/// A reader of a part, and its length.
type Opened = (Box<dyn Read>, u64);

/// Where each part begins, and how long it is.
type Parts = BTreeMap<String, (u64, u64)>;

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
    fn parts(&self, watch: &mut Watch<'_>) -> Result<Option<Parts>, LabError> {
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
            if entry.kind == Kind::File {
                parts.insert(name.to_owned(), (entry.position, entry.size));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let is_image = !foreign && parts.contains_key("oci-layout");
        if !foreign && !is_image && parts.contains_key("manifest.json") {
            let path = self.path.display();
            return Err(Failure::environment(
                format!("{path} is an archive of Docker's older format"),
                format!("skopeo copy docker-archive:{path} oci-archive:image.tar"),
            )
            .into());
        }
        Ok(is_image.then_some(parts))
    }
}

/// Is it what an archive of an image holds? Blobs and lists of them; in Docker's older format
/// also directories and files that are called by digests.
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
                let Some((position, size)) = parts.get(name) else {
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
