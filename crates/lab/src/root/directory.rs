// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads a directory of this machine. Symbolic links are not followed.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use model::Failure;
use sha2::{Digest as _, Sha256};

use super::tree::{Attributes, Id, TOP, Tree, What, unsound};
use super::watch::Watch;
use crate::error::LabError;

/// Size limit of `security.capability`; the kernel's largest has 24 bytes.
const CAPABILITY_LIMIT: usize = 64;

pub(super) fn read(path: &Path, watch: &mut Watch<'_>) -> Result<Tree, LabError> {
    watch.begin("reading the root");
    let mut reader = Reader {
        tree: Tree::new(),
        seen: HashMap::new(),
        watch,
    };
    reader.directory(path, TOP, 0)?;
    Ok(reader.tree)
}

struct Reader<'a, 'b> {
    tree: Tree,
    seen: HashMap<(u64, u64), Id>,
    watch: &'a mut Watch<'b>,
}

impl Reader<'_, '_> {
    fn directory(&mut self, path: &Path, directory: Id, depth: usize) -> Result<(), LabError> {
        self.tree.check_depth(path, depth)?;
        let entries = fs::read_dir(path).map_err(unreadable(path))?;
        let mut names = Vec::new();
        for entry in entries {
            names.push(entry.map_err(unreadable(path))?.file_name());
            self.tree.admit(path, 1, 0)?;
        }
        names.sort();
        for name in names {
            self.file(&path.join(&name), directory, &name, depth)?;
        }
        Ok(())
    }

    fn file(
        &mut self,
        path: &Path,
        directory: Id,
        name: &OsStr,
        depth: usize,
    ) -> Result<(), LabError> {
        self.watch.went_on(1, 0)?;
        let found = fs::symlink_metadata(path).map_err(unreadable(path))?;
        let kind = found.file_type();
        let inode = (found.dev(), found.ino());
        if let Some(node) = self.seen.get(&inode) {
            self.tree.name(directory, name, *node, 0);
            return Ok(());
        }
        let what = if kind.is_dir() {
            What::Directory(BTreeMap::new())
        } else if kind.is_symlink() {
            What::Symlink(fs::read_link(path).map_err(unreadable(path))?.into())
        } else if kind.is_file() {
            self.content(path, &found)?
        } else {
            let device = found.rdev();
            let numbers = (rustix::fs::major(device), rustix::fs::minor(device));
            What::Special(found.mode() & 0o170_000, numbers)
        };
        let attributes = Attributes {
            mode: found.mode() & 0o7777,
            uid: found.uid(),
            gid: found.gid(),
            mtime_s: found.mtime(),
            capability: capability(path, kind.is_file()),
        };
        let node = self.tree.node(attributes, what);
        self.tree.name(directory, name, node, 0);
        if kind.is_dir() {
            return self.directory(path, node, depth + 1);
        }
        if found.nlink() > 1 {
            self.seen.insert(inode, node);
        }
        Ok(())
    }

    fn content(&mut self, path: &Path, found: &Metadata) -> Result<What, LabError> {
        self.tree.admit(path, 0, found.len())?;
        // The file may have been replaced by a pipe, so do not block.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        let file = File::options()
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(path);
        let mut file = file.map_err(unreadable(path))?;
        let mut buffer = vec![0; 128 << 10];
        let mut hash = Sha256::new();
        let mut bytes: u64 = 0;
        while bytes <= found.len() {
            let n = file.read(&mut buffer).map_err(unreadable(path))?;
            if n == 0 {
                break;
            }
            bytes += n as u64;
            self.watch.went_on(0, n as u64)?;
            hash.update(&buffer[..n]);
        }
        let now = file.metadata().map_err(unreadable(path))?;
        let stamp = |file: &Metadata| (file.ino(), file.len(), file.mtime(), file.mtime_nsec());
        if bytes != found.len() || stamp(&now) != stamp(found) {
            return Err(Failure::environment(
                format!("{} changed while it was read", path.display()),
                "stop its writer, or copy the root",
            )
            .into());
        }
        Ok(What::File {
            bytes,
            sum: hash.finalize().into(),
        })
    }
}

/// A file's capabilities, which mkfs copies if this file system supports them.
fn capability(path: &Path, is_file: bool) -> Option<Vec<u8>> {
    let mut value = [0; CAPABILITY_LIMIT];
    let length = is_file.then(|| rustix::fs::lgetxattr(path, "security.capability", &mut value));
    Some(value[..length?.ok()?].to_vec())
}

pub(super) fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    let path = path.to_path_buf();
    move |error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => Failure::environment(
            format!("cannot read {}: {error}", path.display()),
            "lsmeter must read the whole root: give a tar file, or run lsmeter as the root's owner",
        )
        .into(),
        std::io::ErrorKind::NotFound => Failure::usage(
            format!("cannot read {}: no such file or directory", path.display()),
            "give a root's directory, tar file or OCI layout: --root PATH",
        )
        .into(),
        std::io::ErrorKind::InvalidFilename => unsound(&path, "is too long"),
        _ => LabError::io("read", &path)(error),
    }
}
