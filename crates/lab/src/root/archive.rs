// SPDX-License-Identifier: GPL-2.0-or-later
//! A tar file, compressed or not, as a root.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

use kernels::decompress;
use model::Failure;

use super::tree::TOP;
use super::unpack::{Unpacker, damaged};
use crate::error::LabError;

pub(super) fn unpack(path: &Path, unpacker: &mut Unpacker<'_, '_>) -> Result<(), LabError> {
    let file = File::open(path).map_err(super::directory::unreadable(path))?;
    let title = path.display().to_string();
    let reader = decompress::plain(file).map_err(|error| damaged(&title, &error))?;
    unpacker.unpack(reader, &title)?;
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
