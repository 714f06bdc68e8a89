// SPDX-License-Identifier: GPL-2.0-or-later
//! A container image as a directory in the OCI image layout: `index.json` lists images or further
//! lists. All content is addressed by its digest, and checked against it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use kernels::decompress;
use model::{Failure, printable};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::settings::Settings;
use super::tree::BYTES_LIMIT;
use super::unpack::{Unpacker, damaged};
use crate::error::LabError;

/// Docker allows 127 layers.
const LAYERS_LIMIT: usize = 1_000;
const END: [u8; 1024] = [0; 1024];
const LISTED: usize = 20;
const DEPTH_LIMIT: usize = 4;
const IMAGES_LIMIT: usize = 1_000;
const TEXT_LIMIT: u64 = 4 << 20;

/// Hexadecimal SHA-256 with the prefix `sha256:`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Digest(String);

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Digest, String> {
        let digits = text.strip_prefix("sha256:").unwrap_or_default();
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match digits.len() == 64 && digits.bytes().all(is_digit) {
            true => Ok(Digest(text)),
            false => Err(format!("bad SHA-256 digest `{}`", printable(&text, 100))),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    #[serde(default)]
    media_type: String,
    digest: Digest,
    platform: Option<Platform>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Platform {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
}

impl Platform {
    fn of_guests() -> Platform {
        Platform {
            os: "linux".to_owned(),
            // Debian and Go use the same names of architectures.
            architecture: kernels::arch::native().debian.name.to_owned(),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)
    }
}

/// A list of images, or an image, by its content.
#[derive(Debug, Deserialize)]
struct Manifest {
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

/// An image's configuration: see the OCI image specification, config.md.
#[derive(Debug, Deserialize)]
struct ImageFile {
    #[serde(flatten)]
    platform: Platform,
    config: Option<Settings>,
}

#[derive(Debug)]
pub(super) struct Image {
    digest: Digest,
    layout: PathBuf,
    /// The lowest first.
    layers: Vec<Digest>,
    pub settings: Settings,
}

pub(super) fn image(layout: &Path) -> Result<Image, LabError> {
    let mut search = Search {
        layout,
        found: Vec::new(),
        platforms: Vec::new(),
    };
    let index: Manifest = read(layout, "index.json", None)?;
    for descriptor in index.manifests.iter().flatten() {
        search.look(descriptor, 0)?;
    }
    let (mut found, mut others) = (search.found, search.platforms);
    found.dedup_by(|one, other| one.digest == other.digest);
    let (path, own) = (layout.display(), Platform::of_guests());
    let (Some(image), count) = (found.pop(), found.len()) else {
        others.dedup();
        let others = match others.is_empty() {
            true => "nothing".to_owned(),
            false => model::listed(&others, LISTED, 100),
        };
        return Err(Failure::environment(
            format!("{path} has no image for {own}, only for {others}"),
            format!("save the image for that platform: docker pull --platform {own}"),
        )
        .into());
    };
    if count > 0 {
        return Err(Failure::usage(
            format!("{path} has {} images for {own}", count + 1),
            format!(
                "copy one of them with `skopeo copy oci:{path}:NAME oci:image`, then use --root \
                 image"
            ),
        )
        .into());
    }
    Ok(image)
}

struct Search<'a> {
    layout: &'a Path,
    found: Vec<Image>,
    platforms: Vec<String>,
}

impl Search<'_> {
    fn look(&mut self, descriptor: &Descriptor, depth: usize) -> Result<(), LabError> {
        let own = Platform::of_guests();
        if let Some(other) = descriptor
            .platform
            .as_ref()
            .filter(|platform| **platform != own)
        {
            // Descriptors without a platform describe how the image was built.
            let other = other.to_string();
            self.platforms
                .extend(Some(other).filter(|other| other != "unknown/unknown"));
            return Ok(());
        }
        let digest = &descriptor.digest;
        let manifest: Manifest = read(self.layout, &part(digest), Some(digest))?;
        if let Some(listed) = &manifest.manifests {
            if depth == DEPTH_LIMIT {
                return Err(odd("nests its lists of images too deeply"));
            }
            return listed
                .iter()
                .try_for_each(|below| self.look(below, depth + 1));
        }
        if self.found.len() + self.platforms.len() >= IMAGES_LIMIT {
            return Err(odd("lists too many images"));
        }
        let config = manifest.config.as_ref();
        let config = &config
            .ok_or_else(|| odd("lists something other than an image"))?
            .digest;
        let file: ImageFile = read(self.layout, &part(config), Some(config))?;
        if file.platform != own {
            self.platforms.push(file.platform.to_string());
            return Ok(());
        }
        self.found.push(Image {
            digest: digest.clone(),
            layout: self.layout.to_path_buf(),
            layers: layers(manifest.layers)?,
            settings: file.config.unwrap_or_default(),
        });
        Ok(())
    }
}

fn layers(listed: Vec<Descriptor>) -> Result<Vec<Digest>, LabError> {
    if listed.len() > LAYERS_LIMIT {
        return Err(odd("has too many layers"));
    }
    let is_encrypted = |layer: &&Descriptor| layer.media_type.contains("encrypted");
    if let Some(layer) = listed.iter().find(is_encrypted) {
        let kind = printable(&layer.media_type, 100);
        return Err(odd(&format!("has an encrypted layer ({kind})")));
    }
    Ok(listed.into_iter().map(|layer| layer.digest).collect())
}

impl Image {
    pub(super) fn unpack(&self, unpacker: &mut Unpacker<'_, '_>) -> Result<(), LabError> {
        for layer in &self.layers {
            let path = self.layout.join(part(layer));
            let title = path.display().to_string();
            let fail = |error: io::Error| LabError::from(damaged(&title, &error));
            let mut packed = Verified::new(open(&path)?.0);
            let tar = decompress::plain(&mut packed).map_err(fail)?;
            // Some tools (umoci) omit the zeros at an archive's end; the digest detects truncation.
            unpacker.unpack(tar.chain(&END[..]), &title)?;
            // Bytes after the last stream are part of the blob.
            let mut rest = unpacker.watch.reader(packed.by_ref(), BYTES_LIMIT);
            io::copy(&mut rest, &mut io::sink()).map_err(fail)?;
            packed.check(layer, &title)?;
        }
        Ok(())
    }
}

fn part(digest: &Digest) -> String {
    format!("blobs/{}", digest.0.replacen(':', "/", 1))
}

struct Verified<R> {
    reader: R,
    hash: Sha256,
}

impl<R: Read> Verified<R> {
    fn new(reader: R) -> Verified<R> {
        Verified {
            reader,
            hash: Sha256::new(),
        }
    }

    fn check(self, Digest(digest): &Digest, title: &str) -> Result<(), LabError> {
        let found = kernels::files::hex(&self.hash.finalize());
        match digest.strip_prefix("sha256:") == Some(&found) {
            true => Ok(()),
            false => Err(Failure::environment(
                format!("{title} is damaged: its digest is sha256:{found}, not {digest}"),
                "save the image again",
            )
            .into()),
        }
    }
}

impl<R: Read> Read for Verified<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

fn read<T: DeserializeOwned>(
    layout: &Path,
    part: &str,
    digest: Option<&Digest>,
) -> Result<T, LabError> {
    let path = layout.join(part);
    let title = path.display().to_string();
    let (reader, length) = open(&path)?;
    let bad = |reason: String| {
        Failure::environment(
            format!("cannot read {title}: {reason}"),
            "give a complete OCI image layout, as saved by Docker 25 and later",
        )
    };
    if length > TEXT_LIMIT {
        return Err(bad(format!("it is longer than {} MiB", TEXT_LIMIT >> 20)).into());
    }
    let mut reader = Verified::new(reader.take(TEXT_LIMIT));
    let mut text = Vec::new();
    let read = reader.read_to_end(&mut text);
    read.map_err(|error| damaged(&title, &error))?;
    if let Some(digest) = digest {
        reader.check(digest, &title)?;
    }
    Ok(serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?)
}

fn open(path: &Path) -> Result<(File, u64), LabError> {
    let missing = || {
        LabError::from(Failure::environment(
            format!("{} is missing", path.display()),
            "the image is incomplete: save it again with all its parts",
        ))
    };
    // Do not block on a pipe.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path);
    let file = match file {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
        file => file.map_err(LabError::io("read", path))?,
    };
    let found = file.metadata().map_err(LabError::io("read", path))?;
    match found.is_file() {
        true => Ok((file, found.len())),
        false => Err(missing()),
    }
}

fn odd(what: &str) -> LabError {
    Failure::environment(
        format!("the image layout {what}"),
        "check the layout with `skopeo inspect`",
    )
    .into()
}
