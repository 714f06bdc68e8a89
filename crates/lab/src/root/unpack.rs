// SPDX-License-Identifier: GPL-2.0-or-later
//! Unpacks tar archives: one, or the layers of a container image in order.
//!
//! During unpacking, names are kept only in memory, and contents in numbered files, so that no name
//! in an archive can affect this machine.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use kernels::tar::{self, Kind};
use model::Failure;
use sha2::{Digest as _, Sha256};

use super::tree::{
    Attributes, BLOCK, BYTES_LIMIT, CHARACTER, FIFO, FILES_LIMIT, Id, NAME_LIMIT, TARGET_LIMIT,
    TOP, Tree, What, shown, too_much, unsound,
};
use super::watch::Watch;
use crate::error::LabError;

/// The maximum number of bytes to read, as a multiple of the root's limit. It is more than one
/// because layers replace files of lower layers.
const READ_FACTOR: u64 = 4;
/// The latest time of change of a file (2100-01-01), because the guest's clock starts after it.
const TIME_LIMIT_S: i64 = 4_102_444_800;
/// File name prefix of whiteouts, which mark removed files (layer.md of the OCI image
/// specification).
const WHITEOUT: &[u8] = b".wh.";
const META: &[u8] = b".wh..wh.";
const OPAQUE: &[u8] = b".wh..wh..opq";

pub(super) struct Unpacker<'a, 'b> {
    pub tree: Tree,
    pub data: PathBuf,
    pub watch: &'a mut Watch<'b>,
    layered: bool,
    layer: usize,
    entries: u64,
    read: u64,
}

impl<'a, 'b> Unpacker<'a, 'b> {
    pub fn new(data: PathBuf, layered: bool, watch: &'a mut Watch<'b>) -> Unpacker<'a, 'b> {
        watch.begin("unpacking the root");
        Unpacker {
            tree: Tree::new(),
            data,
            watch,
            layered,
            layer: 0,
            entries: 0,
            read: 0,
        }
    }

    pub fn content(&self, node: Id) -> PathBuf {
        self.data.join(node.to_string())
    }

    pub fn unpack(&mut self, reader: impl Read, what: &str) -> Result<(), LabError> {
        self.layer += 1;
        let fail = |error: io::Error| LabError::from(damaged(what, &error));
        let reader = self.watch.reader(reader, READ_FACTOR * BYTES_LIMIT);
        tar::read(reader, fail, |entry, data| {
            self.entries += 1;
            if self.entries > READ_FACTOR * FILES_LIMIT {
                let limit = format!(
                    "has more than {} archive members",
                    READ_FACTOR * FILES_LIMIT
                );
                return Err(too_much(Path::new(what), &limit));
            }
            self.watch.went_on(1, 0)?;
            self.take(entry, data, &fail)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    fn take(
        &mut self,
        entry: &tar::Entry,
        data: &mut dyn Read,
        fail: &dyn Fn(io::Error) -> LabError,
    ) -> Result<(), LabError> {
        let path = plain(&entry.name)?;
        let attributes = Attributes {
            mode: entry.mode,
            uid: entry.uid,
            gid: entry.gid,
            mtime_s: entry.mtime_s.clamp(0, TIME_LIMIT_S),
            capability: entry.capability.clone(),
        };
        let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
            if entry.kind == Kind::Directory {
                self.tree.nodes[TOP].attributes = attributes;
            }
            return Ok(());
        };
        let (directory, depth) = self.tree.directory(parent, self.layer)?;
        if self.layered && name.as_bytes().starts_with(WHITEOUT) {
            return self.white_out(directory, name);
        }
        let node = match entry.kind {
            Kind::Directory => {
                self.tree.check_depth(&path, depth + 1)?;
                if let Some(there) = self.tree.entry(directory, name)
                    && self.tree.entries(there.node).is_some()
                {
                    self.tree.nodes[there.node].attributes = attributes;
                    self.tree.touch(directory, name, self.layer);
                    return Ok(());
                }
                self.tree.node(attributes, What::Directory(BTreeMap::new()))
            }
            Kind::Regular => self.file(&path, entry.size, attributes, data, fail)?,
            Kind::Link => self.linked(&path, &entry.link)?,
            Kind::Symlink => {
                let target = OsString::from_vec(entry.link.clone());
                let length = target.len();
                if length == 0 || length > TARGET_LIMIT || entry.link.contains(&0) {
                    return Err(unsound(&path, "is a link to an invalid path"));
                }
                self.tree.node(attributes, What::Symlink(target))
            }
            Kind::Char | Kind::Block | Kind::Fifo => {
                let kind = match entry.kind {
                    Kind::Char => CHARACTER,
                    Kind::Block => BLOCK,
                    _ => FIFO,
                };
                let what = What::Special(kind, entry.device);
                self.tree.node(attributes, what)
            }
            _ => {
                return Err(unsound(
                    &path,
                    "has a file type that only some tar programs support",
                ));
            }
        };
        // A link to the name itself changes nothing.
        if self
            .tree
            .entry(directory, name)
            .is_some_and(|entry| entry.node == node)
        {
            self.tree.touch(directory, name, self.layer);
            return Ok(());
        }
        let mut gone = Vec::new();
        self.tree.remove(directory, name, &mut gone);
        self.forget(&gone)?;
        self.tree.admit(&path, 1, 0)?;
        self.tree.name(directory, name, node, self.layer);
        Ok(())
    }

    fn linked(&mut self, path: &Path, link: &[u8]) -> Result<Id, LabError> {
        let target = plain(link)?;
        let missing = || {
            unsound(
                path,
                &format!("is a link to {}, which is not a file", shown(&target)),
            )
        };
        let name = target.file_name().ok_or_else(missing)?;
        let parent = target.parent().unwrap_or(Path::new(""));
        let (directory, _) = self.tree.directory(parent, self.layer)?;
        let entry = self.tree.entry(directory, name).ok_or_else(missing)?;
        match self.tree.nodes[entry.node].what {
            What::Directory(_) => Err(missing()),
            _ => Ok(entry.node),
        }
    }

    fn white_out(&mut self, directory: Id, name: &OsStr) -> Result<(), LabError> {
        let mut gone = Vec::new();
        let name = name.as_bytes();
        if name == OPAQUE {
            self.tree.hide_below(directory, self.layer, &mut gone);
        } else if !name.starts_with(META) {
            let hidden = OsStr::from_bytes(&name[WHITEOUT.len()..]);
            self.tree.hide(directory, hidden, self.layer, &mut gone);
        }
        self.forget(&gone)
    }

    fn forget(&self, gone: &[Id]) -> Result<(), LabError> {
        for node in gone {
            let path = self.content(*node);
            fs::remove_file(&path).map_err(LabError::io("remove", &path))?;
        }
        Ok(())
    }

    fn file(
        &mut self,
        path: &Path,
        size: u64,
        attributes: Attributes,
        data: &mut dyn Read,
        fail: &dyn Fn(io::Error) -> LabError,
    ) -> Result<Id, LabError> {
        self.tree.admit(path, 0, size)?;
        self.read = self.read.saturating_add(size);
        if self.read > READ_FACTOR * BYTES_LIMIT {
            let limit = (READ_FACTOR * BYTES_LIMIT) >> 30;
            return Err(too_much(
                path,
                &format!("brings the unpacked data to more than {limit} GiB"),
            ));
        }
        let sum = [0; 32];
        let node = self.tree.node(attributes, What::File { bytes: size, sum });
        let content = self.content(node);
        let mut file = File::create_new(&content).map_err(LabError::io("create", &content))?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let n = data.read(&mut buffer).map_err(fail)?;
            if n == 0 {
                break;
            }
            let piece = &buffer[..n];
            hash.update(piece);
            self.watch.went_on(0, n as u64)?;
            // Zeros stay a hole.
            let written = match piece.iter().all(|byte| *byte == 0) {
                true => file.seek(SeekFrom::Current(n as i64)).map(drop),
                false => file.write_all(piece),
            };
            written.map_err(LabError::io("write", &content))?;
        }
        file.set_len(size)
            .map_err(LabError::io("write", &content))?;
        if let What::File { sum, .. } = &mut self.tree.nodes[node].what {
            *sum = hash.finalize().into();
        }
        Ok(node)
    }
}

fn plain(name: &[u8]) -> Result<PathBuf, LabError> {
    let path = Path::new(OsStr::from_bytes(name));
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) if name.len() > NAME_LIMIT => {
                return Err(unsound(
                    path,
                    &format!("has a name of more than {NAME_LIMIT} bytes"),
                ));
            }
            Component::Normal(name) if name.as_bytes().contains(&0) => {
                return Err(unsound(path, "has a NUL in its name"));
            }
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => return Err(unsound(path, "leaves the root through `..`")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(plain)
}

pub(super) fn damaged(what: &str, error: &io::Error) -> Failure {
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it is cut off".to_owned(),
        _ => error.to_string(),
    };
    let hint = match error.kind() {
        io::ErrorKind::FileTooLarge => {
            "the root is in guest memory: remove files that the program does not need"
        }
        _ => {
            "a root is a directory, a tar file (plain, or compressed by gzip, xz or zstd) or an \
             OCI image layout"
        }
    };
    Failure::environment(format!("cannot read {what}: {reason}"), hint)
}
