// SPDX-License-Identifier: GPL-2.0-or-later
//! Creates a root's directory as far as an ordinary user can; [`fixes`] are for its file system.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use super::tree::{Attributes, Id, Tree, What, unsound};
use super::unpack::Unpacker;
use crate::error::LabError;

/// Properties of a file that it does not have on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fix {
    /// Relative to the root, without a leading `/`.
    pub path: PathBuf,
    pub mode: Option<u32>,
    pub owner: Option<(u32, u32)>,
    /// A device to create: its major and minor number (0 for a pipe), and its time of change.
    pub made: Option<(u32, u32, i64)>,
    pub capability: Option<Vec<u8>>,
}

pub(super) fn place(unpacker: &mut Unpacker<'_, '_>, root: &Path) -> Result<(), LabError> {
    fs::create_dir(root).map_err(LabError::io("create", root))?;
    unpacker.watch.begin("laying out the root");
    let tree = &unpacker.tree;
    let mut placed: HashMap<Id, PathBuf> = HashMap::new();
    let mut directories = Vec::new();
    tree.walk(&mut |path, id| {
        unpacker.watch.went_on(1, 0)?;
        let node = &tree.nodes[id];
        let target = root.join(path);
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::InvalidFilename => unsound(path, "is too long"),
            _ => LabError::io("create", &target)(error),
        };
        if let Some(first) = placed.get(&id) {
            return fs::hard_link(root.join(first), &target).map_err(failed);
        }
        match &node.what {
            What::Directory(_) => {
                fs::create_dir(&target).map_err(failed)?;
                directories.push((target.clone(), id));
            }
            What::File { .. } => {
                let content = unpacker.data.join(id.to_string());
                fs::rename(content, &target).map_err(failed)?;
                permit(&target, kept_mode(node.mode()))?;
            }
            What::Symlink(link) => symlink(link, &target).map_err(failed)?,
            What::Special(..) => return Ok(()),
        }
        if node.links > 1 {
            placed.insert(id, path.to_owned());
        }
        set_time(&target, node.attributes.mtime_s)
    })?;
    // Creating entries changes a directory's time.
    for (target, id) in directories.iter().rev() {
        permit(target, kept_mode(tree.nodes[*id].mode()))?;
        set_time(target, tree.nodes[*id].attributes.mtime_s)?;
    }
    Ok(())
}

pub(super) fn permit(path: &Path, mode: u32) -> Result<(), LabError> {
    let mode = fs::Permissions::from_mode(mode & 0o7777);
    fs::set_permissions(path, mode).map_err(LabError::io("set the mode of", path))
}

pub(super) fn set_time(path: &Path, mtime_s: i64) -> Result<(), LabError> {
    let time = Timespec {
        tv_sec: mtime_s,
        tv_nsec: 0,
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| LabError::io("set the times of", path)(error.into()))
}

/// Type and permissions on this machine, where the user must be able to read and remove the file.
fn kept_mode(mode: u32) -> u32 {
    match mode & 0o170_000 {
        0o040_000 => mode | 0o700,
        0o100_000 => mode | 0o400,
        _ => mode,
    }
}

/// Changes for the file system, where root owns everything by default.
pub(super) fn fixes(tree: &Tree) -> Vec<Fix> {
    let mut fixes = Vec::new();
    let mut seen = HashSet::new();
    let Ok(()) = tree.walk::<Infallible>(&mut |path, id| {
        let node = &tree.nodes[id];
        // Hard-linked files need one fix; mkfs copies links and devices separately.
        let is_file = matches!(node.what, What::File { .. });
        let first = node.links == 1 || seen.insert(id) || !is_file;
        let made = match node.what {
            What::Special(_, (major, minor)) => Some((major, minor, node.attributes.mtime_s)),
            _ => None,
        };
        let mode = node.mode();
        let Attributes {
            uid,
            gid,
            capability,
            ..
        } = &node.attributes;
        let fix = Fix {
            path: path.to_owned(),
            mode: (made.is_some() || kept_mode(mode) != mode).then_some(mode),
            owner: ((*uid, *gid) != (0, 0)).then_some((*uid, *gid)),
            made,
            capability: capability.clone(),
        };
        let needed = fix.mode.is_some() || fix.owner.is_some() || fix.capability.is_some();
        if needed && first {
            fixes.push(fix);
        }
        Ok(())
    });
    fixes
}
