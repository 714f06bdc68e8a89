// SPDX-License-Identifier: GPL-2.0-or-later
//! A root in memory: names, owners, modes, and digests of contents.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use model::{Failure, printable};
use sha2::{Digest as _, Sha256};

use super::MADE_S;
use crate::error::LabError;

/// Limits on files and bytes, because the root is in a guest's memory.
pub(super) const FILES_LIMIT: u64 = 1_000_000;
pub(super) const BYTES_LIMIT: u64 = 8 << 30;
pub(super) const DEPTH_LIMIT: usize = 256;
/// The maximum number of symbolic links on the way to a file, as in Linux.
const LINKS_LIMIT: usize = 40;
/// The maximum length of a name, and of a link's target, in bytes, as in Linux.
pub(super) const NAME_LIMIT: usize = 255;
pub(super) const TARGET_LIMIT: usize = 4095;
const DIGEST_DIGITS: usize = 16;

pub(super) type Id = usize;
pub(super) const TOP: Id = 0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attributes {
    /// Permissions with the set-user-ID, set-group-ID and sticky bits.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub mtime_s: i64,
    pub capability: Option<Vec<u8>>,
}

impl Default for Attributes {
    fn default() -> Attributes {
        Attributes {
            mode: 0o755,
            uid: 0,
            gid: 0,
            mtime_s: MADE_S,
            capability: None,
        }
    }
}

/// Types of special files in `st_mode`.
pub(super) const CHARACTER: u32 = 0o020_000;
pub(super) const BLOCK: u32 = 0o060_000;
pub(super) const FIFO: u32 = 0o010_000;

#[derive(Debug)]
pub(super) enum What {
    Directory(BTreeMap<OsString, Entry>),
    File {
        bytes: u64,
        sum: [u8; 32],
    },
    Symlink(OsString),
    /// Its type, and the major and minor number of a device.
    Special(u32, (u32, u32)),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub node: Id,
    pub layer: usize,
}

#[derive(Debug)]
pub(super) struct Node {
    pub attributes: Attributes,
    pub what: What,
    pub links: u32,
}

impl Node {
    pub fn mode(&self) -> u32 {
        let kind = match &self.what {
            What::Directory(_) => 0o040_000,
            What::File { .. } => 0o100_000,
            What::Symlink(_) => 0o120_000,
            What::Special(kind, _) => *kind,
        };
        kind | self.attributes.mode
    }
}

#[derive(Debug)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    pub files: u64,
    pub bytes: u64,
}

impl Tree {
    pub fn new() -> Tree {
        let top = Node {
            attributes: Attributes::default(),
            what: What::Directory(BTreeMap::new()),
            links: 1,
        };
        Tree {
            nodes: vec![top],
            files: 0,
            bytes: 0,
        }
    }

    pub fn admit(&mut self, path: &Path, files: u64, bytes: u64) -> Result<(), LabError> {
        self.files += files;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.files > FILES_LIMIT {
            let limit = format!("gives the root more than {FILES_LIMIT} files");
            return Err(too_much(path, &limit));
        }
        if self.bytes > BYTES_LIMIT {
            let limit = format!("makes the root larger than {} GiB", BYTES_LIMIT >> 30);
            return Err(too_much(path, &limit));
        }
        Ok(())
    }

    pub fn entry(&self, directory: Id, name: &OsStr) -> Option<Entry> {
        self.entries(directory)?.get(name).copied()
    }

    pub fn entries(&self, directory: Id) -> Option<&BTreeMap<OsString, Entry>> {
        match &self.nodes[directory].what {
            What::Directory(entries) => Some(entries),
            _ => None,
        }
    }

    fn entries_mut(&mut self, directory: Id) -> Option<&mut BTreeMap<OsString, Entry>> {
        match &mut self.nodes[directory].what {
            What::Directory(entries) => Some(entries),
            _ => None,
        }
    }

    pub fn node(&mut self, attributes: Attributes, what: What) -> Id {
        self.nodes.push(Node {
            attributes,
            what,
            links: 0,
        });
        self.nodes.len() - 1
    }

    pub fn name(&mut self, directory: Id, name: &OsStr, node: Id, layer: usize) {
        if let Some(entries) = self.entries_mut(directory) {
            entries.insert(name.to_owned(), Entry { node, layer });
            self.nodes[node].links += 1;
        }
    }

    pub fn touch(&mut self, directory: Id, name: &OsStr, layer: usize) {
        let entries = self.entries_mut(directory);
        if let Some(entry) = entries.and_then(|entries| entries.get_mut(name)) {
            entry.layer = layer;
        }
    }

    /// Removes a name and everything below it; appends nodes without a remaining name to `gone`.
    pub fn remove(&mut self, directory: Id, name: &OsStr, gone: &mut Vec<Id>) {
        let entries = self.entries_mut(directory);
        let Some(entry) = entries.and_then(|entries| entries.remove(name)) else {
            return;
        };
        self.files -= 1;
        let node = &mut self.nodes[entry.node];
        node.links -= 1;
        match &mut node.what {
            What::File { bytes, .. } if node.links == 0 => {
                self.bytes -= *bytes;
                gone.push(entry.node);
            }
            What::Directory(_) => {
                let names: Vec<OsString> = self.names(entry.node);
                for name in names {
                    self.remove(entry.node, &name, gone);
                }
            }
            _ => {}
        }
    }

    fn names(&self, directory: Id) -> Vec<OsString> {
        let entries = self.entries(directory);
        entries.map_or(Vec::new(), |entries| entries.keys().cloned().collect())
    }

    /// Removes a name of earlier layers; entries of `layer` below it stay.
    pub fn hide(&mut self, directory: Id, name: &OsStr, layer: usize, gone: &mut Vec<Id>) {
        let Some(entry) = self.entry(directory, name) else {
            return;
        };
        self.hide_below(entry.node, layer, gone);
        let holds_more = self
            .entries(entry.node)
            .is_some_and(|entries| !entries.is_empty());
        if entry.layer < layer && !holds_more {
            self.remove(directory, name, gone);
        }
    }

    pub fn hide_below(&mut self, directory: Id, layer: usize, gone: &mut Vec<Id>) {
        for name in self.names(directory) {
            self.hide(directory, &name, layer, gone);
        }
    }

    /// Resolves `path`, with links but never out of the root. Missing directories are created in
    /// `layer`. Also returns the depth.
    pub fn directory(&mut self, path: &Path, layer: usize) -> Result<(Id, usize), LabError> {
        let mut stack = vec![TOP];
        let mut rest: Vec<OsString> = Vec::new();
        add_parts(&mut rest, path);
        let mut links = 0;
        while let Some(part) = rest.pop() {
            let here = stack[stack.len() - 1];
            if part == ".." {
                stack.truncate((stack.len() - 1).max(1));
                continue;
            }
            let Some(entry) = self.entry(here, &part) else {
                self.check_depth(path, stack.len())?;
                self.admit(path, 1, 0)?;
                let what = What::Directory(BTreeMap::new());
                let node = self.node(Attributes::default(), what);
                self.name(here, &part, node, layer);
                stack.push(node);
                continue;
            };
            match &self.nodes[entry.node].what {
                What::Directory(_) => stack.push(entry.node),
                What::Symlink(target) if links < LINKS_LIMIT => {
                    links += 1;
                    let target = Path::new(target);
                    if target.has_root() {
                        stack.truncate(1);
                    }
                    add_parts(&mut rest, target);
                }
                What::Symlink(_) => return Err(unsound(path, "leads through too many links")),
                _ => return Err(unsound(path, "leads through a non-directory")),
            }
        }
        Ok((stack[stack.len() - 1], stack.len() - 1))
    }

    pub fn check_depth(&self, path: &Path, depth: usize) -> Result<(), LabError> {
        if depth > DEPTH_LIMIT {
            let limit = format!("is more than {DEPTH_LIMIT} directories deep");
            return Err(too_much(path, &limit));
        }
        Ok(())
    }

    /// Visits every path, directories before their entries, until `each` fails.
    pub fn walk<E>(&self, each: &mut dyn FnMut(&Path, Id) -> Result<(), E>) -> Result<(), E> {
        self.walk_below(TOP, &mut PathBuf::new(), each)
    }

    fn walk_below<E>(
        &self,
        directory: Id,
        path: &mut PathBuf,
        each: &mut dyn FnMut(&Path, Id) -> Result<(), E>,
    ) -> Result<(), E> {
        for (name, entry) in self.entries(directory).into_iter().flatten() {
            path.push(name);
            each(path, entry.node)?;
            self.walk_below(entry.node, path, each)?;
            path.pop();
        }
        Ok(())
    }

    /// In seconds since 1970.
    pub fn newest_s(&self) -> i64 {
        let times = self.nodes.iter().filter(|node| node.links > 0);
        times
            .map(|node| node.attributes.mtime_s)
            .max()
            .unwrap_or(MADE_S)
    }

    /// Hexadecimal digest of names, owners, modes, contents, devices and hard links; not of times.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut take = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        let mut seen: HashMap<Id, PathBuf> = HashMap::new();
        let Ok(()) = self.walk::<Infallible>(&mut |path, id| {
            let node = &self.nodes[id];
            take(path.as_os_str().as_bytes());
            if let Some(first) = seen.get(&id) {
                take(b"link");
                take(first.as_os_str().as_bytes());
                return Ok(());
            }
            if node.links > 1 {
                seen.insert(id, path.to_owned());
            }
            let Attributes { uid, gid, .. } = node.attributes;
            for number in [node.mode(), uid, gid] {
                take(&number.to_le_bytes());
            }
            take(node.attributes.capability.as_deref().unwrap_or_default());
            match &node.what {
                What::File { bytes, sum } => {
                    take(&bytes.to_le_bytes());
                    take(sum);
                }
                What::Symlink(target) => take(target.as_bytes()),
                What::Special(CHARACTER | BLOCK, (major, minor)) => {
                    take(&major.to_le_bytes());
                    take(&minor.to_le_bytes());
                }
                What::Directory(_) | What::Special(..) => {}
            }
            Ok(())
        });
        kernels::files::hex(&hash.finalize()[..DIGEST_DIGITS / 2])
    }
}

fn add_parts(stack: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().rev().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(name.to_owned()),
        std::path::Component::ParentDir => Some("..".into()),
        _ => None,
    });
    stack.extend(parts);
}

pub(super) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy(), 200)
}

pub(super) fn too_much(path: &Path, what: &str) -> LabError {
    Failure::environment(
        format!("{} {what}", shown(path)),
        "the root is in guest memory: remove files that the program does not need",
    )
    .into()
}

pub(super) fn unsound(path: &Path, what: &str) -> LabError {
    Failure::environment(
        format!("{} {what}", shown(path)),
        "check that the archive is complete and unmodified",
    )
    .into()
}
