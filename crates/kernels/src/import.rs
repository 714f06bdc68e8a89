// SPDX-License-Identifier: GPL-2.0-or-later
//! Imports kernels by path: bzImage, Image, vmlinux, package or build directory.

use crate::arch::Arch;
use crate::entry::{self, Kernel, Origin};
use crate::error::Error;
use crate::files;
use crate::modules::ModuleTree;
use crate::name::{ACCEPTED, check_build_name};
use crate::package::{self, Package, is_kept_module};
use crate::scratch::Scratch;
use crate::store::{Store, read_key};
use crate::wrapped;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files of an import: derived data and its digest.
const ENTRY: &str = "entry";
const KEY: &str = "key";
/// The number of imports that are always kept, and the age at which others are removed.
const KEPT_IMPORTS: usize = 8;
const IMPORT_AGE: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug, PartialEq, Eq)]
struct Parts {
    image: PathBuf,
    config: Option<PathBuf>,
    modules: Option<PathBuf>,
}

/// What an argument refers to.
enum Given {
    Parts(Parts),
    /// An image that QEMU does not boot.
    Wrapped(PathBuf),
    Packages(Vec<Package>),
}

impl Given {
    fn new(paths: &[PathBuf]) -> Result<Given, Error> {
        Ok(match (package::open(paths)?, paths) {
            (Some(packages), _) => Given::Packages(packages),
            (None, [path]) if wrapped::is_wrapped(path)? => Given::Wrapped(path.clone()),
            (None, paths) => Given::Parts(parts(&paths[0])?),
        })
    }

    fn digest(&self) -> Result<String, Error> {
        match self {
            Given::Parts(parts) => files::digest_file(&parts.image),
            Given::Wrapped(path) => files::digest_file(path),
            Given::Packages(packages) => {
                let paths = packages.iter().map(|package| &package.path);
                let digests: Result<String, _> =
                    paths.map(|path| files::digest_file(path)).collect();
                Ok(files::digest(digests?.as_bytes()))
            }
        }
    }
}

impl Store {
    /// Uses the kernel at `path`: a bzImage, an Image, a vmlinux with a PVH entry, an EFI
    /// application with one of them, a package together with the packages next to it that complete
    /// it, or a kernel build directory. The file is not copied; derived data is cached by its
    /// digest. With `vmlinuz-RELEASE`, `config-RELEASE` next to it and `../lib/modules/RELEASE` are
    /// used; with the bzImage of a build directory, that directory is used. Returns
    /// [`Error::Usage`] if there is no kernel, and [`Error::Damaged`] or [`Error::Unsupported`]
    /// because of the image or package.
    pub fn import(&self, path: &Path) -> Result<Kernel, Error> {
        let path = files::find(path, "file", ACCEPTED)?;
        let name = path.display().to_string();
        let given = Given::new(&[path])?;
        let digest = given.digest()?;
        let dir = self.dir().join("imported").join(&digest);
        let mut kernel = match imported(&dir, &name) {
            Some(kernel) => kernel,
            None => {
                let scratch = self.scratch()?;
                let import = scratch.subdirectory("import")?;
                let entry = scratch.subdirectory(&format!("import/{ENTRY}"))?;
                if let Given::Parts(Parts { image, .. }) = &given {
                    let image = image.canonicalize().map_err(Error::io("find", image))?;
                    entry::complete(&entry, &image, Origin::default())?;
                } else {
                    let origin = copy(&given, &entry)?;
                    entry::complete(&entry, Path::new(entry::image_in(&entry)), origin)?;
                }
                if given.digest()? != digest {
                    return Err(Error::damaged(&name, "it changed while it was read"));
                }
                files::write(&import.join(KEY), entry::content_key(&entry)?.as_bytes())?;
                self.keep_import(&scratch, &import, &dir, &name)?
            }
        };
        let Given::Parts(parts) = given else {
            return Ok(kernel);
        };
        if kernel.vmlinux.is_none() {
            kernel.vmlinux = Some(parts.image.clone());
        }
        kernel.image = parts.image;
        kernel.modules = parts.modules;
        kernel.config = parts.config.or(kernel.config);
        Ok(kernel)
    }

    /// Copies a kernel (see [`Store::import`]), or one split over several packages, into the cache as
    /// `build:NAME` (default: its release), replacing any kernel with that name.
    pub fn add(&self, paths: &[impl AsRef<Path>], name: Option<&str>) -> Result<Kernel, Error> {
        let check = |name: &str| {
            let bad = |reason| Error::bad_name(&format!("build:{name}"), reason);
            check_build_name(name).map_err(bad)
        };
        if let Some(name) = name {
            check(name)?;
        }
        let find = |path| files::find(path, "file", ACCEPTED);
        let paths: Result<Vec<_>, _> = paths.iter().map(AsRef::as_ref).map(find).collect();
        let given = Given::new(&paths?)?;
        let scratch = self.scratch()?;
        let entry = scratch.subdirectory("entry")?;
        let origin = copy(&given, &entry)?;
        let release = match name {
            Some(name) => name.to_string(),
            None => {
                let image = entry.join(entry::image_in(&entry));
                entry::inspect(&image)?.kernel.release
            }
        };
        let name = release.replace('~', "-");
        check(&name)?;
        self.install(&scratch, &entry, &format!("build:{name}"), origin)
    }

    /// If another process was faster, its import is kept, because it may be in use.
    fn keep_import(
        &self,
        scratch: &Scratch,
        import: &Path,
        dir: &Path,
        name: &str,
    ) -> Result<Kernel, Error> {
        let _lock = self.lock()?;
        if let Some(kernel) = imported(dir, name) {
            return Ok(kernel);
        }
        self.discard(dir)?;
        scratch.commit(import, dir)?;
        self.prune_imports();
        entry::load(&dir.join(ENTRY), name)
    }

    /// The oldest imports can be derived again.
    fn prune_imports(&self) {
        let Ok(entries) = fs::read_dir(self.dir().join("imported")) else {
            return;
        };
        let mut imports: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter_map(|e| Some((e.metadata().ok()?.modified().ok()?, e.path())))
            .collect();
        imports.sort();
        imports.reverse();
        for (used, path) in imports.iter().skip(KEPT_IMPORTS) {
            if used.elapsed().is_ok_and(|age| age > IMPORT_AGE) {
                let _ = fs::remove_dir_all(path);
            }
        }
    }
}

fn imported(dir: &Path, name: &str) -> Option<Kernel> {
    let key = read_key(&dir.join(KEY)).ok()?;
    let kernel = entry::load_verified(&dir.join(ENTRY), &key, name).ok()?;
    let now = SystemTime::now();
    let _ = fs::File::open(dir).and_then(|file| file.set_modified(now));
    Some(kernel)
}

fn parts(path: &Path) -> Result<Parts, Error> {
    if path.is_dir() {
        let images = images().map(|place| path.join(place));
        let Some(image) = { images }.find(|image| image.is_file()) else {
            let source = &crate::arch::native().source;
            let (path, image) = (path.display(), source.image);
            return Err(Error::usage(
                format!("{path}: not a kernel build directory (no {image})"),
                format!("build it with `make {} modules`", source.target),
            ));
        };
        return Ok(built(path, image));
    }
    if let Some(place) = images().find(|place| path.ends_with(place))
        && let Some(top) = path.ancestors().nth(Path::new(place).components().count())
    {
        return Ok(built(top, path.to_path_buf()));
    }
    let mut parts = Parts {
        image: path.to_path_buf(),
        config: None,
        modules: None,
    };
    let file = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    let release = file.strip_prefix("vmlinuz-").filter(|r| !r.is_empty());
    if let (Some(release), Some(dir)) = (release, path.parent()) {
        parts.config = Some(dir.join(format!("config-{release}"))).filter(|p| p.is_file());
        parts.modules = dir.parent().and_then(|root| {
            ["lib/modules", "usr/lib/modules"]
                .iter()
                .map(|part| root.join(part).join(release))
                .find(|p| p.is_dir())
        });
    }
    Ok(parts)
}

/// Paths of images in build directories, this machine's architecture first.
fn images() -> impl Iterator<Item = &'static str> {
    let others = crate::arch::ALL
        .iter()
        .copied()
        .filter(|arch| !arch.is_native());
    let all = [crate::arch::native()].into_iter().chain(others);
    all.map(|arch| arch.source.image)
}

fn built(top: &Path, image: PathBuf) -> Parts {
    Parts {
        image,
        config: Some(top.join(".config")).filter(|p| p.is_file()),
        modules: top
            .join("modules.order")
            .is_file()
            .then(|| top.to_path_buf()),
    }
}

/// Copies the kernel's files into `entry`, decompressed as far as needed.
fn copy(given: &Given, entry: &Path) -> Result<Origin, Error> {
    match given {
        Given::Packages(packages) => return package::unpack(packages, entry),
        Given::Wrapped(path) => wrapped::unpack(path, entry, path)?,
        Given::Parts(parts) => {
            // Check this before copying, so that errors name the user's file.
            let arch = entry::inspect(&parts.image)?.kernel.arch();
            copy_parts(parts, arch, entry)?;
        }
    }
    Ok(Origin::default())
}

fn copy_parts(parts: &Parts, arch: &'static Arch, entry: &Path) -> Result<(), Error> {
    let copy = |from: &Path, to: PathBuf| -> Result<(), Error> {
        if let Some(parent) = to.parent() {
            files::create_dir(parent)?;
        }
        fs::copy(from, &to)
            .map(|_| ())
            .map_err(Error::io("copy", from))
    };
    let name = match entry::is_elf(&parts.image)? {
        true => "vmlinux",
        false => "vmlinuz",
    };
    copy(&parts.image, entry.join(name))?;
    if let Some(config) = &parts.config {
        copy(config, entry.join("config"))?;
    }
    let Some(modules) = &parts.modules else {
        return Ok(());
    };
    let tree = ModuleTree::open(modules, arch)?;
    for (path, installed) in tree.files() {
        if is_kept_module(installed) {
            copy(path, entry.join("modules").join(installed))?;
        }
    }
    for name in [
        "modules.builtin",
        "modules.dep",
        "modules.alias",
        "modules.softdep",
    ] {
        let from = modules.join(name);
        if from.is_file() {
            copy(&from, entry.join("modules").join(name))?;
        }
    }
    Ok(())
}
