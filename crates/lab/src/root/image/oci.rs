// SPDX-License-Identifier: GPL-2.0-or-later
//! The OCI's image layout: `index.json` lists images or further lists, each called by its digest.
//! See the OCI's image specification, image-layout.md.

use std::collections::BTreeMap;
use std::path::Path;

use model::{Failure, printable};
use serde::Deserialize;

use super::archive::Store;
use super::blob::{self, Digest};
use super::{Image, ImageFile, LAYERS_LIMIT, Layer, choose, is_called, no_platform, platform};
use crate::error::LabError;

const DEPTH_LIMIT: usize = 4;
/// Most images that are looked at.
const IMAGES_LIMIT: usize = 1_000;
/// Annotations that name an image: the OCI's own, and containerd's, which has all of it.
const NAMES: [&str; 2] = [
    "io.containerd.image.name",
    "org.opencontainers.image.ref.name",
];

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    #[serde(default)]
    media_type: String,
    digest: Digest,
    platform: Option<Platform>,
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Platform {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
}

/// A list of images, or an image: which one, what is in it tells.
#[derive(Debug, Deserialize)]
struct Manifest {
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

impl Descriptor {
    fn names(&self) -> Vec<String> {
        let annotations = self.annotations.iter();
        let names = annotations.flat_map(|of| NAMES.iter().filter_map(|name| of.get(*name)));
        names.cloned().collect()
    }

    /// What a user may call it by.
    fn title(&self) -> String {
        let name = self.names().into_iter().next();
        name.unwrap_or_else(|| self.digest.to_string())
    }

    fn is(&self, choice: &str) -> bool {
        self.names().iter().any(|name| is_called(name, choice)) || self.digest.begins_with(choice)
    }

    fn read(&self, store: &Store) -> Result<Manifest, LabError> {
        blob::read(store, &self.digest.part(), Some(&self.digest))
    }
}

/// An image that is there, and what it is for.
struct Found {
    descriptor: Descriptor,
    /// What the list calls it that names it.
    title: String,
    manifest: Manifest,
    file: ImageFile,
}

/// The image of a layout that runs in the guest, if there is one only, or the one that is chosen.
pub(super) fn image(store: Store, path: &Path, choice: Option<&str>) -> Result<Image, LabError> {
    let index: Manifest = blob::read(&store, "index.json", None)?;
    let listed = index.manifests.unwrap_or_default();
    let mut search = Search {
        store: &store,
        found: Vec::new(),
        platforms: Vec::new(),
    };
    let mut names = Vec::new();
    let mut is_there = choice.is_none();
    for descriptor in &listed {
        names.push(descriptor.title());
        let chosen = choice.is_none_or(|choice| descriptor.is(choice));
        is_there |= chosen;
        search.look(
            descriptor,
            &descriptor.title(),
            choice.filter(|_| !chosen),
            0,
        )?;
    }
    let Search {
        mut found,
        platforms,
        ..
    } = search;
    found.dedup_by(|one, other| one.descriptor.digest == other.descriptor.digest);
    let Some(image) = found.pop() else {
        return Err(match is_there {
            true => no_platform(path, &platforms),
            false => choose(path, choice, &names),
        });
    };
    if !found.is_empty() {
        found.push(image);
        let mut names: Vec<String> = found.iter().map(|of| of.title.clone()).collect();
        names.dedup();
        if names.len() < found.len() {
            names = found
                .iter()
                .map(|of| of.descriptor.digest.to_string())
                .collect();
        }
        return Err(choose(path, None, &names));
    }
    let layers = layers(&image, path)?;
    Ok(Image {
        store,
        layers,
        settings: image.file.config.unwrap_or_default(),
    })
}

struct Search<'a> {
    store: &'a Store,
    /// Images for the guest.
    found: Vec<Found>,
    platforms: Vec<String>,
}

impl Search<'_> {
    /// Looks at what a descriptor is of; with `wanted`, only at what is called so.
    fn look(
        &mut self,
        descriptor: &Descriptor,
        title: &str,
        wanted: Option<&str>,
        depth: usize,
    ) -> Result<(), LabError> {
        let platform_of = |of: &Platform| format!("{}/{}", of.os, of.architecture);
        if let Some(of) = descriptor.platform.as_ref().map(platform_of)
            && of != platform()
        {
            // What is for no platform says how the image was built.
            if of != "unknown/unknown" && wanted.is_none() {
                self.platforms.push(of);
            }
            return Ok(());
        }
        let is_list =
            descriptor.media_type.contains("index") || descriptor.media_type.contains("list");
        if wanted.is_some() && !is_list {
            return Ok(());
        }
        let manifest = descriptor.read(self.store)?;
        if let Some(listed) = &manifest.manifests {
            if depth == DEPTH_LIMIT {
                return Err(odd("lists lists of images too deeply"));
            }
            for below in listed {
                let wanted = wanted.filter(|choice| !below.is(choice));
                self.look(below, title, wanted, depth + 1)?;
            }
            return Ok(());
        }
        if self.found.len() + self.platforms.len() >= IMAGES_LIMIT {
            return Err(odd("lists too many images"));
        }
        let config = manifest.config.as_ref();
        let config = config.ok_or_else(|| odd("lists what is no image"))?;
        let part = config.digest.part();
        let file: ImageFile = blob::read(self.store, &part, Some(&config.digest))?;
        if file.platform() != platform() {
            self.platforms.push(file.platform());
            return Ok(());
        }
        self.found.push(Found {
            descriptor: descriptor.clone(),
            title: title.to_owned(),
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
