// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels in Debian packages: `ar` with two compressed tar archives.
//!
//! The crate `ar` is not used: it reserves as many bytes for a name as a header claims, up to
//! gigabytes. Nor is dpkg-deb(1): of a truncated package its 1.21 never ends.

use crate::decompress::{self, Format};
use crate::error::Error;
use crate::files;
use crate::image::IMAGE_LIMIT;
use crate::modules::is_module;
use crate::tar::{self, Kind};
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

/// In bytes.
const PACKAGE_LIMIT: u64 = 2 << 30;
const ARCHIVE_LIMIT: u64 = 8 << 30;
/// Most bytes that are kept from a package.
const KEPT_LIMIT: u64 = 1 << 30;
const ENTRY_LIMIT: usize = 200_000;
const CONTROL_LIMIT: usize = 1 << 20;
const CONFIG_LIMIT: u64 = 4 << 20;

/// Modules that a lab can need: file systems, block devices, network protocols and their
/// dependencies.
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

#[derive(Debug)]
pub(crate) struct Control {
    pub package: String,
    pub version: String,
}

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

/// Extracts `vmlinuz`, `config` and `modules/` into `into`, as far as the package has them. Several
/// packages of one kernel may go into one directory. [`Error::Damaged`] also if a path escapes from
/// the directory, or a link replaces a file.
pub(crate) fn extract(path: &Path, into: &Path) -> Result<Control, Error> {
    let what = path.display().to_string();
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let fail = |e: io::Error| match e.kind() {
        io::ErrorKind::Unsupported => Error::unsupported(&what, e),
        io::ErrorKind::UnexpectedEof => Error::damaged(&what, "it is truncated"),
        _ => Error::damaged(&what, e),
    };
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    if length > PACKAGE_LIMIT {
        return Err(Error::damaged(&what, "it is too long for a package"));
    }
    let mut magic = [0u8; 8];
    file.read_exact(&mut magic).map_err(fail)?;
    if &magic != b"!<arch>\n" {
        return Err(Error::damaged(&what, "it is not a Debian package"));
    }
    let mut control = None;
    let mut has_data = false;
    let mut position = magic.len() as u64;
    while position < length && !has_data {
        let mut header = [0u8; 60];
        file.read_exact(&mut header).map_err(fail)?;
        position += header.len() as u64;
        let (name, size) = member(&header).ok_or_else(|| Error::damaged(&what, "bad ar header"))?;
        if size > length - position {
            return Err(Error::damaged(&what, "it is truncated"));
        }
        let mut data = (&mut file).take(size);
        if name.starts_with("control.tar") {
            let reader = decompressor(&mut data).map_err(fail)?;
            control = Some(read_control(reader, &what, &fail)?);
        } else if name.starts_with("data.tar") {
            let reader = decompressor(&mut data).map_err(fail)?;
            extract_data(reader, into, &what, &fail)?;
            has_data = true;
        }
        // Members start at even offsets.
        let rest = data.limit() + size % 2;
        let skipped = io::copy(&mut (&mut file).take(rest), &mut io::sink());
        skipped.map_err(Error::io("read", path))?;
        position += size + size % 2;
    }
    if !has_data {
        return Err(Error::damaged(&what, "it has no data archive"));
    }
    control.ok_or_else(|| Error::damaged(&what, "it has no control archive"))
}

fn member(header: &[u8; 60]) -> Option<(String, u64)> {
    if header[58..] != *b"`\n" {
        return None;
    }
    let name = std::str::from_utf8(&header[..16]).ok()?;
    let name = name.trim_end().trim_end_matches('/');
    let size = std::str::from_utf8(&header[48..58]).ok()?.trim_end();
    Some((name.to_string(), size.parse().ok()?))
}

fn decompressor<'a>(data: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut data = io::BufReader::new(data);
    match Format::detect(data.fill_buf()?) {
        None => Ok(Box::new(data)),
        Some(format) => decompress::reader(format, data),
    }
}

fn read_control(
    reader: Box<dyn Read + '_>,
    what: &str,
    fail: &dyn Fn(io::Error) -> Error,
) -> Result<Control, Error> {
    let mut control = None;
    tar::read(reader.take(ARCHIVE_LIMIT), fail, |entry, data| {
        if entry.path != "control" || entry.kind != Kind::Regular {
            return Ok(ControlFlow::Continue(()));
        }
        let text = decompress::read_bounded(data, CONTROL_LIMIT).map_err(fail)?;
        control = Some(String::from_utf8_lossy(&text).into_owned());
        Ok(ControlFlow::Break(()))
    })?;
    let control = control.ok_or_else(|| Error::damaged(what, "it has no control file"))?;
    let field = |name: &str| {
        control
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(|value| value.trim().chars().take(200).collect::<String>())
    };
    let architecture = field("Architecture").unwrap_or_default();
    let known: Vec<&str> = crate::arch::ALL
        .iter()
        .map(|arch| arch.debian.name)
        .collect();
    if !known.contains(&architecture.as_str()) {
        let known = known.join(" or ");
        return Err(Error::unsupported(
            what,
            format!("it is for `{architecture}`; only {known} kernels can be measured"),
        ));
    }
    match (field("Package"), field("Version")) {
        (Some(package), Some(version)) => Ok(Control { package, version }),
        _ => Err(Error::damaged(what, "its control file names no package")),
    }
}

fn extract_data(
    reader: Box<dyn Read + '_>,
    into: &Path,
    what: &str,
    fail: &dyn Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let mut kept = 0u64;
    let mut entries = 0usize;
    let mut release = None;
    tar::read(reader.take(ARCHIVE_LIMIT), fail, |entry, data| {
        entries += 1;
        if entries > ENTRY_LIMIT {
            return Err(Error::damaged(what, "it has too many files"));
        }
        let place = place(&entry.path, &mut release).map_err(|r| Error::damaged(what, r))?;
        let Some(place) = place.filter(|_| entry.kind != Kind::Directory) else {
            return Ok(ControlFlow::Continue(()));
        };
        if entry.kind != Kind::Regular {
            return Err(Error::damaged(
                what,
                format!("`{}` is a link or a device instead of a file", entry.path),
            ));
        }
        let target = into.join(&place);
        let limit = match place.to_str() {
            Some("config") => CONFIG_LIMIT,
            _ => IMAGE_LIMIT,
        };
        kept = kept.saturating_add(entry.size);
        if entry.size > limit || kept > KEPT_LIMIT {
            return Err(Error::damaged(
                what,
                format!("`{}` is too long", entry.path),
            ));
        }
        if let Some(parent) = target.parent() {
            files::create_dir(parent)?;
        }
        let mut file = File::create_new(&target).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::damaged(what, format!("`{}` occurs twice", entry.path))
            }
            _ => Error::io("create", &target)(e),
        })?;
        io::copy(data, &mut file).map_err(|e| match e.raw_os_error() {
            Some(_) => Error::io("write", &target)(e),
            None => fail(e),
        })?;
        Ok(ControlFlow::Continue(()))
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{Entry as E, control, deb};
    use std::fs;

    fn unpack(data: &[u8]) -> (tempfile::TempDir, Result<Control, Error>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.deb");
        fs::write(&path, data).unwrap();
        let into = dir.path().join("out");
        fs::create_dir(&into).unwrap();
        let result = extract(&path, &into);
        (dir, result)
    }

    #[test]
    fn keeps_what_a_lab_needs() {
        for format in [
            None,
            Some(Format::Gzip),
            Some(Format::Xz),
            Some(Format::Zstd),
        ] {
            let data = deb(
                &control("linux-image-6.1.0-1-cloud-amd64", "6.1.1-1"),
                &[
                    E::File("./boot/vmlinuz-6.1.0-1", b"image"),
                    E::File("./boot/config-6.1.0-1", b"CONFIG_X=y\n"),
                    E::File("./boot/System.map-6.1.0-1", b"stub"),
                    E::File("./lib/modules/6.1.0-1/modules.builtin", b""),
                    E::File("./lib/modules/6.1.0-1/kernel/fs/xfs/xfs.ko", b"xfs"),
                    E::File("./lib/modules/6.1.0-1/kernel/net/xfrm/x.ko", b"net"),
                    E::File("./lib/modules/6.1.0-1/kernel/drivers/net/tun.ko", b"tun"),
                    E::File("./lib/modules/6.1.0-1/kernel/drivers/net/dummy.ko", b"no"),
                    E::File("./lib/modules/6.1.0-1/kernel/sound/x.ko", b"no"),
                    E::Link("./usr/share/doc/linux", "elsewhere"),
                    E::Link("./lib/modules/6.1.0-1/build", "/usr/src"),
                ],
                format,
            );
            let (dir, result) = unpack(&data);
            assert_eq!(result.unwrap().version, "6.1.1-1");
            let out = dir.path().join("out");
            assert_eq!(fs::read(out.join("vmlinuz")).unwrap(), b"image");
            assert_eq!(fs::read(out.join("config")).unwrap(), b"CONFIG_X=y\n");
            assert!(out.join("modules/kernel/fs/xfs/xfs.ko").exists());
            assert!(out.join("modules/kernel/net/xfrm/x.ko").exists());
            assert!(out.join("modules/kernel/drivers/net/tun.ko").exists());
            assert!(!out.join("modules/kernel/drivers/net/dummy.ko").exists());
            assert!(!out.join("modules/kernel/sound").exists());
        }
    }

    #[test]
    fn hostile_packages_are_refused() {
        let long = format!("lib/modules/1.0/kernel/fs/{}/../../x.ko", "y".repeat(120));
        let bad = [
            E::File("../../etc/passwd", b"x"),
            E::File("/boot/vmlinuz-1.0", b"x"),
            E::File("./lib/modules/../../../x", b"x"),
            E::File(&long, b"x"),
            E::Link("./boot/vmlinuz-1.0", "/etc/shadow"),
            E::Link("./lib/modules/1.0/kernel/fs/x.ko", "/etc/shadow"),
        ];
        for entry in bad {
            let (dir, result) = unpack(&deb(&control("p", "1"), &[entry], None));
            assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        }
        for second in ["./boot/config-2.0", "./boot/vmlinuz-1.0"] {
            let two = [E::File("./boot/vmlinuz-1.0", b"x"), E::File(second, b"x")];
            let result = unpack(&deb(&control("p", "1"), &two, None)).1;
            assert!(matches!(result, Err(Error::Damaged { .. })), "{result:?}");
        }
        let other = control("p", "1").replace("amd64", "m68k");
        let error = unpack(&deb(&other, &[], None)).1.unwrap_err();
        assert!(error.to_string().contains("m68k"), "{error}");
    }

    #[test]
    fn truncated_packages_are_told() {
        let entries = [E::File("./boot/vmlinuz-1.0", &[42; 5000])];
        for format in [None, Some(Format::Xz), Some(Format::Zstd)] {
            let data = deb(&control("p", "1"), &entries, format);
            // Cut it off at every byte if it is short (compressed).
            let step = 1 + data.len() / 1024;
            for length in (0..data.len() - 7).step_by(step) {
                let result = unpack(&data[..length]).1;
                assert!(matches!(result, Err(Error::Damaged { .. })), "{length}");
            }
        }
    }

    #[test]
    fn damaged_packages_never_panic() {
        let entries = [E::File("./boot/vmlinuz-1.0", &[42; 900])];
        let data = deb(&control("p", "1"), &entries, Some(Format::Gzip));
        testing::damage(&data, |data| drop(unpack(data)));
    }
}
