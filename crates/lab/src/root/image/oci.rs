// SPDX-License-Identifier: GPL-2.0-or-later
//! The OCI image layout: `index.json` lists images or further lists, by digest. See the OCI image
//! specification, image-layout.md.

use std::path::Path;

use model::{Failure, printable};
use serde::Deserialize;

use super::blob::{self, Digest};
use super::{Image, ImageFile, LAYERS_LIMIT, Layer, no_platform, platform};
use crate::error::LabError;

const DEPTH_LIMIT: usize = 4;
const IMAGES_LIMIT: usize = 1_000;
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    #[serde(default)]
    media_type: String,
    digest: Digest,
    platform: Option<Platform>,
}

#[derive(Debug, Clone, Deserialize)]
struct Platform {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
}

/// A list of images, or an image, depending on its content.
#[derive(Debug, Deserialize)]
struct Manifest {
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

struct Found {
    digest: Digest,
    manifest: Manifest,
    file: ImageFile,
}

pub(in crate::root) fn image(layout: &Path) -> Result<Image, LabError> {
    let mut search = Search {
        layout,
        found: Vec::new(),
        platforms: Vec::new(),
    };
    let index: Manifest = blob::read(layout, "index.json", None)?;
    for descriptor in index.manifests.iter().flatten() {
        search.look(descriptor, 0)?;
    }
    let mut found = search.found;
    found.dedup_by(|one, other| one.digest == other.digest);
    let (Some(image), count) = (found.pop(), found.len()) else {
        return Err(no_platform(layout, &search.platforms));
    };
    if count > 0 {
        let path = layout.display();
        return Err(Failure::usage(
            format!("{path} holds {} images for {}", count + 1, platform()),
            format!("copy one of them: skopeo copy oci:{path}:NAME oci:image, and --root image"),
        )
        .into());
    }
    Ok(Image {
        layout: layout.to_path_buf(),
        layers: layers(&image, layout)?,
        settings: image.file.config.unwrap_or_default(),
    })
}

struct Search<'a> {
    layout: &'a Path,
    found: Vec<Found>,
    platforms: Vec<String>,
}

impl Search<'_> {
    fn look(&mut self, descriptor: &Descriptor, depth: usize) -> Result<(), LabError> {
        let platform_of = |of: &Platform| format!("{}/{}", of.os, of.architecture);
        if let Some(of) = descriptor.platform.as_ref().map(platform_of)
            && of != platform()
        {
            // Descriptors without a platform describe the image's build.
            if of != "unknown/unknown" {
                self.platforms.push(of);
            }
            return Ok(());
        }
        let digest = &descriptor.digest;
        let manifest: Manifest = blob::read(self.layout, &digest.part(), Some(digest))?;
        if let Some(listed) = &manifest.manifests {
            if depth == DEPTH_LIMIT {
                return Err(odd("lists lists of images too deeply"));
            }
            for below in listed {
                self.look(below, depth + 1)?;
            }
            return Ok(());
        }
        if self.found.len() + self.platforms.len() >= IMAGES_LIMIT {
            return Err(odd("lists too many images"));
        }
        let config = manifest.config.as_ref();
        let config = config.ok_or_else(|| odd("lists what is no image"))?;
        let part = config.digest.part();
        let file: ImageFile = blob::read(self.layout, &part, Some(&config.digest))?;
        if file.platform() != platform() {
            self.platforms.push(file.platform());
            return Ok(());
        }
        self.found.push(Found {
            digest: digest.clone(),
            manifest,
            file,
        });
        Ok(())
    }
}

fn layers(image: &Found, path: &Path) -> Result<Vec<Layer>, LabError> {
    let ids = image.file.diff_ids();
    let listed = &image.manifest.layers;
    if ids.len() != listed.len() || listed.len() > LAYERS_LIMIT {
        let what = format!(
            "{}: the image has {} layers, and digests of {}",
            path.display(),
            listed.len(),
            ids.len()
        );
        return Err(Failure::environment(what, "save the image again").into());
    }
    let layer = |(descriptor, id): (&Descriptor, &Digest)| {
        if descriptor.media_type.contains("encrypted") {
            let kind = printable(&descriptor.media_type, 100);
            let what = format!("{}: a layer is encrypted ({kind})", path.display());
            return Err(Failure::environment(what, "save the image decrypted").into());
        }
        Ok(Layer {
            packed: descriptor.digest.clone(),
            unpacked: id.clone(),
        })
    };
    listed.iter().zip(ids).map(layer).collect()
}

fn odd(what: &str) -> LabError {
    Failure::environment(
        format!("the image layout {what}"),
        "see that it is whole; `skopeo inspect` shows what is in it",
    )
    .into()
}
