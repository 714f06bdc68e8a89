// SPDX-License-Identifier: GPL-2.0-or-later
//! What `docker save` and `podman save` write: a list of images, of configurations and of
//! layers, in `manifest.json`.

use std::path::Path;

use serde::Deserialize;

use super::archive::Store;
use super::blob::{self, Digest};
use super::{Image, ImageFile, Layer, choose, is_called};
use crate::error::LabError;
use diagnostics::Failure;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Manifest {
    config: String,
    repo_tags: Option<Vec<String>>,
    layers: Vec<String>,
}

impl Manifest {
    fn names(&self) -> Vec<String> {
        match &self.repo_tags {
            Some(tags) if !tags.is_empty() => tags.clone(),
            _ => vec![self.config.clone()],
        }
    }

    fn is(&self, choice: &str) -> bool {
        let digest = Digest::of_name(&self.config);
        self.names().iter().any(|name| is_called(name, choice))
            || digest.is_some_and(|of| of.begins_with(choice))
    }
}

/// The image of an archive, if there is one only, or the one that is chosen.
pub(super) fn image(store: Store, path: &Path, choice: Option<&str>) -> Result<Image, LabError> {
    let mut manifests: Vec<Manifest> = blob::read(&store, "manifest.json", None)?;
    let names: Vec<String> = manifests.iter().flat_map(Manifest::names).collect();
    if let Some(choice) = choice {
        manifests.retain(|manifest| manifest.is(choice));
    }
    // The same image may stand there once for each of its names.
    manifests.dedup_by(|one, other| one.config == other.config);
    let manifest = match manifests.pop() {
        Some(manifest) if manifests.is_empty() => manifest,
        _ => return Err(choose(path, choice, &names)),
    };
    let digest = Digest::of_name(&manifest.config);
    let file: ImageFile = blob::read(&store, &manifest.config, digest.as_ref())?;
    if file.diff_ids().len() != manifest.layers.len() {
        return Err(Failure::environment(
            format!(
                "{} has {} layers, and digests of {}",
                path.display(),
                manifest.layers.len(),
                file.diff_ids().len()
            ),
            "save the image again",
        )
        .into());
    }
    let layers = manifest.layers.iter().zip(file.diff_ids());
    let layers = layers.map(|(part, unpacked)| Layer {
        part: part.clone(),
        packed: Digest::of_name(part),
        unpacked: Some(unpacked.clone()),
    });
    let layers = layers.collect();
    Image::new(store, path, layers, file)
}
