// SPDX-License-Identifier: GPL-2.0-or-later
//! Writing a cpio archive in the `newc` format, which the kernel unpacks as its
//! first root (the kernel's `Documentation/driver-api/early-userspace/buffer-format.rst`).
//!
//! Owner, times and inode numbers are fixed: the same files are the same bytes.

use super::Error;

const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

/// An archive being written.
pub(super) struct Archive {
    out: Vec<u8>,
    inode: u32,
}

impl Archive {
    pub fn new() -> Archive {
        Archive {
            out: Vec::new(),
            inode: 0,
        }
    }

    pub fn directory(&mut self, path: &str) {
        self.inode += 1;
        self.header(path, self.inode, DIRECTORY | 0o755, 2, 0, (0, 0));
    }

    pub fn device(&mut self, path: &str, mode: u32, major: u32, minor: u32) {
        self.inode += 1;
        let mode = CHARACTER_DEVICE | mode;
        self.header(path, self.inode, mode, 1, 0, (major, minor));
    }

    /// A file of less than 4 GiB.
    pub fn file(&mut self, path: &str, mode: u32, data: &[u8]) -> Result<(), Error> {
        let size = u32::try_from(data.len()).map_err(|_| too_long(path))?;
        self.inode += 1;
        self.header(path, self.inode, FILE | mode, 1, size, (0, 0));
        self.out.extend_from_slice(data);
        self.align(4);
        Ok(())
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.header("TRAILER!!!", 0, 0, 1, 0, (0, 0));
        self.align(512);
        self.out
    }

    fn header(
        &mut self,
        path: &str,
        inode: u32,
        mode: u32,
        links: u32,
        size: u32,
        device: (u32, u32),
    ) {
        let name_size = path.len() as u32 + 1;
        let fields = [
            inode, mode, 0, 0, links, 0, size, 0, 0, device.0, device.1, name_size, 0,
        ];
        self.out.extend_from_slice(b"070701");
        for field in fields {
            self.out
                .extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.out.extend_from_slice(path.as_bytes());
        self.out.push(0);
        self.align(4);
    }

    fn align(&mut self, to: usize) {
        self.out.resize(self.out.len().next_multiple_of(to), 0);
    }
}

/// The error for a part that an archive, or the VM's memory, cannot take.
pub(super) fn too_long(what: &str) -> Error {
    Error::Unsupported {
        what: "initramfs".into(),
        reason: format!("{what} is too long"),
        hint: None,
    }
}

/// An entry of an archive: path, mode, device numbers, data.
#[cfg(test)]
pub(super) type Entry = (String, u32, (u32, u32), Vec<u8>);

/// The entries of an archive.
#[cfg(test)]
pub(super) fn entries(mut data: &[u8]) -> Vec<Entry> {
    let mut out = Vec::new();
    loop {
        assert_eq!(&data[..6], b"070701");
        let field = |i: usize| {
            let text = std::str::from_utf8(&data[6 + i * 8..14 + i * 8]).unwrap();
            u32::from_str_radix(text, 16).unwrap()
        };
        let name_size = field(11) as usize;
        let size = field(6) as usize;
        let name = std::str::from_utf8(&data[110..110 + name_size - 1])
            .unwrap()
            .to_string();
        let start = (110 + name_size).next_multiple_of(4);
        if name == "TRAILER!!!" {
            return out;
        }
        let content = data[start..start + size].to_vec();
        out.push((name, field(1), (field(9), field(10)), content));
        data = &data[(start + size).next_multiple_of(4)..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            files in proptest::collection::vec(
                ("[a-z/]{1,20}", proptest::collection::vec(any::<u8>(), 0..50)), 0..6,
            ),
        ) {
            let mut archive = Archive::new();
            for (name, data) in &files {
                archive.file(name, 0o644, data).unwrap();
            }
            let out = archive.finish();
            prop_assert_eq!(out.len() % 512, 0);
            let read = entries(&out);
            prop_assert_eq!(read.len(), files.len());
            for ((name, mode, _, data), (expected_name, expected)) in read.iter().zip(&files) {
                prop_assert_eq!(name, expected_name);
                prop_assert_eq!(*mode, 0o100_644);
                prop_assert_eq!(data, expected);
            }
        }
    }
}
