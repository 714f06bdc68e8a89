// SPDX-License-Identifier: GPL-2.0-or-later
//! Debian's kernel source: `linux-source-6.12` contains `usr/src/linux-source-6.12.tar.xz`.

use super::source::{self, Tree};
use super::{BuildEvent, make};
use crate::error::Error;
use crate::files::{self, Lock};
use crate::mirrors::Mirrors;
use crate::scratch::Scratch;
use crate::store::{FetchEvent, Store};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

const SOURCES: &str = "sources";
const INSTALLED: &str = "/usr/src";
/// The unpacked source takes 1.6 GiB, package and archive 0.3 GiB.
const SPACE: u64 = 2500 << 20;

/// From the cache, the installed package or a mirror, in this order.
pub(super) fn obtain(
    store: &Store,
    package: &str,
    refresh: bool,
    mirrors: &dyn Fn() -> Result<Mirrors, Error>,
    cancel: &AtomicBool,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<Tree, Error> {
    let sources = store.dir().join(SOURCES);
    files::create_dir(&sources)?;
    if let (false, Some(tree)) = (refresh, newest(&sources, package)?) {
        return Ok(tree);
    }
    let lock = store.dir().join("sources.lock");
    let _lock = Lock::take(&lock, &mut || events(BuildEvent::Waiting))?;
    if let (false, Some(tree)) = (refresh, newest(&sources, package)?) {
        return Ok(tree);
    }
    super::check_space(&sources, SPACE)?;
    let scratch = store.scratch()?;
    let log = scratch.path().join("log");
    let run = |command: Command, what: &str| -> Result<(), Error> {
        if make::run(command, &log, cancel, "unpacking the source", &mut |_| {})?.success() {
            return Ok(());
        }
        let text = files::read(&log, 1 << 20).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        if text.contains("No space left on device") {
            return Err(super::no_space(&sources));
        }
        let last = text.lines().last().unwrap_or("no message");
        Err(Error::damaged(what, last))
    };
    let (archive, version) = match installed(package) {
        Some(found) if !refresh => found,
        _ => {
            let deb = fetch(store, package, refresh, mirrors, &scratch, events)?;
            let version = version(Command::new("dpkg-deb").arg("-f").arg(&deb).arg("Version"))
                .ok_or_else(|| Error::damaged(package, "it has no version"))?;
            if let Some(tree) = unpacked(&sources, package, &version)? {
                return Ok(tree);
            }
            events(BuildEvent::Unpacking);
            let out = scratch.path().join("package");
            let mut command = Command::new("dpkg-deb");
            command.arg("-x").arg(&deb).arg(&out);
            run(command, package)?;
            (out.join(format!("usr/src/{package}.tar.xz")), version)
        }
    };
    events(BuildEvent::Unpacking);
    let out = scratch.subdirectory("source")?;
    let mut command = Command::new("tar");
    command.args(["--extract", "--xz", "--no-same-owner", "--file"]);
    command.arg(&archive).arg("--directory").arg(&out);
    run(command, &archive.display().to_string())?;
    let top = out.join(package);
    source::check(&top, Path::new(package))?;
    let target = sources.join(format!("{package}_{version}"));
    // Syncing the file system once is faster than syncing 85,000 files.
    let dir = fs::File::open(&top).map_err(Error::io("open", &top))?;
    rustix::fs::syncfs(&dir).map_err(|e| Error::io("sync", &top)(e.into()))?;
    if !target.exists() {
        fs::rename(&top, &target).map_err(Error::io("create", &target))?;
    }
    unpacked(&sources, package, &version)?
        .ok_or_else(|| Error::damaged(package, "its unpacked source is gone"))
}

fn newest(sources: &Path, package: &str) -> Result<Option<Tree>, Error> {
    let entries = fs::read_dir(sources).map_err(Error::io("list", sources))?;
    let mut versions: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(package)?.strip_prefix('_')?;
            Some(version.to_owned())
        })
        .collect();
    versions.sort_by(|a, b| crate::packages::compare_abi(a, b));
    for version in versions.iter().rev() {
        if let Some(tree) = unpacked(sources, package, version)? {
            return Ok(Some(tree));
        }
    }
    Ok(None)
}

/// An unpacked source, if it is unchanged since its first use.
fn unpacked(sources: &Path, package: &str, version: &str) -> Result<Option<Tree>, Error> {
    let name = format!("{package}_{version}");
    let dir = sources.join(&name);
    if source::check(&dir, &dir).is_err() {
        return Ok(None);
    }
    let stamp = source::stamp(&dir)?;
    let known = sources.join(format!(".{name}.files"));
    match files::read(&known, 100) {
        Ok(first) if first == stamp.as_bytes() => {}
        Ok(_) => {
            return Err(Error::Environment {
                what: format!("the source in {} was changed", dir.display()),
                hint: format!(
                    "run `rm -r {0} {1}`, and the source is unpacked again; to change a source, \
                     copy it and give the copy's path",
                    dir.display(),
                    known.display()
                ),
            });
        }
        Err(_) => files::write(&known, stamp.as_bytes())?,
    }
    Ok(Some(Tree {
        dir,
        identity: format!("{package} {version}"),
        version: Some(version.to_owned()),
        stamp,
    }))
}

fn installed(package: &str) -> Option<(PathBuf, String)> {
    let archive = Path::new(INSTALLED).join(format!("{package}.tar.xz"));
    if !archive.is_file() {
        return None;
    }
    let mut command = Command::new("dpkg-query");
    let version = version(command.args(["-W", "-f", "${Version}", package]))?;
    Some((archive, version))
}

fn version(command: &mut Command) -> Option<String> {
    let text = make::output(command)?;
    let version = text.trim();
    is_version(version).then(|| version.to_owned())
}

fn fetch(
    store: &Store,
    package: &str,
    refresh: bool,
    mirrors: &dyn Fn() -> Result<Mirrors, Error>,
    scratch: &Scratch,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<PathBuf, Error> {
    let mut follow = |event| match event {
        FetchEvent::Waiting => events(BuildEvent::Waiting),
        event => events(BuildEvent::Fetch(event)),
    };
    let packages = [package.to_owned()];
    store.with_apt(
        crate::arch::native(),
        &mirrors()?,
        refresh,
        &mut follow,
        |apt, follow| {
            let _ = fs::remove_dir_all(scratch.path().join("deb"));
            let into = scratch.subdirectory("deb")?;
            follow(FetchEvent::Downloading(packages.to_vec()));
            let reasons = match apt.download(&packages, &into, follow) {
                Ok(debs) => {
                    let deb = debs.into_iter().next();
                    return deb.ok_or_else(|| Error::damaged(package, "apt downloaded no file"));
                }
                Err(Error::NoPackage { reasons, .. }) => reasons,
                Err(e) => return Err(e),
            };
            let mut names = apt.names()?;
            names.retain(|name| super::source_series(name).is_some());
            names.sort();
            Err(Error::NoPackage {
                name: package.to_owned(),
                reasons,
                hint: if names.is_empty() {
                    "use a mirror with the full Debian archive".into()
                } else {
                    format!("the mirror has {}", names.join(", "))
                },
            })
        },
    )
}

fn is_version(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b".+~-:".contains(&b);
    (1..=100).contains(&text.len()) && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    #[test]
    fn the_newest_whole_source_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        for version in ["6.12.9-1", "6.12.117-1", "6.12.200-1"] {
            let top = dir.path().join(format!("linux-source-6.12_{version}"));
            let own = format!("{}Kconfig", crate::arch::native().source.directory);
            for file in ["Makefile", "Kconfig", &own, "init/main.c"] {
                put(&top, file, "");
            }
            if version != "6.12.200-1" {
                fs::create_dir_all(top.join("scripts/kconfig")).unwrap();
            }
        }
        let tree = newest(dir.path(), "linux-source-6.12").unwrap().unwrap();
        assert_eq!(tree.version.as_deref(), Some("6.12.117-1"));
        assert_eq!(tree.identity, "linux-source-6.12 6.12.117-1");
        assert!(newest(dir.path(), "linux-source-6.1").unwrap().is_none());
    }

    #[test]
    fn versions_are_plain() {
        assert!(is_version("6.12.117-1~deb12u1"));
        for bad in ["", "a/b", "1 2", "../x", "1\n"] {
            assert!(!is_version(bad), "{bad:?}");
        }
    }
}
