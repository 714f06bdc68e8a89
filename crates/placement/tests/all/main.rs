// SPDX-License-Identifier: GPL-2.0-or-later
//! A single test program, so that only one has to be linked.

mod apart;
mod architectures;
mod hostile;
mod layers;
mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use placement::Request;

type Files = BTreeMap<String, Vec<u8>>;

/// The small tree, whose counts can be checked by hand.
fn toy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tree")
}

/// A request for system calls on the small tree's file system, or for all that the tree defines if
/// no names are given.
fn request(syscalls: &[&str]) -> Request {
    Request {
        syscalls: syscalls.iter().map(|&name| name.to_owned()).collect(),
        all: syscalls.is_empty(),
        fs: vec!["toyfs".to_owned()],
        ..Request::default()
    }
}

/// The files below a directory.
fn files(directory: &Path) -> Files {
    let mut files = Files::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            let below = self::files(&path).into_iter();
            files.extend(below.map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            files.insert(name.to_owned(), std::fs::read(&path).unwrap());
        }
    }
    files
}

/// A copy of the small tree.
fn copied(to: &Path) {
    for (path, bytes) in files(&toy()) {
        let path = to.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}
