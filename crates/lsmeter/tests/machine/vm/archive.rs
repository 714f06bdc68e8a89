// SPDX-License-Identifier: GPL-2.0-or-later
//! cpio archives in the `newc` format, as initramfs of a guest.

use std::collections::{BTreeMap, BTreeSet};

const END: &str = "TRAILER!!!";

/// An archive of files, by path without a leading `/`, with mode and content. Adds their parent
/// directories and `directories`.
pub fn write(files: &BTreeMap<String, (u32, Vec<u8>)>, directories: &[&str]) -> Vec<u8> {
    let mut all: BTreeSet<&str> = BTreeSet::new();
    let paths = files.keys().map(String::as_str);
    for path in paths {
        all.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    for path in directories {
        all.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
        all.insert(path);
    }
    let mut out = Vec::new();
    for directory in all {
        entry(&mut out, directory, 0o040_755, (0, 0), &[]);
    }
    // The kernel opens it before mounting.
    entry(&mut out, "dev/console", 0o020_600, (5, 1), &[]);
    for (path, (mode, content)) in files {
        entry(&mut out, path, 0o100_000 | mode, (0, 0), content);
    }
    entry(&mut out, END, 0, (0, 0), &[]);
    out
}

fn entry(out: &mut Vec<u8>, path: &str, mode: u32, device: (u32, u32), content: &[u8]) {
    let size = u32::try_from(content.len()).expect("a file of less than 4 GiB");
    let name = u32::try_from(path.len() + 1).expect("a path");
    // One link each: files with equal inode numbers are not hard links.
    let fields = [0, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name, 0];
    out.extend(b"070701");
    for field in fields {
        out.extend(format!("{field:08X}").into_bytes());
    }
    out.extend(path.as_bytes());
    out.push(0);
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(content);
    out.resize(out.len().next_multiple_of(4), 0);
}
