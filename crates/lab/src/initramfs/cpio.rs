// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes a cpio archive in the `newc` format, the kernel's initial root (its
//! `Documentation/driver-api/early-userspace/buffer-format.rst`). Owner, times and inode numbers
//! are fixed, so that equal files give equal bytes.

use super::Error;
use std::io::{self, Write};
use std::path::Path;

const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

pub(super) struct Archive<'a, W> {
    out: W,
    name: &'a Path,
    written: u64,
    inode: u32,
}

impl<'a, W: Write> Archive<'a, W> {
    pub fn new(out: W, name: &'a Path) -> Archive<'a, W> {
        Archive {
            out,
            name,
            written: 0,
            inode: 0,
        }
    }

    pub fn directory(&mut self, path: &str) -> Result<(), Error> {
        self.entry(path, [DIRECTORY | 0o755, 2, 0, 0, 0])
    }

    pub fn device(&mut self, path: &str, mode: u32, major: u32, minor: u32) -> Result<(), Error> {
        self.entry(path, [CHARACTER_DEVICE | mode, 1, 0, major, minor])
    }

    pub fn file(&mut self, path: &str, mode: u32, data: &[u8]) -> Result<(), Error> {
        self.stream(path, mode, data.len() as u64, |out| out.write_all(data))
    }

    /// A file of `length` bytes, less than 4 GiB.
    pub fn stream(
        &mut self,
        path: &str,
        mode: u32,
        length: u64,
        write: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> Result<(), Error> {
        let size = u32::try_from(length).map_err(|_| too_long(path))?;
        self.entry(path, [FILE | mode, 1, size, 0, 0])?;
        write(&mut self.out).map_err(Error::io("write", self.name))?;
        self.written += length;
        self.align(4)
    }

    pub fn finish(mut self) -> Result<W, Error> {
        self.header("TRAILER!!!", 0, [0, 1, 0, 0, 0])?;
        self.align(512)?;
        Ok(self.out)
    }

    fn entry(&mut self, path: &str, fields: [u32; 5]) -> Result<(), Error> {
        self.inode += 1;
        self.header(path, self.inode, fields)
    }

    fn header(&mut self, path: &str, inode: u32, fields: [u32; 5]) -> Result<(), Error> {
        let [mode, links, size, major, minor] = fields;
        let name_size = path.len() as u32 + 1;
        let fields = [
            inode, mode, 0, 0, links, 0, size, 0, 0, major, minor, name_size, 0,
        ];
        let mut header = "070701".to_owned();
        for field in fields {
            header += &format!("{field:08X}");
        }
        header += path;
        header.push('\0');
        self.write(header.as_bytes())?;
        self.align(4)
    }

    fn align(&mut self, to: u64) -> Result<(), Error> {
        const ZEROS: [u8; 512] = [0; 512];
        let short = self.written.next_multiple_of(to) - self.written;
        self.write(&ZEROS[..short as usize])
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.written += bytes.len() as u64;
        self.out
            .write_all(bytes)
            .map_err(Error::io("write", self.name))
    }
}

pub(super) fn too_long(what: &str) -> Error {
    Error::Unsupported {
        what: "initramfs".into(),
        reason: format!("{what} is too long"),
        hint: None,
    }
}
