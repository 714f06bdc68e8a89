// SPDX-License-Identifier: GPL-2.0-or-later
//! A container image as a directory in the OCI image layout. Each layer is checked against its
//! digest.

mod blob;
mod oci;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kernels::decompress::Format;
use model::Failure;
use serde::Deserialize;

use super::archive::{MAGIC_BYTES, decompressed};
use super::settings::Settings;
use super::tree::BYTES_LIMIT;
use super::unpack::{Unpacker, damaged};
use crate::error::LabError;
use blob::{Digest, Verified};
pub(super) use oci::image;

/// Docker allows 127.
const LAYERS_LIMIT: usize = 1_000;
const END: [u8; 1024] = [0; 1024];
const LISTED: usize = 20;

#[derive(Debug)]
pub(super) struct Image {
    layout: PathBuf,
    /// The lowest first.
    layers: Vec<Layer>,
    pub settings: Settings,
}

#[derive(Debug)]
struct Layer {
    packed: Digest,
    unpacked: Digest,
}

/// An image's configuration: see the OCI image specification, config.md.
#[derive(Debug, Deserialize)]
struct ImageFile {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
    config: Option<Settings>,
    rootfs: Option<RootFs>,
}

#[derive(Debug, Deserialize)]
struct RootFs {
    diff_ids: Vec<Digest>,
}

impl ImageFile {
    fn platform(&self) -> String {
        format!("{}/{}", self.os, self.architecture)
    }

    fn diff_ids(&self) -> &[Digest] {
        self.rootfs.as_ref().map_or(&[], |of| &of.diff_ids)
    }
}

/// The guest's platform, in the form of images.
fn platform() -> String {
    // Debian and Go use the same names of architectures.
    format!("linux/{}", kernels::arch::native().debian.name)
}

impl Image {
    pub(super) fn unpack(&self, unpacker: &mut Unpacker<'_, '_>) -> Result<(), LabError> {
        for layer in &self.layers {
            let path = self.layout.join(layer.packed.part());
            let title = path.display().to_string();
            let (reader, _) = blob::open(&path)?;
            let fail = |error: io::Error| LabError::from(damaged(&title, &error));
            let mut packed = Verified::new(reader);
            let mut magic = Vec::new();
            packed
                .by_ref()
                .take(MAGIC_BYTES)
                .read_to_end(&mut magic)
                .map_err(fail)?;
            let whole = io::Cursor::new(&magic).chain(&mut packed);
            let tar = decompressed(whole, Format::detect(&magic)).map_err(fail)?;
            let mut tar = Verified::new(tar);
            // Some tools (umoci) omit the zeros at an archive's end; the digest detects a truncated
            // one.
            unpacker.unpack((&mut tar).chain(&END[..]), &title)?;
            tar.check(&layer.unpacked, &title)?;
            drop(tar);
            // Bytes after the last stream are part of the blob.
            let mut rest = unpacker.watch.reader(packed.by_ref(), BYTES_LIMIT);
            io::copy(&mut rest, &mut io::sink()).map_err(fail)?;
            packed.check(&layer.packed, &title)?;
        }
        Ok(())
    }
}

fn missing(title: &str) -> LabError {
    Failure::environment(
        format!("{title} is not there"),
        "the image is not whole: save it again, with all that belongs to it",
    )
    .into()
}

fn no_platform(path: &Path, platforms: &[String]) -> LabError {
    Failure::environment(
        format!(
            "{} holds no image for {}, but for {}",
            path.display(),
            platform(),
            listed(platforms)
        ),
        format!(
            "save the image of that platform: docker pull --platform {}",
            platform()
        ),
    )
    .into()
}

fn listed(names: &[String]) -> String {
    let mut names = names.to_vec();
    names.dedup();
    match names.is_empty() {
        true => "nothing".to_owned(),
        false => model::listed(&names, LISTED, 100),
    }
}
