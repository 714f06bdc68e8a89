// SPDX-License-Identifier: GPL-2.0-or-later
//! The file systems that a benchmark can work on, and what a kernel needs for
//! them.

use super::{Error, FileSystem};
use crate::root::Root;
use kernels::arch::PersistentMemory;
use kernels::{Kernel, ModuleTree};

/// The block device that a guest has its file system on.
#[derive(Debug, Clone, Copy)]
pub enum Disk {
    /// One of the guest's memory, by the driver `brd`: the agent writes the image that the
    /// initramfs brings to it.
    Ram,
    /// A file of the host's that QEMU maps where the kernel takes it for persistent memory:
    /// nothing is copied, and what is written stays in the guest.
    Persistent(&'static PersistentMemory),
}

/// The module of the block device in memory.
pub(super) const RAM_DISK: &str = "brd";
const PERSISTENT: &str = "nd_pmem";

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

const fn driver(module: &'static str, option: &'static str, trace: &'static [u8]) -> Driver {
    Driver {
        module,
        option,
        trace,
    }
}

/// What persistent memory takes: the disk, and what finds the range that the command line names.
fn persistent_drivers(memory: &PersistentMemory) -> [Driver; 2] {
    let (module, option) = memory.driver;
    [
        driver(PERSISTENT, "CONFIG_BLK_DEV_PMEM", b"\0nd_pmem\0"),
        driver(module, option, memory.trace),
    ]
}

/// What a file system takes in the kernel, in the order of loading.
pub(super) fn drivers(fs: FileSystem, disk: Disk) -> Vec<Driver> {
    let mut drivers = match (fs, disk) {
        (FileSystem::Tmpfs, _) => Vec::new(),
        (_, Disk::Ram) => vec![driver(RAM_DISK, "CONFIG_BLK_DEV_RAM", b"\0brd.rd_nr\0")],
        (_, Disk::Persistent(memory)) => persistent_drivers(memory).to_vec(),
    };
    drivers.push(match fs {
        FileSystem::Tmpfs => driver("tmpfs", "CONFIG_TMPFS", b"\0shmem_inode_cache\0"),
        FileSystem::Ext4 => driver("ext4", "CONFIG_EXT4_FS", b"\0ext4_inode_cache\0"),
        FileSystem::Xfs => driver("xfs", "CONFIG_XFS_FS", b"\0xfs_inode\0"),
        FileSystem::Btrfs => driver("btrfs", "CONFIG_BTRFS_FS", b"\0btrfs_inode\0"),
    });
    drivers
}

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

    /// What a root's file system lies on: the kernel's configuration alone says that, so that
    /// its counts do not depend on which modules happen to be here.
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

    /// What the kernel's configuration says of an option, if it is here.
    fn configured(&self, option: &str) -> Option<&str> {
        let text = self.config.as_ref()?;
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(option)?.strip_prefix('='));
        Some(value.unwrap_or("n"))
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
        let configured = self.configured(option);
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
