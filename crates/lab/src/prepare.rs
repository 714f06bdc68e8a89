// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes a kernel ready to boot: its initramfs, and what the plugin must know of it.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use experiment::FileSystem;
use instructions::landmarks::landmarks;
use instructions::symbols::{SymbolTable, syscall_entry};

use crate::error::LabError;
use crate::initramfs;
use crate::kernel::{Kernel, Store};
use crate::vm::Bootable;

/// Symbols of a kernel, from the cache if they have been read before; None if it
/// names none (`CONFIG_KALLSYMS=n`).
///
/// # Errors
/// [`LabError::Io`] if the kernel cannot be read or the cache not written.
pub fn symbols(store: &Store, kernel: &Kernel) -> Result<Option<SymbolTable>, LabError> {
    let dir = store.dir().join("symbols");
    let cached = dir.join(&kernel.digest);
    if let Ok(file) = fs::File::open(&cached)
        && let Ok(symbols) = SymbolTable::read_cache(BufReader::new(file))
    {
        return Ok(Some(symbols));
    }
    let elf = kernel.vmlinux.as_ref().unwrap_or(&kernel.image);
    let bytes = fs::read(elf).map_err(LabError::io("read", elf))?;
    let Ok(symbols) = SymbolTable::from_vmlinux(&bytes) else {
        return Ok(None);
    };
    fs::create_dir_all(&dir).map_err(LabError::io("create", &dir))?;
    let file = tempfile::NamedTempFile::new_in(&dir).map_err(LabError::io("write in", &dir))?;
    symbols
        .write_cache(&file)
        .map_err(LabError::io("write", &cached))?;
    file.persist(&cached)
        .map_err(|error| LabError::io("write", &cached)(error.error))?;
    Ok(Some(symbols))
}

/// Writes what booting `kernel` with `agent` as its init takes into `dir`, which the caller removes.
///
/// # Errors
/// [`LabError`] if the kernel lacks the file system, or this machine a program.
pub fn prepare(
    store: &Store,
    agent: &[u8],
    kernel: &Kernel,
    filesystem: FileSystem,
    dir: &Path,
) -> Result<Bootable, LabError> {
    let write = |name: &str, bytes: &[u8]| -> Result<PathBuf, LabError> {
        let path = dir.join(name);
        fs::write(&path, bytes).map_err(LabError::io("write", &path))?;
        Ok(path)
    };
    let symbols = symbols(store, kernel)?;
    let image = match (&kernel.vmlinux, kernel.pvh_entry) {
        (Some(vmlinux), Some(_)) => vmlinux,
        _ => &kernel.image,
    };
    Ok(Bootable {
        image: image.clone(),
        initramfs: write("initramfs", &initramfs::build(agent, filesystem, kernel)?)?,
        cmdline: initramfs::kernel_arguments(filesystem).join(" "),
        landmarks: match &symbols {
            Some(symbols) => Some(write("landmarks", landmarks(symbols).as_bytes())?),
            None => None,
        },
        syscall_entry: symbols.as_ref().and_then(syscall_entry),
    })
}
