// SPDX-License-Identifier: GPL-2.0-or-later
//! File systems of benchmarks, and the drivers that they need.

use super::{Error, FileSystem};
use crate::root::Root;
use kernels::arch::PersistentMemory;
use kernels::{Kernel, ModuleTree};

#[derive(Debug, Clone, Copy)]
pub enum Disk {
    /// A RAM disk of the driver `brd`. The agent copies the image in the initramfs to it.
    Ram,
    /// A host file that QEMU maps and the kernel uses as persistent memory. Nothing is copied, and
    /// writes stay in the guest.
    Persistent(&'static PersistentMemory),
}

pub(super) const RAM_DISK: &str = "brd";
const PERSISTENT: &str = "nd_pmem";

const CONFIG_LIMIT: u64 = 4 << 20;
const VMLINUX_LIMIT: u64 = 512 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Driver {
    pub module: &'static str,
    option: &'static str,
    /// A string in its code or data, with the NULs around it: the name of its inode cache. (The
    /// linker merges a string into another that ends with it, such as `tmpfs` into `devtmpfs`.)
    trace: &'static [u8],
}

/// Size of the block device in KiB; `None` without one. Only written blocks use memory. mkfs.xfs
/// refuses less than 300 MiB.
pub(super) fn device_kib(fs: FileSystem, root: Option<&Root>) -> Option<u64> {
    let least = match fs {
        FileSystem::Ext4 | FileSystem::Btrfs | FileSystem::Overlay => 256 << 10,
        FileSystem::Xfs => 320 << 10,
        FileSystem::Tmpfs => return None,
    };
    Some(root.map_or(least, |root| root.device_kib().max(least)))
}

const fn driver(module: &'static str, option: &'static str, trace: &'static [u8]) -> Driver {
    Driver {
        module,
        option,
        trace,
    }
}

fn persistent_drivers(memory: &PersistentMemory) -> [Driver; 2] {
    let (module, option) = memory.driver;
    [
        driver(PERSISTENT, "CONFIG_BLK_DEV_PMEM", b"\0nd_pmem\0"),
        driver(module, option, memory.trace),
    ]
}

pub(super) fn drivers(fs: FileSystem, disk: Disk) -> Vec<Driver> {
    let mut drivers = match (fs, disk) {
        (FileSystem::Tmpfs, _) => Vec::new(),
        (_, Disk::Ram) => vec![driver(RAM_DISK, "CONFIG_BLK_DEV_RAM", b"\0brd.rd_nr\0")],
        (_, Disk::Persistent(memory)) => persistent_drivers(memory).to_vec(),
    };
    let ext4 = driver("ext4", "CONFIG_EXT4_FS", b"\0ext4_inode_cache\0");
    if fs == FileSystem::Overlay {
        drivers.push(ext4);
    }
    drivers.push(match fs {
        FileSystem::Overlay => driver("overlay", "CONFIG_OVERLAY_FS", b"\0ovl_inode\0"),
        FileSystem::Tmpfs => driver("tmpfs", "CONFIG_TMPFS", b"\0shmem_inode_cache\0"),
        FileSystem::Ext4 => ext4,
        FileSystem::Xfs => driver("xfs", "CONFIG_XFS_FS", b"\0xfs_inode\0"),
        FileSystem::Btrfs => driver("btrfs", "CONFIG_BTRFS_FS", b"\0btrfs_inode\0"),
    });
    drivers
}

pub(super) struct Support<'a> {
    tree: Option<&'a ModuleTree>,
    config: Option<String>,
    kernel: &'a Kernel,
}

impl<'a> Support<'a> {
    pub fn read(kernel: &'a Kernel, tree: Option<&'a ModuleTree>) -> Result<Support<'a>, Error> {
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

    /// The disk of a root. It depends only on the kernel's configuration, so that counts do not
    /// depend on which modules are installed here.
    pub fn disk_of_root(&self) -> Disk {
        let has = |driver: &Driver| match self.configured(driver.option) {
            Some(value) => value != "n",
            None => self.driver(*driver).is_ok(),
        };
        match &self.kernel.arch().machine.persistent_memory {
            Some(memory) if persistent_drivers(memory).iter().all(has) => Disk::Persistent(memory),
            _ => Disk::Ram,
        }
    }

    fn configured(&self, option: &str) -> Option<&str> {
        let text = self.config.as_ref()?;
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(option)?.strip_prefix('='));
        Some(value.unwrap_or("n"))
    }

    /// True if the driver is built in, false if it is a module. The error names what is missing.
    pub fn driver(&self, driver: Driver) -> Result<bool, String> {
        let Driver {
            module,
            option,
            trace,
        } = driver;
        if self.tree.is_some_and(|tree| tree.is_builtin(module)) {
            return Ok(true);
        }
        let configured = self.configured(option);
        if configured == Some("y") {
            return Ok(true);
        }
        if self.tree.is_some_and(|tree| tree.contains(module)) {
            return Ok(false);
        }
        match configured {
            Some("m") => Err(format!(
                "{module} is a module ({option}=m), and the kernel's modules are missing"
            )),
            Some(_) => Err(format!("it has no {module} ({option} is not set)")),
            None if self.image_holds(trace) => Ok(true),
            None => Err(format!(
                "{module} is not built in, and the kernel's modules are missing"
            )),
        }
    }

    fn image_holds(&self, trace: &[u8]) -> bool {
        let elf = self.kernel.vmlinux.as_deref();
        elf.and_then(|path| kernels::files::read(path, VMLINUX_LIMIT).ok())
            .is_some_and(|elf| kernels::image::find(&elf, trace).is_some())
    }
}
