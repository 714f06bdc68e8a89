// SPDX-License-Identifier: GPL-2.0-or-later
//! The file systems that a benchmark can work on, and what a kernel needs for
//! them.

use super::{Error, FileSystem};
use crate::root::Root;
use kernels::{Kernel, ModuleTree};

/// The module of the block device in memory.
pub(super) const RAM_DISK: &str = "brd";

const CONFIG_LIMIT: u64 = 4 << 20;
const VMLINUX_LIMIT: u64 = 512 << 20;

/// A driver: where the build's configuration and the image show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Driver {
    pub module: &'static str,
    option: &'static str,
    /// A string of its code or data, with the NULs around it: the name of its cache of
    /// inodes. The linker keeps a string that ends another only there, as it does `tmpfs`
    /// in `devtmpfs`.
    trace: &'static [u8],
}

/// The size of a file system's block device in KiB; `None` if it needs none.
/// Memory is taken for what is written only. mkfs.xfs refuses less than 300 MiB.
pub(super) fn device_kib(fs: FileSystem, root: Option<&Root>) -> Option<u64> {
    let least = least_kib(fs)?;
    Some(root.map_or(least, |root| root.device_kib().max(least)))
}

fn least_kib(fs: FileSystem) -> Option<u64> {
    match fs {
        FileSystem::Ext4 | FileSystem::Btrfs => Some(256 << 10),
        FileSystem::Xfs => Some(320 << 10),
        FileSystem::Tmpfs => None,
    }
}

/// What a file system takes in the kernel, in the order of loading.
pub(super) fn drivers(fs: FileSystem) -> Vec<Driver> {
    let driver = |module, option, trace| Driver {
        module,
        option,
        trace,
    };
    let ram_disk = driver(RAM_DISK, "CONFIG_BLK_DEV_RAM", b"\0brd.rd_nr\0");
    match fs {
        FileSystem::Tmpfs => vec![driver("tmpfs", "CONFIG_TMPFS", b"\0shmem_inode_cache\0")],
        FileSystem::Ext4 => vec![
            ram_disk,
            driver("ext4", "CONFIG_EXT4_FS", b"\0ext4_inode_cache\0"),
        ],
        FileSystem::Xfs => vec![ram_disk, driver("xfs", "CONFIG_XFS_FS", b"\0xfs_inode\0")],
        FileSystem::Btrfs => vec![
            ram_disk,
            driver("btrfs", "CONFIG_BTRFS_FS", b"\0btrfs_inode\0"),
        ],
    }
}

/// Parameters of the block device's driver.
pub(super) fn ram_disk_parameters(fs: FileSystem, root: Option<&Root>) -> Vec<String> {
    device_kib(fs, root).map_or(Vec::new(), |kib| {
        vec!["rd_nr=1".into(), format!("rd_size={kib}")]
    })
}

/// What a kernel says about its drivers.
pub(super) struct Support<'a> {
    tree: Option<&'a ModuleTree>,
    config: Option<String>,
    kernel: &'a Kernel,
}

impl<'a> Support<'a> {
    pub fn of(kernel: &'a Kernel, tree: Option<&'a ModuleTree>) -> Result<Support<'a>, Error> {
        let config = kernel.config.as_deref().map(|path| {
            let text = kernels::files::read(path, CONFIG_LIMIT)?;
            Ok::<_, Error>(String::from_utf8_lossy(&text).into_owned())
        });
        Ok(Support {
            tree,
            config: config.transpose()?,
            kernel,
        })
    }

    /// Whether the driver is built in (true) or a module that is here (false);
    /// otherwise what lacks.
    pub fn driver(&self, driver: Driver) -> Result<bool, String> {
        let Driver {
            module,
            option,
            trace,
        } = driver;
        if self.tree.is_some_and(|tree| tree.is_builtin(module)) {
            return Ok(true);
        }
        let configured = self.config.as_ref().map(|text| {
            text.lines()
                .find_map(|line| line.strip_prefix(option)?.strip_prefix('='))
                .unwrap_or("n")
        });
        if configured == Some("y") {
            return Ok(true);
        }
        if self.tree.is_some_and(|tree| tree.contains(module)) {
            return Ok(false);
        }
        match configured {
            Some("m") => Err(format!(
                "{module} is a module ({option}=m), and the kernel's modules are not here"
            )),
            Some(_) => Err(format!("it has no {module} ({option} is not set)")),
            // Nothing says what was built: the image itself must.
            None if self.image_holds(trace) => Ok(true),
            None => Err(format!(
                "it has no {module} built in, and no modules are here"
            )),
        }
    }

    fn image_holds(&self, trace: &[u8]) -> bool {
        let elf = self.kernel.vmlinux.as_deref();
        elf.and_then(|path| kernels::files::read(path, VMLINUX_LIMIT).ok())
            .is_some_and(|elf| kernels::image::find(&elf, trace).is_some())
    }
}
