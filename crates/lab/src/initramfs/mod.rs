// SPDX-License-Identifier: GPL-2.0-or-later
//! The initramfs of a VM: the agent, the modules that it loads, and the file
//! system that it works on.

mod cpio;
mod filesystem;
mod image;

pub use crate::find::find_program;
pub use experiment::FileSystem;
pub use kernels::Error;

use std::collections::BTreeSet;

use crate::root::Root;
use cpio::Archive;
use filesystem::Support;
use kernels::{Kernel, Module, ModuleTree};

/// Longest agent, in bytes.
const AGENT_LIMIT: usize = 64 << 20;

/// Builds the initramfs for `kernel`: an uncompressed cpio archive with `agent`
/// as `/init`, its file system holding `root`, laid out as the agent's protocol says. The same input gives the
/// same bytes, as far as the program that makes the file system does (ext4's
/// does, btrfs's and older versions of xfs's put times into their images).
///
/// # Errors
/// [`Error::Unsupported`] if the kernel has no such file system or no block
/// device in memory for it; [`Error::Environment`] without the program that
/// makes it.
pub fn build(
    agent: &[u8],
    fs: FileSystem,
    root: Option<&Root>,
    kernel: &Kernel,
) -> Result<Vec<u8>, Error> {
    if agent.len() > AGENT_LIMIT {
        return Err(cpio::too_long("the agent"));
    }
    let modules = modules(fs, kernel)?;
    let image = image::build(fs, root)?;
    let mut archive = Archive::new();
    for directory in ["dev", "mnt", "modules", "proc", "sys", "tmp"] {
        archive.directory(directory);
    }
    // The kernel opens the console before init can mount anything.
    archive.device("dev/console", 0o600, 5, 1);
    archive.device("dev/null", 0o666, 1, 3);
    archive.file("init", 0o755, agent)?;
    for (i, module) in modules.iter().enumerate() {
        let path = format!("modules/{i:02}-{}", module.name);
        archive.file(&format!("{path}.ko"), 0o644, &module.elf)?;
        if module.name == filesystem::RAM_DISK {
            let parameters = filesystem::ram_disk_parameters(fs, root).join(" ");
            archive.file(&format!("{path}.args"), 0o644, parameters.as_bytes())?;
        }
    }
    if let Some(image) = image {
        archive.file("image", 0o644, &image)?;
    }
    Ok(archive.finish())
}

/// A second archive to append to what [`build`] made, holding the agent's directives
/// as `/experiment` and the files that they speak of: the kernel unpacks one after the
/// other. Paths have no leading `/`.
///
/// # Errors
/// [`Error::Unsupported`] if one is longer than a file in it can be.
pub fn with_directives(directives: &str, files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Error> {
    let mut archive = Archive::new();
    let mut directories = BTreeSet::new();
    for (path, content) in files {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        for directory in above {
            if directories.insert(directory) {
                archive.directory(directory);
            }
        }
        archive.file(path, 0o755, content)?;
    }
    archive.file("experiment", 0o644, directives.as_bytes())?;
    Ok(archive.finish())
}

/// What the kernel's command line must hold for `fs`: the size of the block
/// device in memory, in case that its driver is built in and not a module.
pub fn kernel_arguments(fs: FileSystem, root: Option<&Root>) -> Vec<String> {
    let prefix = |parameter: String| format!("{}.{parameter}", filesystem::RAM_DISK);
    filesystem::ram_disk_parameters(fs, root)
        .into_iter()
        .map(prefix)
        .collect()
}

/// The modules that `kernel` must load for `fs`, in order.
pub(crate) fn modules(fs: FileSystem, kernel: &Kernel) -> Result<Vec<Module>, Error> {
    let tree = kernel
        .modules
        .as_deref()
        .map(ModuleTree::open)
        .transpose()?;
    let support = Support::of(kernel, tree.as_ref())?;
    let mut needed = Vec::new();
    for driver in filesystem::drivers(fs) {
        match support.driver(driver) {
            Ok(true) => {}
            Ok(false) => needed.push(driver.module),
            Err(reason) => {
                return Err(Error::Unsupported {
                    what: format!("kernel {} cannot work on {fs}", kernel.name),
                    reason,
                    hint: None,
                });
            }
        }
    }
    match tree {
        Some(tree) if !needed.is_empty() => tree.load_order(&needed),
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests;
