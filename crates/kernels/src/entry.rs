// SPDX-License-Identifier: GPL-2.0-or-later

use crate::arch::Arch;
use crate::elf;
use crate::error::Error;
use crate::files;
use crate::flat;
use crate::image::{self, BzImage, IMAGE_LIMIT, VMLINUX_LIMIT};
use crate::name::series_of;
use model::Architecture;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const DESCRIPTION: &str = "kernel.json";
const DESCRIPTION_LIMIT: u64 = 64 << 10;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    pub name: String,
    pub release: String,
    /// The first two numbers of the release: `6.1`.
    pub series: String,
    /// Entries of earlier versions do not have it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub architecture: Architecture,
    /// bzImage or Image; the ELF file itself for a kernel given as a vmlinux.
    pub image: PathBuf,
    /// The ELF file from the image, stripped as by the build, or converted from it.
    pub vmlinux: Option<PathBuf>,
    /// A directory with `kernel/fs/…` and `modules.*`, as `lib/modules/RELEASE`, or of a build.
    pub modules: Option<PathBuf>,
    pub config: Option<PathBuf>,
    pub digest: String,
    /// Digest of all its files in the cache, if they were verified.
    #[serde(skip)]
    pub verified: Option<String>,
    pub package_version: Option<String>,
    /// Names of the packages that it was unpacked from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// Physical PVH entry point, if any: QEMU can then boot `vmlinux` without setup code.
    pub pvh_entry: Option<u64>,
    /// Whether it is a UML kernel, which is a program for this machine and cannot be booted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_program: bool,
}

/// The packages of a kernel, and the version of the one with the image.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    pub version: Option<String>,
    pub packages: Vec<String>,
}

impl Kernel {
    pub fn arch(&self) -> &'static Arch {
        crate::arch::by_name(self.architecture.as_str()).unwrap_or_else(crate::arch::native)
    }
}

fn is_default(architecture: &Architecture) -> bool {
    *architecture == Architecture::default()
}

pub(crate) struct Inspected {
    pub kernel: Kernel,
    /// The decompressed kernel; `None` if the image is an ELF file itself.
    vmlinux: Option<Vec<u8>>,
    config: Option<Vec<u8>>,
}

/// `path`: a bzImage, an Image, or a vmlinux that QEMU can boot.
pub(crate) fn inspect(path: &Path) -> Result<Inspected, Error> {
    let what = path.display().to_string();
    let is_elf = is_elf(path)?;
    let limit = if is_elf {
        VMLINUX_LIMIT as u64
    } else {
        IMAGE_LIMIT
    };
    let data = files::read(path, limit)?;
    let digest = files::digest(&data);
    let (release, inner) = if is_elf {
        let release = image::release_in_banner(&data)
            .ok_or_else(|| Error::damaged(&what, "it is an ELF file, but not a Linux kernel"))?;
        (release, None)
    } else if BzImage::is_bzimage(&data) {
        let parsed = BzImage::parse(&data, &what)?;
        let inner = parsed.decompress(&what)?;
        (parsed.release, Some(inner))
    } else if let Some(image) = flat::read(&data, &what)? {
        (image.release, Some(image.elf))
    } else {
        return Err(Error::unsupported(
            &what,
            "not a bzImage, Image, vmlinux, .deb or .rpm",
        ));
    };
    let kernel = inner.as_deref().unwrap_or(&data);
    let arch = elf::File::parse(kernel).map_err(|reason| Error::damaged(&what, reason))?;
    let arch = arch.arch;
    let pvh_entry = image::pvh_entry(kernel);
    let config = image::embedded_config(kernel);
    let is_program = is_elf
        && config
            .as_deref()
            .is_some_and(|config| has_line(config, b"CONFIG_UML=y"));
    if is_elf && pvh_entry.is_none() && !is_program {
        let image = arch.source.image;
        let (reason, hint) = match &arch.flat_image {
            None => (
                "this vmlinux has no PVH entry point, so QEMU cannot boot it".to_owned(),
                format!("give the kernel's {image}, or build the kernel with CONFIG_PVH=y"),
            ),
            Some(_) => (
                format!("QEMU cannot boot a vmlinux for {}", arch.title),
                format!("give its {image}"),
            ),
        };
        return Err(Error::Unsupported {
            what,
            reason,
            hint: Some(hint),
        });
    }
    let kernel = Kernel {
        series: series_of(&release)
            .ok_or_else(|| Error::damaged(&what, format!("invalid release `{release}`")))?,
        release,
        architecture: arch.name.parse().unwrap_or_default(),
        image: path.to_path_buf(),
        digest,
        pvh_entry,
        is_program,
        ..Kernel::default()
    };
    Ok(Inspected {
        kernel,
        vmlinux: inner,
        config,
    })
}

pub(crate) fn has_line(config: &[u8], wanted: &[u8]) -> bool {
    config
        .split(|&byte| byte == b'\n')
        .any(|line| line == wanted)
}

pub(crate) fn is_elf(path: &Path) -> Result<bool, Error> {
    Ok(elf::is_elf_image(&files::read_head(path, 64)?))
}

pub(crate) fn image_in(dir: &Path) -> &'static str {
    match dir.join("vmlinuz").exists() {
        true => "vmlinuz",
        false => "vmlinux",
    }
}

/// Decompresses `image` and writes `kernel.json`, where paths below `dir` are relative to it. `dir`
/// already contains the files that came with `image`.
pub(crate) fn complete(dir: &Path, image: &Path, origin: Origin) -> Result<(), Error> {
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
        image: image.to_path_buf(),
        vmlinux: has("vmlinux"),
        modules: has("modules"),
        config: has("config"),
        package_version: origin.version,
        packages: origin.packages,
        ..inspected.kernel
    };
    let path = dir.join(DESCRIPTION);
    let text = serde_json::to_vec_pretty(&kernel)
        .map_err(|e| Error::io("write", &path)(std::io::Error::other(e)))?;
    files::write(&path, &text)
}

pub(crate) fn load(dir: &Path, name: &str) -> Result<Kernel, Error> {
    let path = dir.join(DESCRIPTION);
    let text = files::read(&path, DESCRIPTION_LIMIT)?;
    let mut kernel: Kernel =
        serde_json::from_slice(&text).map_err(|e| Error::damaged(path.display(), e))?;
    kernel.name = name.to_string();
    // An imported kernel's image is elsewhere, and its path may have changed.
    let is_own = kernel.image.is_relative();
    kernel.image = dir.join(&kernel.image);
    for path in [&mut kernel.vmlinux, &mut kernel.modules, &mut kernel.config] {
        *path = path.take().map(|p| dir.join(p));
    }
    let is_there = |path: &PathBuf| path.is_file();
    if (is_own && !is_there(&kernel.image)) || !kernel.vmlinux.as_ref().is_none_or(is_there) {
        return Err(Error::damaged(
            format!("kernel {name}"),
            "its image is gone",
        ));
    }
    Ok(kernel)
}

/// Like [`load`], but also checks that the files still match `key`.
pub(crate) fn load_verified(dir: &Path, key: &str, name: &str) -> Result<Kernel, Error> {
    let kernel = load(dir, name)?;
    if content_key(dir)? == key {
        return Ok(Kernel {
            verified: Some(key.to_owned()),
            ..kernel
        });
    }
    Err(Error::Environment {
        what: format!(
            "the cached kernel {name} has changed on disk: {}",
            dir.display()
        ),
        hint: match name.starts_with("debian:") {
            true => format!("lsmeter kernel fetch {name}"),
            false => "build or add it again: lsmeter kernel build, lsmeter kernel add".into(),
        },
    })
}

pub(crate) fn content_key(dir: &Path) -> Result<String, Error> {
    let mut text = String::new();
    for path in files::walk(dir)? {
        if path.is_file() {
            let name = path.strip_prefix(dir).unwrap_or(&path);
            text += &format!("{}  {}\n", files::digest_file(&path)?, name.display());
        }
    }
    Ok(files::digest(text.as_bytes()))
}
