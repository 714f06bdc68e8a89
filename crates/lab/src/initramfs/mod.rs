// SPDX-License-Identifier: GPL-2.0-or-later
//! The initramfs of a VM: the agent, its modules, and its file system.

mod child;
mod cpio;
mod filesystem;
mod image;
mod owners;

pub use crate::find::find_program;
pub use kernels::Error;
pub use model::FileSystem;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::root::{Root, made_as};
use cpio::Archive;
use filesystem::{Disk, Support};
pub(crate) use image::Image;
use kernels::files::{read_sealed, write_sealed};
use kernels::{Kernel, Module, ModuleTree};

/// Called while a file system is made, with the number of bytes so far. An error cancels the work.
pub(crate) type Tick<'a> = &'a mut dyn FnMut(u64) -> Result<(), Error>;

const AGENT_LIMIT: usize = 64 << 20;

#[derive(Debug, Clone, Copy)]
pub struct Guest<'a> {
    pub filesystem: FileSystem,
    pub root: Option<&'a Root>,
    /// Names of modules that benchmarks need; names that are not modules here are ignored.
    pub modules: &'a [&'static str],
    /// Directory for empty file systems. If None, they are made each time.
    pub images: Option<&'a Path>,
}

impl From<FileSystem> for Guest<'static> {
    fn from(filesystem: FileSystem) -> Guest<'static> {
        Guest {
            filesystem,
            root: None,
            modules: &[],
            images: None,
        }
    }
}

/// Memory is shifted by this many bytes, a page, from one machine to the next.
const PADDING: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskFile {
    pub path: PathBuf,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Files {
    /// An uncompressed cpio archive, without directives.
    pub initramfs: PathBuf,
    pub disk: Option<DiskFile>,
    /// Kernel arguments: the size of the RAM disk, in case its driver is built in, or the address
    /// of the mapped disk.
    pub arguments: Vec<String>,
    pub modules: Vec<Module>,
}

pub(crate) fn image_of(
    root: &Root,
    fs: FileSystem,
    tick: Tick<'_>,
) -> Result<Option<Image>, Error> {
    image::make(fs, filesystem::device_kib(fs, Some(root)), Some(root), tick)
}

/// A file system in an initramfs.
enum Content<'a> {
    /// As the agent reads it.
    Empty(Vec<u8>),
    OfRoot(&'a Image),
}

/// The file system is cached, because the programs for btrfs and older xfs add the time and random
/// numbers, so that no two machines would be the same.
fn empty(fs: FileSystem, guest: Guest<'_>) -> Result<Option<Content<'static>>, Error> {
    const LIMIT: u64 = 256 << 20;
    let kib = filesystem::device_kib(fs, guest.root);
    let kept = match guest.images {
        Some(dir) => image::key(fs, kib)?.map(|key| (dir, dir.join(key))),
        None => None,
    };
    if let Some((_, path)) = &kept
        && let Some(bytes) = read_sealed(path, LIMIT)
    {
        return Ok(Some(Content::Empty(bytes)));
    }
    let Some(image) = image::make(fs, kib, None, &mut |_| Ok(()))? else {
        return Ok(None);
    };
    let bytes = image.bytes()?;
    if let Some((dir, path)) = kept {
        // A cache that cannot be written only costs time.
        let _ = fs::create_dir_all(dir).and_then(|()| write_sealed(&path, &bytes));
    }
    Ok(Some(Content::Empty(bytes)))
}

/// Writes the boot files of `kernel` to `dir`. The initramfs is an uncompressed cpio archive with
/// `agent` as `/init`, modules, and an empty file system, laid out as in the agent's protocol.
/// Equal input gives equal bytes if `guest` has a directory for images. If there is a root, its
/// file system replaces the empty one, or is a disk file of its own if the kernel supports this;
/// kernels and boots share that file.
///
/// # Errors
/// [`Error::Unsupported`] if the kernel does not have the file system or a RAM disk;
/// [`Error::Environment`] if the program that makes the file system is missing.
pub fn write(agent: &[u8], guest: Guest<'_>, kernel: &Kernel, dir: &Path) -> Result<Files, Error> {
    let fs = guest.filesystem;
    let initramfs = dir.join("initramfs");
    let (kind, modules) = needs(guest, kernel)?;
    let (mut disk, mut arguments) = (None, Vec::new());
    let (image, on_ram_disk) = match (guest.root.map(|root| root.image(fs)), kind) {
        (None, _) => (empty(fs, guest)?, Some(fs)),
        (Some(None), _) => {
            return Err(Error::Environment {
                what: format!("the root's {fs} has not been made"),
                hint: "this is a bug in lsmeter: report it".to_owned(),
            });
        }
        (Some(root), Disk::Ram) => (root.map(Content::OfRoot), Some(made_as(fs))),
        (Some(Some(root)), Disk::Persistent(memory)) => {
            let file = root.disk();
            arguments.push(format!("memmap={}!{:#x}", file.bytes, memory.address));
            disk = Some(file);
            // The target file system for the copied root.
            let target = (made_as(fs) != fs).then_some(fs);
            (target.map_or(Ok(None), |fs| empty(fs, guest))?, target)
        }
    };
    let kib = on_ram_disk.and_then(|fs| filesystem::device_kib(fs, guest.root));
    let parameters = kib.map_or(Vec::new(), |kib| {
        vec!["rd_nr=1".to_owned(), format!("rd_size={kib}")]
    });
    let named = |parameter| format!("{}.{parameter}", filesystem::RAM_DISK);
    arguments.extend(parameters.iter().map(named));
    let file = File::create(&initramfs).map_err(Error::io("create", &initramfs))?;
    let archive = Archive::new(file, &initramfs);
    archive_of(archive, agent, &modules, &parameters.join(" "), image)?;
    Ok(Files {
        initramfs,
        disk,
        arguments,
        modules,
    })
}

fn archive_of(
    mut archive: Archive<'_, File>,
    agent: &[u8],
    modules: &[Module],
    parameters: &str,
    image: Option<Content<'_>>,
) -> Result<File, Error> {
    if agent.len() > AGENT_LIMIT {
        return Err(cpio::too_long("the agent"));
    }
    for directory in ["dev", "mnt", "modules", "proc", "sys", "tmp"] {
        archive.directory(directory)?;
    }
    // The kernel opens the console before init can mount anything.
    archive.device("dev/console", 0o600, 5, 1)?;
    archive.device("dev/null", 0o666, 1, 3)?;
    archive.file("init", 0o755, agent)?;
    for (i, module) in modules.iter().enumerate() {
        let path = format!("modules/{i:02}-{}", module.name);
        archive.file(&format!("{path}.ko"), 0o644, &module.elf)?;
        if module.name == filesystem::RAM_DISK {
            archive.file(&format!("{path}.args"), 0o644, parameters.as_bytes())?;
        }
    }
    match image {
        Some(Content::Empty(bytes)) => archive.file("image", 0o644, &bytes)?,
        Some(Content::OfRoot(image)) => {
            let extents = image.extents()?;
            archive.stream("image", 0o644, extents.length(), |out| {
                image.write(&extents, out)
            })?;
        }
        None => {}
    }
    archive.finish()
}

/// A second archive to append to the initramfs: the agent's directives as `/experiment`, and their
/// files. The kernel unpacks both. Paths have no leading `/`. For all machines but the first, it
/// contains an unused file, which shifts later kernel allocations.
pub fn with_directives(
    directives: &str,
    files: &[(String, Vec<u8>)],
    machine: u32,
) -> Result<Vec<u8>, Error> {
    let mut archive = Archive::new(Vec::new(), Path::new("directives"));
    let mut directories = BTreeSet::new();
    for (path, content) in files {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        for directory in above {
            if directories.insert(directory) {
                archive.directory(directory)?;
            }
        }
        archive.file(path, 0o755, content)?;
    }
    archive.file("experiment", 0o644, directives.as_bytes())?;
    if machine > 0 {
        archive.file("padding", 0o600, &vec![0; machine as usize * PADDING])?;
    }
    archive.finish()
}

fn needs(guest: Guest<'_>, kernel: &Kernel) -> Result<(Disk, Vec<Module>), Error> {
    let (fs, root) = (guest.filesystem, guest.root.is_some());
    let tree = kernel
        .modules
        .as_deref()
        .map(|dir| ModuleTree::open(dir, kernel.arch()))
        .transpose()?;
    let support = Support::read(kernel, tree.as_ref())?;
    let disk = match root {
        true => support.disk_of_root(),
        false => Disk::Ram,
    };
    let mut drivers = filesystem::drivers(if root { made_as(fs) } else { fs }, disk);
    if root && made_as(fs) != fs {
        if matches!(disk, Disk::Ram) && fs != FileSystem::Tmpfs {
            return Err(Error::Unsupported {
                what: format!(
                    "a guest with kernel {} cannot have its root on {fs}",
                    kernel.name
                ),
                reason: "the kernel does not support persistent memory, from which the root is \
                         copied"
                    .to_owned(),
                hint: Some("use ext4, btrfs or tmpfs".to_owned()),
            });
        }
        drivers.extend(filesystem::drivers(fs, Disk::Ram));
    }
    let mut needed = Vec::new();
    for driver in drivers {
        match support.driver(driver) {
            Ok(true) => {}
            Ok(false) => needed.push(driver.module),
            Err(reason) => {
                return Err(Error::Unsupported {
                    what: format!("kernel {} cannot use {fs}", kernel.name),
                    reason,
                    hint: matches!(disk, Disk::Persistent(_)).then(|| {
                        format!(
                            "a root needs persistent memory, whose modules earlier versions of \
                             lsmeter did not keep: fetch a Debian kernel again with `lsmeter \
                             kernel fetch {}`",
                            kernel.name
                        )
                    }),
                });
            }
        }
    }
    if let Some(tree) = &tree {
        let asked = guest.modules.iter().copied();
        needed.extend(asked.filter(|name| !tree.is_builtin(name) && tree.contains(name)));
    }
    let modules = match tree {
        Some(tree) if !needed.is_empty() => tree.load_order(&needed)?,
        _ => Vec::new(),
    };
    Ok((disk, modules))
}

#[cfg(test)]
mod tests;
