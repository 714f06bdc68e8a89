// SPDX-License-Identifier: GPL-2.0-or-later
//! Extracts the files of a kernel that the lab needs.

use super::{CONFIG_LIMIT, Member, Package, failed};
use crate::error::Error;
use crate::files;
use crate::image::IMAGE_LIMIT;
use crate::modules::is_module;
use crate::tar::Kind;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The largest number of bytes, and of files, of one kernel.
const KEPT_LIMIT: u64 = 1 << 30;
const ENTRY_LIMIT: usize = 200_000;

/// Modules that the lab may need: file systems, block devices, protocols and dependencies.
const KEPT_MODULES: [&str; 8] = [
    "kernel/fs/",
    "kernel/drivers/block/",
    "kernel/drivers/nvdimm/",
    "kernel/drivers/net/tun.",
    "kernel/drivers/android/",
    "kernel/net/",
    "kernel/lib/",
    "kernel/crypto/",
];
const KEPT_OF_ARCHITECTURE: [&str; 2] = ["crypto/", "lib/"];

pub(crate) fn is_kept_module(path: &str) -> bool {
    let of_architecture = || {
        let inner = path.strip_prefix("kernel/").unwrap_or_default();
        let mut inner = crate::arch::ALL
            .iter()
            .filter_map(|arch| inner.strip_prefix(arch.source.directory));
        inner.any(|path| starts_with_any(path, &KEPT_OF_ARCHITECTURE))
    };
    is_module(path) && (starts_with_any(path, &KEPT_MODULES) || of_architecture())
}

fn starts_with_any(path: &str, directories: &[&str]) -> bool {
    directories.iter().any(|dir| path.starts_with(dir))
}

/// A directory with the files of one kernel.
pub(super) struct Unpacking<'a> {
    into: &'a Path,
    release: Option<String>,
    entries: usize,
    kept: u64,
    /// Set even if none was kept.
    pub has_modules: bool,
}

impl<'a> Unpacking<'a> {
    pub fn new(into: &'a Path) -> Self {
        Unpacking {
            into,
            release: None,
            entries: 0,
            kept: 0,
            has_modules: false,
        }
    }

    pub fn add(&mut self, package: &Package) -> Result<(), Error> {
        let what = package.path.display().to_string();
        let mut release = None;
        package.read(&mut |member, data| {
            self.entries += 1;
            if self.entries > ENTRY_LIMIT {
                return Err(Error::damaged(&what, "it has too many files"));
            }
            let place = place(member.path, &mut release).map_err(|r| Error::damaged(&what, r))?;
            if let (Some(release), Some(known)) = (&release, &self.release)
                && release != known
            {
                return Err(Error::usage(
                    format!(
                        "{what}: it is for Linux {release}, but another package is for {known}"
                    ),
                    "give packages of one version",
                ));
            }
            self.has_modules |= is_module(member.path);
            match place.filter(|_| member.kind != Kind::Directory) {
                Some(place) => self.write(&what, member, &place, data),
                None => Ok(()),
            }
        })?;
        self.release = self.release.take().or(release);
        Ok(())
    }

    fn write(
        &mut self,
        what: &str,
        member: &Member,
        place: &Path,
        data: &mut dyn Read,
    ) -> Result<(), Error> {
        let damaged = |reason| Error::damaged(what, format!("`{}` {reason}", member.path));
        if member.kind != Kind::Regular {
            return Err(damaged("is a link or a device instead of a file"));
        }
        let limit = match place.to_str() {
            Some("config") => CONFIG_LIMIT,
            _ => IMAGE_LIMIT,
        };
        self.kept = self.kept.saturating_add(member.size);
        if member.size > limit || self.kept > KEPT_LIMIT {
            return Err(damaged("is too long"));
        }
        let target = self.into.join(place);
        if let Some(parent) = target.parent() {
            files::create_dir(parent)?;
        }
        // Fedora's packages share lists of modules.
        if self.release.is_some() && place.starts_with("modules") && target.exists() {
            return Ok(());
        }
        let mut file = File::create_new(&target).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => damaged("occurs twice"),
            _ => Error::io("create", &target)(e),
        })?;
        io::copy(data, &mut file).map_err(|e| match e.raw_os_error() {
            Some(_) => Error::io("write", &target)(e),
            None => failed(what, e),
        })?;
        Ok(())
    }
}

/// The place of `path` below the directory; `None` if it is not wanted. The first release found
/// must be the only one.
fn place(path: &str, release: &mut Option<String>) -> Result<Option<PathBuf>, String> {
    let is_plain = |c: Component| matches!(c, Component::Normal(_) | Component::CurDir);
    if path.starts_with('/') || path.contains('\0') || !Path::new(path).components().all(is_plain) {
        return Err(format!("`{}` leads outside", path.escape_debug()));
    }
    let mut same_release = |name: &str| {
        let known = release.get_or_insert_with(|| name.to_string());
        (known == name)
            .then_some(())
            .ok_or_else(|| format!("it contains two kernels, {known} and {name}"))
    };
    for kind in ["vmlinuz", "config"] {
        let name = path
            .strip_prefix("boot/")
            .and_then(|file| file.strip_prefix(kind));
        if let Some(name) = name.and_then(|name| name.strip_prefix('-')) {
            same_release(name)?;
            return Ok(Some(kind.into()));
        }
    }
    let path = path.strip_prefix("usr/").unwrap_or(path);
    let Some((name, file)) = path
        .strip_prefix("lib/modules/")
        .and_then(|path| path.split_once('/'))
    else {
        return Ok(None);
    };
    let place = match file {
        "vmlinuz" | "vmlinuz.unsigned" => "vmlinuz".into(),
        "config" => "config".into(),
        _ if file.starts_with("modules.") && !file.contains('/') => Path::new("modules").join(file),
        _ if is_kept_module(file) => Path::new("modules").join(file),
        _ => return Ok(None),
    };
    same_release(name)?;
    Ok(Some(place))
}
