// SPDX-License-Identifier: GPL-2.0-or-later
//! Container images as files, in the OCI's image layout, which `docker save` writes, too. Layers
//! are unpacked one upon the other, each checked against its digest.

mod archive;
mod blob;
mod oci;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kernels::decompress::Format;
use model::{Failure, printable};
use serde::Deserialize;

use super::settings::Settings;
use super::tree::BYTES_LIMIT;
use super::unpack::{Unpacker, damaged};
use super::watch::Watch;
use crate::error::LabError;
use archive::{Archive, Store, decompressed};
use blob::{Digest, Verified};

/// Most layers of an image; Docker allows 127.
const LAYERS_LIMIT: usize = 1_000;
const END: [u8; 1024] = [0; 1024];
/// Most names and platforms that a message lists.
const LISTED: usize = 20;

/// What the user names as a root.
#[derive(Debug)]
pub(super) enum Source {
    Directory(PathBuf),
    Archive(Archive),
    Image(Image),
}

/// An image of which all is known but what is in its layers.
#[derive(Debug)]
pub(super) struct Image {
    store: Store,
    /// The lowest first.
    layers: Vec<Layer>,
    pub settings: Settings,
}

#[derive(Debug)]
struct Layer {
    packed: Digest,
    unpacked: Digest,
}

/// What the configuration of an image says: see the OCI's image specification, config.md.
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

/// The platform whose programs run in the guest, as images name it.
fn platform() -> String {
    // Go's names of architectures are Debian's.
    format!("linux/{}", kernels::arch::native().debian.name)
}

/// Finds out what a root is. A `#` and what follows it choose one of several images. What has to
/// be decompressed to be looked at goes into `scratch`.
pub(super) fn open(text: &str, scratch: &Path, watch: &mut Watch<'_>) -> Result<Source, LabError> {
    let (path, choice) = match text.rsplit_once('#') {
        Some((path, choice)) if !Path::new(text).exists() => (Path::new(path), Some(choice)),
        _ => (Path::new(text), None),
    };
    let found = fs::metadata(path).map_err(LabError::io("read", path))?;
    if found.is_dir() {
        if path.join("oci-layout").is_file() && path.join("index.json").is_file() {
            let store = Store::Directory(path.to_path_buf());
            return oci::image(store, path, choice).map(Source::Image);
        }
        no_choice(path, choice)?;
        return Ok(Source::Directory(path.to_path_buf()));
    }
    if !found.is_file() {
        return Err(Failure::environment(
            format!("{} is neither a directory nor a file", path.display()),
            "a root is a directory, a tar file or an OCI image layout",
        )
        .into());
    }
    let archive = Archive::open(path)?;
    match archive.store(scratch, watch)? {
        Some(store) => oci::image(store, path, choice).map(Source::Image),
        None => {
            no_choice(path, choice)?;
            Ok(Source::Archive(archive))
        }
    }
}

fn no_choice(path: &Path, choice: Option<&str>) -> Result<(), LabError> {
    match choice {
        None => Ok(()),
        Some(choice) => Err(Failure::usage(
            format!(
                "{} holds no images to choose `{choice}` from",
                path.display()
            ),
            "leave out # and what follows it",
        )
        .into()),
    }
}

impl Image {
    pub(super) fn unpack(&self, unpacker: &mut Unpacker<'_, '_>) -> Result<(), LabError> {
        for layer in &self.layers {
            let part = layer.packed.part();
            let title = self.store.title(&part);
            let Some((reader, _)) = self.store.part(&part)? else {
                return Err(missing(&title));
            };
            let fail = |error: io::Error| LabError::from(damaged(&title, &error));
            let mut packed = Verified::new(reader);
            let mut magic = Vec::new();
            packed
                .by_ref()
                .take(6)
                .read_to_end(&mut magic)
                .map_err(fail)?;
            let whole = io::Cursor::new(&magic).chain(&mut packed);
            let tar = decompressed(whole, Format::detect(&magic)).map_err(fail)?;
            let mut tar = Verified::new(tar);
            // Some leave out the zeros at an archive's end (umoci does); where it ends, the
            // digest tells.
            unpacker.unpack((&mut tar).chain(&END[..]), &title)?;
            tar.check(&layer.unpacked, &title)?;
            drop(tar);
            // What follows the last stream is of the blob, too.
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

/// Nothing of the image runs in the guest.
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

/// Whether an image of this name is chosen: without its registry and directories and without
/// `:latest`, it may be called so, too.
fn is_called(name: &str, choice: &str) -> bool {
    let bare = name.strip_suffix(":latest").unwrap_or(name);
    [name, bare].into_iter().any(|name| {
        let above = name.strip_suffix(choice);
        above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
    })
}

/// Several images are there, or none that is called so.
fn choose(path: &Path, choice: Option<&str>, names: &[String]) -> LabError {
    let path = path.display();
    let what = match choice {
        Some(choice) => format!("{path} holds no image `{choice}`, but {}", listed(names)),
        None => format!("{path} holds several images: {}", listed(names)),
    };
    let example = names.first().map_or("NAME", String::as_str);
    let example = printable(example, 100);
    Failure::usage(what, format!("name one of them: --root '{path}#{example}'")).into()
}

fn listed(names: &[String]) -> String {
    let mut names = names.to_vec();
    names.dedup();
    match names.is_empty() {
        true => "nothing".to_owned(),
        false => model::listed(&names, LISTED, 100),
    }
}
