// SPDX-License-Identifier: GPL-2.0-or-later
//! The root of programs: a directory, a tar file, a container image, or programs of this machine
//! with their libraries.

mod account;
mod archive;
mod directory;
mod image;
mod made;
mod place;
mod settings;
mod tree;
mod unpack;
mod watch;

pub(crate) use made::libraries;
pub(crate) use place::Fix;
pub use watch::{Making, Watch};

use std::fs;
use std::path::{Path, PathBuf};

use model::{Failure, Programs, RootSpec};

use crate::error::LabError;
use crate::initramfs::{self, FileSystem, Image};
use kernels::scratch::Scratch;
use settings::Settings;
use tree::Tree;
use unpack::Unpacker;

/// Time of created directories, in seconds since 1970: arbitrary, but fixed.
const MADE_S: i64 = 1_700_000_000;

#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    pub bytes: u64,
    pub files: u64,
    pub newest_s: i64,
    /// Digest of names, owners, modes and contents, in hexadecimal.
    pub digest: String,
    /// Owners, modes and devices in the guest that differ from the files here; None for a plain
    /// directory. The default owner is root.
    pub(crate) fixes: Option<Vec<Fix>>,
    /// The requested type, and the image; declared before its directory, so that it is dropped
    /// first.
    image: Option<(FileSystem, Image)>,
    settings: Settings,
    _scratch: Option<Scratch>,
}

impl Root {
    /// Finds and checks the root of programs, and makes it if necessary.
    ///
    /// # Errors
    /// [`LabError::Environment`] if something is missing, invalid, or more than a guest can hold;
    /// [`LabError::Interrupted`] if `watch` cancels.
    pub fn prepare(spec: &RootSpec, watch: &mut Watch<'_>) -> Result<Root, LabError> {
        let made = match &spec.path {
            Some(path) => Root::given(path.as_ref(), watch),
            None => Root::of_programs(spec, watch),
        };
        // After cancellation other errors do not matter.
        made.map_err(|error| match watch.is_cancelled() {
            true => LabError::Interrupted,
            false => error,
        })
    }

    /// The root of the experiment's programs, if any. The experiment gets its digest and settings.
    pub fn prepare_for(
        programs: Option<&mut Programs>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Root>, LabError> {
        let Some(programs) = programs else {
            return Ok(None);
        };
        let root = Root::prepare(&programs.root, watch)?;
        programs.digest.clone_from(&root.digest);
        for workload in &mut programs.workloads {
            root.settings.complete(workload, root.path())?;
        }
        Ok(Some(root))
    }

    /// The user's path: a directory is used directly, a tar file or an image is unpacked.
    fn given(path: &Path, watch: &mut Watch<'_>) -> Result<Root, LabError> {
        let found = fs::metadata(path).map_err(directory::unreadable(path))?;
        let is_image = path.join("oci-layout").is_file() && path.join("index.json").is_file();
        if found.is_dir() && !is_image {
            let tree = directory::read(path, watch)?;
            return Ok(Root::new(&tree, path.into(), Settings::default(), None));
        }
        if !found.is_dir() && !found.is_file() {
            return Err(Failure::environment(
                format!("{} is neither a directory nor a file", path.display()),
                "give a directory, a tar file or an OCI image layout",
            )
            .into());
        }
        let scratch = Scratch::new().map_err(LabError::io("create", &std::env::temp_dir()))?;
        if !is_image {
            let mut unpacker = unpacker(&scratch, false, watch)?;
            archive::unpack(path, &mut unpacker)?;
            return Root::placed(unpacker, Settings::default(), scratch);
        }
        let image = image::image(path)?;
        let mut unpacker = unpacker(&scratch, true, watch)?;
        image.unpack(&mut unpacker)?;
        if let Some(path) = &image.settings.cwd {
            unpacker.tree.directory(Path::new(path), 0)?;
        }
        Root::placed(unpacker, image.settings, scratch)
    }

    fn placed(
        mut unpacker: Unpacker<'_, '_>,
        settings: Settings,
        scratch: Scratch,
    ) -> Result<Root, LabError> {
        let path = scratch.path().join("root");
        place::place(&mut unpacker, &path)?;
        Ok(Root::new(&unpacker.tree, path, settings, Some(scratch)))
    }

    fn of_programs(spec: &RootSpec, watch: &mut Watch<'_>) -> Result<Root, LabError> {
        let scratch = Scratch::new().map_err(LabError::io("create", &std::env::temp_dir()))?;
        let path = scratch.path().join("root");
        made::make(&path, spec, watch)?;
        let mut tree = directory::read(&path, watch)?;
        for node in &mut tree.nodes {
            (node.attributes.uid, node.attributes.gid) = (0, 0);
        }
        Ok(Root::new(&tree, path, Settings::default(), Some(scratch)))
    }

    fn new(tree: &Tree, path: PathBuf, settings: Settings, scratch: Option<Scratch>) -> Root {
        Root {
            path,
            bytes: tree.bytes,
            files: tree.files,
            newest_s: tree.newest_s(),
            digest: tree.digest(),
            fixes: scratch.is_some().then(|| place::fixes(tree)),
            image: None,
            settings,
            _scratch: scratch,
        }
    }

    /// Makes the guests' file system, which all kernels use, as a file in `TMPDIR`.
    pub fn make_image(&mut self, fs: FileSystem, watch: &mut Watch<'_>) -> Result<(), LabError> {
        watch.begin("making its file system");
        let made = {
            let mut tick = |bytes| {
                let what = || "making the file system of a root".into();
                watch
                    .is_at(self.files, bytes)
                    .map_err(|_| kernels::Error::Interrupted { what: what() })
            };
            initramfs::image_of(self, made_as(fs), &mut tick)
        };
        let made = made.map_err(|error| match watch.is_cancelled() {
            true => LabError::Interrupted,
            false => error.into(),
        })?;
        self.image = made.map(|image| (fs, image));
        Ok(())
    }

    pub(crate) fn image(&self, fs: FileSystem) -> Option<&Image> {
        let made = self.image.as_ref().filter(|(asked, _)| *asked == fs);
        made.map(|(_, image)| image)
    }

    pub(crate) fn is_copied(&self) -> bool {
        let asked = self.image.as_ref().map(|&(asked, _)| asked);
        asked.is_some_and(|asked| made_as(asked) != asked)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The size of its file system: a quarter and 128 MiB more than the root, for new files.
    pub fn device_kib(&self) -> u64 {
        let data = self.bytes / 1024 + 4 * self.files;
        (data + data / 4 + (128 << 10)).next_multiple_of(1 << 10)
    }
}

/// The type of file system that is made on this machine: `fs` if its program takes a directory, or
/// else ext4, from which the guest copies.
pub(crate) fn made_as(fs: FileSystem) -> FileSystem {
    match fs {
        FileSystem::Ext4 | FileSystem::Btrfs | FileSystem::Overlay => fs,
        FileSystem::Xfs | FileSystem::Tmpfs => FileSystem::Ext4,
    }
}

fn unpacker<'a, 'b>(
    scratch: &Scratch,
    layered: bool,
    watch: &'a mut Watch<'b>,
) -> Result<Unpacker<'a, 'b>, LabError> {
    let data = scratch.path().join("data");
    fs::create_dir(&data).map_err(LabError::io("create", &data))?;
    Ok(Unpacker::new(data, layered, watch))
}

#[cfg(test)]
mod tests;
