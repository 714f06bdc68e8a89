// SPDX-License-Identifier: GPL-2.0-or-later
//! Sets owners, modes and devices in a root's image with debugfs(8), because an ordinary user
//! cannot create such files here.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};
use std::process::Command;

use kernels::scratch::Scratch;
use model::printable;

use super::{Error, FileSystem, child, find_program};
use crate::root::{Fix, Root};

const DEBUGFS: &str = "debugfs";
/// debugfs reads lines of `BUFSIZ`: 8,192 with glibc.
const LINE_LIMIT: usize = 8_000;
/// Inodes of the root directory and of `lost+found`, and the first inode of files.
const TOP_INODE: u64 = 2;
const LOST_FOUND_INODE: u64 = 11;
const FIRST_INODE: u64 = 12;
/// Larger device numbers need the new encoding.
const OLD_DEVICE_LIMIT: u32 = 255;

/// Sets owners, modes and capabilities in an ext4 image, makes devices, and sets all times of
/// access and change to `time_s`. The times of the files on this machine differ between days and
/// copies, which would change counts.
pub(super) fn settle(
    root: &Root,
    image: &Path,
    time_s: &str,
    tick: &mut dyn FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    let environment = |what: String| Error::Environment {
        what,
        hint: "reinstall the package e2fsprogs".to_owned(),
    };
    let program = find_program(DEBUGFS)
        .ok_or_else(|| environment(format!("{DEBUGFS} is not on this machine")))?;
    let mut script = match &root.fixes {
        Some(fixes) => script(fixes, root)?,
        None => Vec::new(),
    };
    script.extend(times(root, time_s).as_bytes());
    let dir = Scratch::new().map_err(Error::io("create", &std::env::temp_dir()))?;
    let file = dir.path().join("script");
    fs::write(&file, &script).map_err(Error::io("write", &file))?;
    let mut command = Command::new(&program);
    command
        .args(["-w", "-f"])
        .arg(&file)
        .arg(image)
        .env("LC_ALL", "C")
        .env("E2FSPROGS_FAKE_TIME", time_s);
    let (status, text) = child::run(command, &program, tick)?;
    // debugfs always exits with 0. It prints its version, and then errors.
    let complaint = text.lines().skip(1).find(|line| !line.trim().is_empty());
    match complaint {
        None if status.success() => Ok(()),
        complaint => {
            let reason = complaint.map_or(status.to_string(), |line| printable(line, 300));
            Err(environment(format!("{DEBUGFS} failed: {reason}")))
        }
    }
}

/// Commands that set times of access, change and creation, in inode order.
fn times(root: &Root, time_s: &str) -> String {
    let files = LOST_FOUND_INODE..=LOST_FOUND_INODE + root.files;
    std::iter::once(TOP_INODE)
        .chain(files)
        .flat_map(|inode| ["atime", "ctime", "crtime"].map(|field| (inode, field)))
        .map(|(inode, field)| format!("sif <{inode}> {field} @{time_s}\n"))
        .collect()
}

/// Refuses a root whose owners, modes or devices only ext4 images can have.
pub(super) fn refuse(root: &Root, fs: FileSystem) -> Result<(), Error> {
    let Some(fixes) = &root.fixes else {
        return Ok(());
    };
    let unsupported = |reason: String| Error::Unsupported {
        what: format!("{fs} cannot keep the owners and modes of this root"),
        reason,
        hint: Some("use ext4".to_owned()),
    };
    if let Some(fix) = fixes.first() {
        let path = printable(&fix.path.to_string_lossy(), 200);
        return Err(unsupported(format!(
            "mkfs.{fs} cannot set the owner of /{path} or make it a device"
        )));
    }
    let (uid, gid) = owner(root)?;
    if (uid, gid) != (0, 0) {
        return Err(unsupported(format!(
            "mkfs.{fs} would keep the owner on this machine (user {uid}, group {gid}) instead of \
             root"
        )));
    }
    Ok(())
}

fn owner(root: &Root) -> Result<(u32, u32), Error> {
    let found = fs::metadata(root.path()).map_err(Error::io("read", root.path()))?;
    Ok((found.uid(), found.gid()))
}

fn script(fixes: &[Fix], root: &Root) -> Result<Vec<u8>, Error> {
    let mut script = Vec::new();
    if owner(root)? != (0, 0) {
        for inode in std::iter::once(TOP_INODE).chain(FIRST_INODE..FIRST_INODE + root.files) {
            for field in ["uid", "gid"] {
                script.extend(format!("sif <{inode}> {field} 0\n").as_bytes());
            }
        }
    }
    for fix in fixes {
        let path = quoted(&fix.path)?;
        if let (Some(mode), Some(made)) = (fix.mode, fix.made) {
            make(fix, mode, made, &path, &mut script)?;
        }
        let mut set = |field: String| push_command(&mut script, "sif", &path, &field);
        if let Some(mode) = fix.mode {
            set(format!("mode 0{mode:o}"));
        }
        if let Some((_, _, mtime_s)) = fix.made {
            set(format!("mtime @{mtime_s}"));
        }
        if let Some((uid, gid)) = fix.owner {
            set(format!("uid {uid}"));
            set(format!("gid {gid}"));
        }
        if let Some(capability) = &fix.capability {
            let value: String = capability
                .iter()
                .map(|byte| format!("\\{byte:03o}"))
                .collect();
            let value = format!("security.capability \"{value}\"");
            push_command(&mut script, "ea_set", &path, &value);
        }
    }
    if script
        .split(|byte| *byte == b'\n')
        .any(|line| line.len() > LINE_LIMIT)
    {
        return Err(Error::Environment {
            what: format!("a path of the root is too long for {DEBUGFS}"),
            hint: "shorten the paths of devices and of files that root does not own".to_owned(),
        });
    }
    Ok(script)
}

fn push_command(script: &mut Vec<u8>, command: &str, path: &[u8], rest: &str) {
    script.extend([command.as_bytes(), b" ", path, b" ", rest.as_bytes(), b"\n"].concat());
}

/// A device or a pipe. debugfs creates it in the current directory only.
fn make(
    fix: &Fix,
    mode: u32,
    (major, minor, _): (u32, u32, i64),
    path: &[u8],
    script: &mut Vec<u8>,
) -> Result<(), Error> {
    let name = fix.path.file_name().map(Path::new).unwrap_or(&fix.path);
    let directory = quoted(fix.path.parent().unwrap_or(Path::new("")))?;
    let name = quoted_name(name)?;
    let is_old = major <= OLD_DEVICE_LIMIT && minor <= OLD_DEVICE_LIMIT;
    let (first, second) = if is_old { (major, minor) } else { (0, 0) };
    let kind = match mode & 0o170_000 {
        0o020_000 => format!("c {first} {second}"),
        0o060_000 => format!("b {first} {second}"),
        _ => "p".to_owned(),
    };
    script.extend([b"cd ", &directory[..], b"\n"].concat());
    push_command(script, "mknod", &name, &kind);
    if !is_old {
        // new_encode_dev() of the kernel's include/linux/kdev_t.h
        let device = minor & 0xff | (major & 0xfff) << 8 | (minor & 0xf_ff00) << 12;
        push_command(script, "sif", path, &format!("block[1] {device}"));
    }
    Ok(())
}

fn quoted(path: &Path) -> Result<Vec<u8>, Error> {
    let mut whole = vec![b'/'];
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.as_bytes()),
        _ => None,
    });
    whole.extend(names.collect::<Vec<_>>().join(&b'/'));
    quoted_name(Path::new(std::ffi::OsStr::from_bytes(&whole)))
}

/// The name in quotes; quotes in it are doubled.
fn quoted_name(name: &Path) -> Result<Vec<u8>, Error> {
    let mut word = vec![b'"'];
    for byte in name.as_os_str().as_bytes() {
        match byte {
            b'\n' | b'\r' | 0 => {
                let name = printable(&name.to_string_lossy(), 200);
                return Err(Error::Environment {
                    what: format!(
                        "{DEBUGFS} cannot set the owner or mode of {name}, whose name contains a \
                         line break"
                    ),
                    hint: "rename the file, or make root its owner".to_owned(),
                });
            }
            b'"' => word.extend(b"\"\""),
            byte => word.push(*byte),
        }
    }
    word.push(b'"');
    Ok(word)
}
