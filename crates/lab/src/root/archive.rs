// SPDX-License-Identifier: GPL-2.0-or-later
//! A tar file, compressed or not, as a root.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use kernels::decompress::{self, Format};
use model::Failure;

use super::tree::TOP;
use super::unpack::{Unpacker, damaged};
use crate::error::LabError;

pub(super) const MAGIC_BYTES: u64 = 6;

pub(super) fn unpack(path: &Path, unpacker: &mut Unpacker<'_, '_>) -> Result<(), LabError> {
    let open = || File::open(path).map_err(super::directory::unreadable(path));
    let title = path.display().to_string();
    let mut magic = Vec::new();
    open()?
        .take(MAGIC_BYTES)
        .read_to_end(&mut magic)
        .map_err(LabError::io("read", path))?;
    let reader = decompressed(open()?, Format::detect(&magic));
    unpacker.unpack(reader.map_err(|error| damaged(&title, &error))?, &title)?;
    let has = |name: &str| unpacker.tree.entry(TOP, OsStr::new(name)).is_some();
    let hint = match (has("oci-layout"), has("manifest.json")) {
        (true, _) => format!(
            "unpack it with `mkdir image && tar -xf {title} -C image`, then use --root image"
        ),
        (false, true) => {
            format!(
                "convert it with `skopeo copy docker-archive:{title} oci:image`, then use --root \
                 image"
            )
        }
        (false, false) => return Ok(()),
    };
    Err(Failure::environment(format!("{title} is a container image, not a root"), hint).into())
}

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
