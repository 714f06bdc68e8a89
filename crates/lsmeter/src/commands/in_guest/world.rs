// SPDX-License-Identifier: GPL-2.0-or-later
//! What a guest's first process has to do before anything runs: mounts, modules, the file
//! system to work on.

use std::ffi::{CStr, CString};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};

/// Where the file system to work on is.
pub const WORK: &str = "/mnt";
const MODULES: &str = "/modules";
const IMAGE: &str = "/image";
const DISK: &str = "/dev/ram0";
/// Longest extent of an image, in bytes.
const EXTENT_LIMIT: usize = 1 << 20;

/// Mounts what the kernel tells of itself.
///
/// # Errors
/// If the kernel lacks one that is needed.
pub fn mount_system() -> Result<()> {
    for (kind, path) in [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("tmpfs", "/tmp"),
    ] {
        fs::create_dir_all(path).context(path)?;
        attach(kind, kind, path)?;
    }
    // Without it the stack in force is not known; it is not needed for anything else.
    let _ = attach("securityfs", "securityfs", "/sys/kernel/security");
    Ok(())
}

fn attach(source: &str, kind: &str, path: &str) -> Result<()> {
    match mount(source, path, kind, MountFlags::empty(), None::<&CStr>) {
        Ok(()) | Err(Errno::BUSY) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("mounting {kind} on {path}")),
    }
}

/// The port to which lines go.
///
/// # Errors
/// If there is none.
pub fn port() -> Result<File> {
    let port = arch::native().machine.results_port;
    OpenOptions::new().write(true).open(port).context(port)
}

/// Mounts the file system to work on, with its modules and image, as the agent does.
///
/// # Errors
/// If one of them is missing or damaged.
pub fn mount_work(fs: &str) -> Result<()> {
    load_modules()?;
    fs::create_dir_all(WORK).context(WORK)?;
    if fs == "tmpfs" {
        return attach("tmpfs", "tmpfs", WORK);
    }
    write_disk()?;
    attach(DISK, fs, WORK)
}

fn load_modules() -> Result<()> {
    let Ok(entries) = fs::read_dir(MODULES) else {
        return Ok(());
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut modules: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "ko"))
        .collect();
    modules.sort();
    modules.iter().try_for_each(|module| load(module))
}

fn load(module: &Path) -> Result<()> {
    let named = || format!("loading {}", module.display());
    let parameters = fs::read_to_string(module.with_extension("args")).unwrap_or_default();
    let parameters = CString::new(parameters.trim()).with_context(named)?;
    let file = File::open(module).with_context(named)?;
    match finit_module(&file, &parameters, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error).with_context(named),
    }
}

/// Writes the image to the disk, as `docs/protocol.md` describes it: `LSMX`, u32 version, u64
/// size, then extents.
fn write_disk() -> Result<()> {
    let mut image = File::open(IMAGE).context(IMAGE)?;
    let disk = OpenOptions::new().write(true).open(DISK).context(DISK)?;
    let mut header = [0; 16];
    image.read_exact(&mut header).context(IMAGE)?;
    if !header.starts_with(b"LSMX\x01\0\0\0") {
        bail!("{IMAGE} is no image of a file system");
    }
    let mut extent = [0; 12];
    let mut data = vec![0; EXTENT_LIMIT];
    while read_whole(&mut image, &mut extent)? {
        let [offset @ .., _, _, _, _] = extent;
        let [.., a, b, c, d] = extent;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > EXTENT_LIMIT {
            bail!("{IMAGE}: an extent of {length} bytes");
        }
        image.read_exact(&mut data[..length]).context(IMAGE)?;
        disk.write_all_at(&data[..length], u64::from_le_bytes(offset))
            .context(DISK)?;
    }
    Ok(())
}

/// False at the end of the file.
fn read_whole(file: &mut File, buffer: &mut [u8]) -> Result<bool> {
    let read = file.read(buffer).context(IMAGE)?;
    if read > 0 {
        file.read_exact(&mut buffer[read..]).context(IMAGE)?;
    }
    Ok(read > 0)
}

/// Restarts the machine, which the host takes as its end.
///
/// # Errors
/// If the kernel refuses.
pub fn end<T>() -> Result<T> {
    reboot(RebootCommand::Restart).context("restarting the machine")?;
    bail!("the machine did not restart")
}
