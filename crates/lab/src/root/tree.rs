// SPDX-License-Identifier: GPL-2.0-or-later
//! What a root holds: names, owners, modes, and what is in files as their digests. Nothing
//! here is on a disk.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use model::{Failure, printable};
use sha2::{Digest as _, Sha256};

use super::MADE_S;
use crate::error::LabError;

/// Most files of a root, and bytes in them: it lies in a guest's memory.
pub(super) const FILES_LIMIT: u64 = 1_000_000;
pub(super) const BYTES_LIMIT: u64 = 8 << 30;
pub(super) const DEPTH_LIMIT: usize = 256;
/// Most symbolic links on the way to a file, as Linux has it.
const LINKS_LIMIT: usize = 40;
/// Longest name, and longest target of a link, in bytes, as Linux has them.
pub(super) const NAME_LIMIT: usize = 255;
pub(super) const TARGET_LIMIT: usize = 4095;
const DIGEST_DIGITS: usize = 16;

pub(super) type Id = usize;
pub(super) const TOP: Id = 0;

/// What is told of a file besides what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attributes {
    /// Permissions, with the bits for set-user-ID, set-group-ID and sticky.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// In seconds since 1970.
    pub mtime_s: i64,
    /// The extended attribute `security.capability`.
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

/// What is no file, directory or link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    Character(u32, u32),
    Block(u32, u32),
    Fifo,
    Socket,
}

#[derive(Debug)]
pub(super) enum What {
    Directory(BTreeMap<OsString, Entry>),
    File { bytes: u64, sum: [u8; 32] },
    Symlink(OsString),
    Special(Special),
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
    /// Its type and permissions, as stat(2) has them.
    pub fn mode(&self) -> u32 {
        let kind = match &self.what {
            What::Directory(_) => 0o040_000,
            What::File { .. } => 0o100_000,
            What::Symlink(_) => 0o120_000,
            What::Special(Special::Character(..)) => 0o020_000,
            What::Special(Special::Block(..)) => 0o060_000,
            What::Special(Special::Fifo) => 0o010_000,
            What::Special(Special::Socket) => 0o140_000,
        };
        kind | self.attributes.mode
    }
}

#[derive(Debug)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    pub files: u64,
    /// Bytes of all files.
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

    /// Counts more files or bytes, and refuses what is more than a guest can hold.
    pub fn admit(&mut self, path: &Path, files: u64, bytes: u64) -> Result<(), LabError> {
        self.files += files;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.files > FILES_LIMIT {
            let limit = format!("brings the root to more than {FILES_LIMIT} files");
            return Err(too_much(path, &limit));
        }
        if self.bytes > BYTES_LIMIT {
            let limit = format!("makes the root larger than {} GiB", BYTES_LIMIT >> 30);
            return Err(too_much(path, &limit));
        }
        Ok(())
    }

    /// What is in a directory; nothing is in anything else.
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

    /// A new node, which has no name yet.
    pub fn node(&mut self, attributes: Attributes, what: What) -> Id {
        self.nodes.push(Node {
            attributes,
            what,
            links: 0,
        });
        self.nodes.len() - 1
    }

    /// Gives a node a name that is not there yet.
    pub fn name(&mut self, directory: Id, name: &OsStr, node: Id, layer: usize) {
        if let Some(entries) = self.entries_mut(directory) {
            entries.insert(name.to_owned(), Entry { node, layer });
            self.nodes[node].links += 1;
        }
    }

    /// A name is of this layer, too.
    pub fn touch(&mut self, directory: Id, name: &OsStr, layer: usize) {
        if let Some(entry) = self
            .entries_mut(directory)
            .and_then(|entries| entries.get_mut(name))
        {
            entry.layer = layer;
        }
    }

    /// Takes away a name and all that is below it; the files that have none any more are
    /// added to `gone`.
    pub fn remove(&mut self, directory: Id, name: &OsStr, gone: &mut Vec<Id>) {
        let Some(entry) = self
            .entries_mut(directory)
            .and_then(|entries| entries.remove(name))
        else {
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

    /// Takes away a name of earlier layers; what `layer` has put below it stays.
    pub fn hide(&mut self, directory: Id, name: &OsStr, layer: usize, gone: &mut Vec<Id>) {
        let Some(entry) = self.entry(directory, name) else {
            return;
        };
        self.hide_below(entry.node, layer, gone);
        let holds_more = self.entries(entry.node).is_some_and(|of| !of.is_empty());
        if entry.layer < layer && !holds_more {
            self.remove(directory, name, gone);
        }
    }

    /// Takes away what earlier layers have put into a directory.
    pub fn hide_below(&mut self, directory: Id, layer: usize, gone: &mut Vec<Id>) {
        for name in self.names(directory) {
            self.hide(directory, &name, layer, gone);
        }
    }

    /// The directory that `path` leads to, links followed but never out of the root. What lacks
    /// on the way is made, as a part of `layer`. Also how deep it lies.
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
                _ => return Err(unsound(path, "leads through what is no directory")),
            }
        }
        Ok((stack[stack.len() - 1], stack.len() - 1))
    }

    /// Refuses a name below `depth` directories if that is too deep.
    pub fn check_depth(&self, path: &Path, depth: usize) -> Result<(), LabError> {
        if depth > DEPTH_LIMIT {
            let limit = format!("is more than {DEPTH_LIMIT} directories deep");
            return Err(too_much(path, &limit));
        }
        Ok(())
    }

    /// Every name with its path, directories before what is in them, until `each` fails.
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

    /// The newest change, in seconds since 1970.
    pub fn newest_s(&self) -> i64 {
        let times = self.nodes.iter().filter(|node| node.links > 0);
        times
            .map(|node| node.attributes.mtime_s)
            .max()
            .unwrap_or(MADE_S)
    }

    /// Names, owners, modes, contents, devices and which names are of the same file, as
    /// hexadecimal digits. Times are not in it.
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
                What::Directory(_) => {}
                What::File { bytes, sum } => {
                    take(&bytes.to_le_bytes());
                    take(sum);
                }
                What::Symlink(target) => take(target.as_bytes()),
                What::Special(Special::Character(major, minor) | Special::Block(major, minor)) => {
                    take(&major.to_le_bytes());
                    take(&minor.to_le_bytes());
                }
                What::Special(Special::Fifo | Special::Socket) => {}
            }
            Ok(())
        });
        kernels::files::hex(&hash.finalize()[..DIGEST_DIGITS / 2])
    }
}

/// Puts the parts of a path on a stack, the first at the top.
fn add_parts(stack: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().rev().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(name.to_owned()),
        std::path::Component::ParentDir => Some("..".into()),
        _ => None,
    });
    stack.extend(parts);
}

/// How a path in a root is shown.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy(), 200)
}

/// A root that is more than a guest can hold.
pub(super) fn too_much(path: &Path, what: &str) -> LabError {
    Failure::environment(
        format!("{} {what}", shown(path)),
        "a root lies in the guest's memory: leave out what the program does not need",
    )
    .into()
}

/// An archive that is not as it should be.
pub(super) fn unsound(path: &Path, what: &str) -> LabError {
    Failure::environment(
        format!("{} {what}", shown(path)),
        "see that the archive is whole and has not been tampered with",
    )
    .into()
}
