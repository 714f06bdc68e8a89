// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel in the cache: one directory with `kernel.json` in it.

use crate::error::Error;
use crate::files;
use crate::image::{self, BzImage, IMAGE_LIMIT, VMLINUX_LIMIT};
use crate::name::series_of;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const DESCRIPTION: &str = "kernel.json";
const DESCRIPTION_LIMIT: u64 = 64 << 10;

/// A kernel that can be booted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its name: `debian:6.1.0-56`, `build:NAME`, or the path it was given by.
    pub name: String,
    /// As `uname -r` prints it.
    pub release: String,
    /// The first two numbers of the release, such as `6.1`.
    pub series: String,
    /// The bzImage; the ELF file itself if the kernel was given as a vmlinux.
    pub image: PathBuf,
    /// The ELF file that the image holds, stripped as the build strips it.
    pub vmlinux: Option<PathBuf>,
    /// The directory with `kernel/fs/…` and `modules.*`, as `lib/modules/RELEASE`
    /// has them, or the top of a kernel build directory.
    pub modules: Option<PathBuf>,
    /// The configuration that it was built with.
    pub config: Option<PathBuf>,
    /// SHA-256 of the image, in hexadecimal.
    pub digest: String,
    /// The version of the Debian package that it came in.
    pub package_version: Option<String>,
    /// The physical entry point of the PVH protocol, if the kernel has one:
    /// QEMU can then boot `vmlinux` without its setup code.
    pub pvh_entry: Option<u64>,
}

/// What an image says of itself.
pub(crate) struct Inspected {
    pub release: String,
    pub series: String,
    pub digest: String,
    pub pvh_entry: Option<u64>,
    /// The decompressed kernel; `None` if the image is an ELF file itself.
    pub vmlinux: Option<Vec<u8>>,
    pub config: Option<Vec<u8>>,
}

/// Reads the image at `path`, a bzImage or a vmlinux that QEMU can boot.
pub(crate) fn inspect(path: &Path) -> Result<Inspected, Error> {
    let what = path.display().to_string();
    let is_elf = {
        let head = files::read_head(path, 64)?;
        crate::elf::is_elf_image(&head)
    };
    let limit = if is_elf {
        VMLINUX_LIMIT as u64
    } else {
        IMAGE_LIMIT
    };
    let data = files::read(path, limit)?;
    let digest = files::digest(&data);
    let (release, elf) = if is_elf {
        let release = image::release_in_banner(&data)
            .ok_or_else(|| Error::damaged(&what, "it is an ELF file, but no Linux kernel"))?;
        (release, None)
    } else if !BzImage::is_bzimage(&data) {
        return Err(Error::unsupported(
            &what,
            "it is no bzImage, vmlinux or Debian package",
        ));
    } else {
        let parsed = BzImage::parse(&data, &what)?;
        let elf = parsed.decompress(&what)?;
        (parsed.release, Some(elf))
    };
    let kernel = elf.as_deref().unwrap_or(&data);
    let pvh_entry = image::pvh_entry(kernel);
    if is_elf && pvh_entry.is_none() {
        return Err(Error::Unsupported {
            what,
            reason: "this vmlinux has no PVH entry point, so that QEMU cannot boot it".into(),
            hint: Some(format!(
                "give its {}, or build it with CONFIG_PVH=y",
                arch::native().source.image
            )),
        });
    }
    Ok(Inspected {
        series: series_of(&release)
            .ok_or_else(|| Error::damaged(&what, format!("its release is `{release}`")))?,
        config: image::embedded_config(kernel),
        release,
        digest,
        pvh_entry,
        vmlinux: elf,
    })
}

/// Completes the directory `dir`, which holds the image as `vmlinuz` (or a
/// vmlinux) and what came with it: decompresses it and writes `kernel.json`.
/// Returns the key of its content.
pub(crate) fn complete(dir: &Path, package_version: Option<String>) -> Result<String, Error> {
    let image = if dir.join("vmlinuz").exists() {
        "vmlinuz"
    } else {
        "vmlinux"
    };
    let inspected = inspect(&dir.join(image))?;
    if let Some(elf) = &inspected.vmlinux {
        files::write(&dir.join("vmlinux"), elf)?;
    }
    let config = dir.join("config");
    if let (false, Some(text)) = (config.exists(), &inspected.config) {
        files::write(&config, text)?;
    }
    let has = |name: &str| dir.join(name).exists().then(|| PathBuf::from(name));
    let kernel = Kernel {
        name: String::new(),
        release: inspected.release,
        series: inspected.series,
        image: image.into(),
        vmlinux: has("vmlinux"),
        modules: has("modules"),
        config: has("config"),
        digest: inspected.digest,
        package_version,
        pvh_entry: inspected.pvh_entry,
    };
    write(dir, &kernel)?;
    content_key(dir)
}

/// Writes `kernel.json`; paths below `dir` are relative to it.
pub(crate) fn write(dir: &Path, kernel: &Kernel) -> Result<(), Error> {
    let path = dir.join(DESCRIPTION);
    let text = serde_json::to_vec_pretty(kernel)
        .map_err(|e| Error::io("write", &path)(std::io::Error::other(e)))?;
    files::write(&path, &text)
}

/// Reads the entry at `dir` as the kernel called `name`.
pub(crate) fn load(dir: &Path, name: &str) -> Result<Kernel, Error> {
    let path = dir.join(DESCRIPTION);
    let text = files::read(&path, DESCRIPTION_LIMIT)?;
    let mut kernel: Kernel = serde_json::from_slice(&text)
        .map_err(|e| Error::damaged(path.display().to_string(), e.to_string()))?;
    kernel.name = name.to_string();
    kernel.image = dir.join(&kernel.image);
    for path in [&mut kernel.vmlinux, &mut kernel.modules, &mut kernel.config] {
        *path = path.take().map(|p| dir.join(p));
    }
    for path in [Some(&kernel.image), kernel.vmlinux.as_ref()]
        .into_iter()
        .flatten()
    {
        if !path.is_file() {
            return Err(Error::damaged(
                format!("kernel {name}"),
                "its image is gone",
            ));
        }
    }
    Ok(kernel)
}

/// Checks that the image is what it was when it was cached.
pub(crate) fn verify(kernel: &Kernel) -> Result<(), Error> {
    if files::digest_file(&kernel.image)? != kernel.digest {
        return Err(Error::damaged(
            format!("kernel {} in the cache", kernel.name),
            "its image has changed; remove it and fetch or add it again",
        ));
    }
    Ok(())
}

/// One digest over the names and contents of all files in `dir`.
fn content_key(dir: &Path) -> Result<String, Error> {
    let mut text = String::new();
    for path in files::walk(dir)? {
        if path.is_file() {
            let name = path.strip_prefix(dir).unwrap_or(&path);
            text += &format!("{}  {}\n", files::digest_file(&path)?, name.display());
        }
    }
    Ok(files::digest(text.as_bytes()))
}
